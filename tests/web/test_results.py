"""Tables, experiments and examples."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from berth.web.problems import example_files
from tests.web.conftest import API

ROOT = Path(__file__).parents[2]


@pytest.fixture
def table(workspace: Path) -> Path:
    folder = workspace / "measured" / "links"
    folder.mkdir(parents=True)
    rows = [
        {
            "from": "a",
            "n": n,
            "delay": float("nan") if n == 2 else n / 2,
            "at": datetime(2026, 1, 1, tzinfo=UTC),
        }
        for n in range(6)
    ]
    pq.write_table(pa.Table.from_pylist(rows[:4]), folder / "part-0.parquet")
    pq.write_table(pa.Table.from_pylist(rows[4:]), folder / "part-1.parquet")
    (folder / "_SUCCESS").touch()
    return folder


def test_tables(client: TestClient, table: Path, workspace: Path) -> None:
    """A folder of files is one table; rows by pages; what is no number is null."""
    (workspace / "torn.parquet").write_text("nonsense")
    (listed,) = client.get(f"{API}/tables").json()
    assert (listed["id"], listed["rows"]) == ("measured~links", 6)
    assert listed["columns"][1] == {"name": "n", "type": "int64"}
    page = client.get(f"{API}/tables/measured~links", params={"offset": 2, "limit": 3}).json()
    assert [row["n"] for row in page["rows"]] == [2, 3, 4]
    assert page["rows"][0]["delay"] is None
    assert page["rows"][0]["at"].startswith("2026-01-01T00:00:00")
    assert (page["total"], page["next"]) == (6, 5)
    assert client.get(f"{API}/tables/measured~links", params={"offset": 99}).json()["next"] is None
    assert client.get(f"{API}/tables/measured").status_code == 404
    assert client.get(f"{API}/tables/torn.parquet").status_code == 422


@pytest.fixture
def reproduction(workspace: Path) -> Path:
    folder = workspace / "reproduction"
    (folder / "X3.1").mkdir(parents=True)
    (folder / "claims").mkdir()
    (folder / "report.html").write_text("<script>alert(1)</script><h1>Report</h1>")
    (folder / "league.json").write_text('[{"policy": "odp", "rank": 1}]')
    (folder / "X3.1" / "figure.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "X3.1" / "script.js").write_text("alert(1)")
    pq.write_table(pa.table({"claim": ["x"]}), folder / "claims" / "part.parquet")
    return folder


def test_experiments(client: TestClient, reproduction: Path, workspace: Path) -> None:
    """The report can do nothing, whatever is in it."""
    (workspace / "app.run").mkdir()
    (workspace / "app.run" / "history.jsonl").touch()
    (workspace / "app.run" / "report.html").touch()
    (listed,) = client.get(f"{API}/experiments").json()
    assert (listed["id"], listed["files"]) == (
        "reproduction",
        ["league.json", "report.html", "X3.1/figure.svg"],
    )
    whole = client.get(f"{API}/experiments/reproduction").json()
    assert whole["data"] == {"league.json": [{"policy": "odp", "rank": 1}]}
    assert whole["tables"] == [{"id": "reproduction~claims", "path": "reproduction/claims", "rows": 1}]
    report = client.get(f"{API}/experiments/reproduction/report")
    assert report.headers["content-type"].startswith("text/html")
    policy = report.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    figure = client.get(f"{API}/experiments/reproduction/files/X3.1/figure.svg")
    assert figure.headers["content-type"].startswith("image/svg+xml")
    for name in (
        "X3.1/script.js",
        "claims/part.parquet",
        "../small.yaml",
        "%2e%2e/small.yaml",
        "nothing.png",
    ):
        assert client.get(f"{API}/experiments/reproduction/files/{name}").status_code == 404
    assert client.get(f"{API}/experiments/app.run").status_code == 404


def test_the_league_table(client: TestClient, reproduction: Path) -> None:
    """As the experiment's own standings say; folders without a league, or with other columns, have none."""
    assert client.get(f"{API}/experiments/reproduction").json()["league"] is None
    results = reproduction / "league" / "results"
    results.mkdir(parents=True)
    rows = [("odp", 10.0, "plan", False), ("random", 20.0, "plan", False), ("mopa", None, "no plan", True)]
    table = {
        "group": ["small"] * 3,
        "problem": ["p"] * 3,
        "seed": [0] * 3,
        "policy": [row[0] for row in rows],
        "value": [row[1] for row in rows],
        "bound": [10.0, None, None],
        "maximise": [False] * 3,
        "outcome": [row[2] for row in rows],
        "own_goal": [row[3] for row in rows],
        "seconds": [0.5] * 3,
    }
    pq.write_table(pa.table(table), results / "part.parquet")
    (group,) = client.get(f"{API}/experiments/reproduction").json()["league"]
    assert (group["group"], group["problems"]) == ("small", 1)
    assert [(item["policy"], item["objective_over_best"], item["plans"]) for item in group["standings"]] == [
        ("odp", 1.0, 1),
        ("random", 2.0, 1),
        ("mopa", None, 0),
    ]
    pq.write_table(pa.table({"x": [1]}), results / "part.parquet")
    assert client.get(f"{API}/experiments/reproduction").json()["league"] is None


def test_every_example_is_one_click_away(client: TestClient, workspace: Path) -> None:
    """Those of the repository, as they are; a second time there is nothing to do."""
    listed = client.get(f"{API}/examples").json()
    files = {file.stem: file for file in (ROOT / "examples").glob("*.yaml")}
    assert {each["name"] for each in listed} == set(files)
    assert all(each["about"] and each["nodes"] and each["operators"] for each in listed)
    for name, file in files.items():
        answer = client.post(f"{API}/examples/{name}")
        assert answer.status_code == 201
        assert answer.json()["ok"]
        assert (workspace / f"{name}.yaml").read_bytes() == file.read_bytes()
    again = client.post(f"{API}/examples/tag-and-count")
    assert again.status_code == 409
    assert again.json()["id"] == "tag-and-count.yaml"
    assert client.post(f"{API}/examples/nothing").status_code == 404


def test_the_package_brings_the_examples() -> None:
    """All of them go into the wheel, from where they are."""
    assert (
        'file(GLOB examples "${CMAKE_CURRENT_SOURCE_DIR}/examples/*.yaml")'
        in (ROOT / "CMakeLists.txt").read_text()
    )
    assert all(file.parent.name == "examples" for file in example_files().values())


def test_a_table_that_can_not_be_read_tells_no_folder(
    client: TestClient, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of the system have the whole path in them."""

    def fail(file: Path) -> None:
        raise PermissionError(13, "Permission denied", str(file))

    (workspace / "closed.parquet").write_bytes(b"")
    monkeypatch.setattr("berth.web.results.pq.ParquetFile", fail)
    answer = client.get(f"{API}/tables/closed.parquet")
    assert answer.status_code == 422
    assert (
        answer.json()["error"]
        == "closed.parquet can't be read: [Errno 13] Permission denied: 'closed.parquet'"
    )
