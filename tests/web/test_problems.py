"""Problems over REST: stored, mended, never overwritten in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from berth.files import load
from berth.model import BadInput
from berth.web.app import create_app
from berth.web.lanes import Lane
from berth.web.readers import SMALL_BYTES
from berth.web.security import Settings
from tests.web.conftest import API, PROBLEM

WRONG = PROBLEM.replace("to: sink", "to: snik")


def test_what_the_command_line_makes_is_listed(client: TestClient, workspace: Path) -> None:
    """Files are known by what is in them, in any folder; others, hidden and huge ones are left out."""
    (workspace / "deep" / "er").mkdir(parents=True)
    (workspace / "deep" / "er" / "p.json").write_text(json.dumps({"name": "j", "format": "berth/v1"}))
    (workspace / "notes.yaml").write_text("a: 1")
    (workspace / ".hidden.yaml").write_text(PROBLEM)
    (workspace / "huge.yaml").write_text(PROBLEM + "#" * (33 * 2**20))
    listed = client.get(f"{API}/problems").json()
    assert [(each["id"], each["ok"]) for each in listed] == [("deep~er~p.json", False), ("small.yaml", True)]
    assert listed[1] | {"etag": "", "modified": ""} == {
        "id": "small.yaml",
        "path": "small.yaml",
        "name": "small",
        "fingerprint": load(workspace / "small.yaml").fingerprint,
        "etag": "",
        "modified": "",
        "bytes": len(PROBLEM),
        "ok": True,
        "mistakes": 0,
        "nodes": 3,
        "applications": 1,
        "operators": 3,
        "instances": 3,
        "objective": {"response_time": 1.0},
    }
    assert listed[0]["name"] == "j"
    assert listed[0]["mistakes"] > 0


def test_stored_as_it_is(client: TestClient, workspace: Path) -> None:
    """The file is the body, byte by byte; commands read it."""
    answer = client.post(f"{API}/problems", params={"name": "new/one.yaml"}, content=PROBLEM)
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{API}/problems/new~one.yaml"
    assert (workspace / "new" / "one.yaml").read_text() == PROBLEM
    assert load(workspace / "new" / "one.yaml").name == "small"
    found = client.get(answer.headers["location"])
    assert found.json() == answer.json()
    assert found.json()["document"]["name"] == "small"
    assert found.headers["etag"] == f'"{found.json()["etag"]}"'
    assert client.get(f"{answer.headers['location']}/file").text == PROBLEM


def test_without_a_name(client: TestClient) -> None:
    """It gets the problem's, and a number where that is taken; JSON stays JSON."""
    first = client.post(f"{API}/problems", content=PROBLEM).json()
    document = client.get(f"{API}/problems/small.yaml").json()["document"]
    second = client.post(f"{API}/problems", json=document).json()
    assert (first["path"], second["path"]) == ("small-2.yaml", "small.json")


def test_names_that_are_taken(client: TestClient, workspace: Path) -> None:
    """Nothing is overwritten."""
    answer = client.post(f"{API}/problems", params={"name": "small.yaml"}, content=PROBLEM + "# new\n")
    assert answer.status_code == 409
    assert answer.json()["id"] == "small.yaml"
    assert (workspace / "small.yaml").read_text() == PROBLEM


def test_the_same_messages_as_the_command(client: TestClient, workspace: Path) -> None:
    """At the field and in the text."""
    (workspace / "wrong.yaml").write_text(WRONG)
    with pytest.raises(BadInput) as told:
        load(workspace / "wrong.yaml")
    answer = client.post(f"{API}/problems", params={"name": "x.yaml"}, content=WRONG)
    assert answer.status_code == 422
    file = workspace / "wrong.yaml"
    assert list(told.value.mistakes) == [
        f"{file}:{each['line']}: {each['path']}: {each['message']}" for each in answer.json()["mistakes"]
    ]
    mistake = answer.json()["mistakes"][0]
    assert mistake["path"] == "applications[0].streams[1].to"
    assert WRONG.splitlines()[mistake["line"] - 1][mistake["column"] - 1 :].startswith("snik")
    assert not (workspace / "x.yaml").exists()
    check = client.post(f"{API}/problems/check", content=WRONG)
    assert check.status_code == 200
    assert check.json() == {"ok": False, "mistakes": answer.json()["mistakes"], "summary": None}
    assert client.post(f"{API}/problems/check", content=PROBLEM).json()["summary"]["nodes"] == 3


def test_drafts(client: TestClient, workspace: Path) -> None:
    """With mistakes, if that is wanted; then it can't be solved, but it is there."""
    answer = client.post(f"{API}/problems", params={"name": "x.yaml", "draft": True}, content=WRONG)
    assert answer.status_code == 201
    assert not answer.json()["ok"]
    assert client.get(f"{API}/problems/x.yaml/view").status_code == 422
    assert client.post(f"{API}/jobs", json={"problem": "x.yaml"}).status_code == 422
    torn = client.post(
        f"{API}/problems", params={"name": "y.yaml", "draft": True}, content=PROBLEM + "\tx: 1\n"
    )
    assert torn.status_code == 201
    assert torn.json()["document"] is None
    assert torn.json()["mistakes"][0]["line"] == len(PROBLEM.splitlines()) + 1


def test_a_draft_that_does_not_say_what_it_is(client: TestClient, settings: Settings) -> None:
    """It is there to be mended, for the next service as well; with its first line it is like any other."""
    text = PROBLEM.removeprefix("format: berth/v1\n")
    answer = client.post(f"{API}/problems", params={"name": "z.yaml", "draft": True}, content=text)
    assert answer.status_code == 201
    assert [(each["path"], each["line"]) for each in answer.json()["mistakes"]] == [("format", 1)]
    etag = {"If-Match": answer.headers["etag"]}
    assert "z.yaml" in [each["id"] for each in client.get(f"{API}/problems").json()]
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as next_one:
        assert next_one.get(f"{API}/problems/z.yaml").json()["text"] == text
        mended = next_one.put(f"{API}/problems/z.yaml", content=PROBLEM, headers=etag)
    assert mended.json()["ok"]
    drafted = client.put(
        f"{API}/problems/z.yaml",
        params={"draft": True},
        content=text,
        headers={"If-Match": mended.headers["etag"]},
    )
    assert client.get(f"{API}/problems/z.yaml").json()["mistakes"] == drafted.json()["mistakes"]
    client.delete(f"{API}/problems/z.yaml", headers={"If-Match": drafted.headers["etag"]})
    assert client.get(f"{API}/problems/z.yaml").status_code == 404


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"PK\0", b'{"format": "berth-plan/v1"}'])
def test_what_is_no_draft(client: TestClient, content: bytes) -> None:
    """What no editor could mend, and what is something else."""
    asked = {"name": "z.yaml", "draft": True}
    assert client.post(f"{API}/problems", params=asked, content=content).status_code == 422


def test_the_name_of_a_draft_may_be_long(client: TestClient) -> None:
    """It has mistakes, and nobody has looked at its name; lists repeat its beginning."""
    draft = json.dumps({"format": "berth/v1", "name": "n" * 100_000})
    stored = client.post(f"{API}/problems", params={"name": "d.json", "draft": True}, content=draft)
    assert stored.json()["document"]["name"] == "n" * 100_000
    named = {each["id"]: each["name"] for each in client.get(f"{API}/problems").json()}
    assert named == {"d.json": "n" * 197 + "...", "small.yaml": "small"}


def test_nothing_to_check(client: TestClient) -> None:
    """A body is needed."""
    assert client.post(f"{API}/problems/check").status_code == 422


BOMB = "format: berth/v1\na: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 10)}]\n" for n in range(7)
)


def test_of_many_mistakes_some_are_told(client: TestClient) -> None:
    """And the others counted, wherever they are found."""
    wrong = PROBLEM.replace("links:", "links:\n" + "    - {from: rme, to: paris, delay_ms: 1}\n" * 1000)
    refused = client.post(f"{API}/problems", content=wrong)
    assert (refused.status_code, refused.json()["error"]) == (422, "1,999 mistakes")
    assert len(refused.json()["mistakes"]) == 21
    assert refused.json()["mistakes"][-1]["message"] == "... and 1,979 more mistakes"
    request = {"problem": "small.yaml", "assignment": {f"{'x' * 500}{n}": "rome" for n in range(1000)}}
    refused = client.post(f"{API}/evaluate", json=request)
    assert (refused.status_code, refused.json()["error"]) == (422, "1,000 mistakes")
    assert len(refused.content) < 15_000


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BOMB, "aliases"),
        ("format: berth/v1\nname: " + "[" * 110 + "]" * 110, "deep"),
        ('{"name": ' + "[[]," + "[]," * 4_000_000, "values"),
        ("[" * 100_000, "deep"),
        ('{"a":' * 100_000, "deep"),
        (b"\xff\xfe\x00", "UTF-8"),
        ("# nothing", "document"),
        ("!!python/object/apply:os.system [id]", "tag"),
        (PROBLEM.replace("name: small", "name: &x [*x]"), "alias"),
    ],
)
def test_bad_will(client: TestClient, content: str | bytes, words: str) -> None:
    """Aliases, depth, tags: a mistake each, at once."""
    answer = client.post(f"{API}/problems/check", content=content)
    assert answer.status_code == 200
    assert words in answer.json()["mistakes"][0]["message"]


@pytest.mark.parametrize(
    ("part", "change_", "words"),
    [
        ("  nodes:", "  routing: shortest_path\n  nodes:", "routed"),
        ("work_ms: 4", "work_ms: 4, parallelism: 60000", "60002 instances are too many"),
        ("cpu: 1}, emits", "cpu: 1}, parallelism: 2000, emits", "pairs of instances are too many"),
    ],
)
def test_too_large_for_a_service(client: TestClient, part: str, change_: str, words: str) -> None:
    """A small text may need much memory: the commands may have it, the service does not try."""
    text = PROBLEM.replace("work_ms: 4", "work_ms: 4, parallelism: 2000") if "2000" in change_ else PROBLEM
    text = text.replace(part, change_, 1)
    if words == "routed":
        words = "3003 are too many here (2500 at most)"
        text = text.replace(
            "  nodes:\n", "  nodes:\n" + "".join(f"    - {{name: n{n}}}\n" for n in range(3000))
        )
    answer = client.post(f"{API}/problems/check", content=text)
    assert words in answer.json()["mistakes"][0]["message"]


def change(client: TestClient, text: str, **headers: str) -> Any:
    return client.put(f"{API}/problems/small.yaml", content=text, headers=headers)


def test_two_people_edit_one_problem(client: TestClient, workspace: Path) -> None:
    """The second is told who was first and when; nothing of the first is lost."""
    etag = client.get(f"{API}/problems/small.yaml").headers["etag"]
    assert change(client, PROBLEM + "# nobody\n").status_code == 428
    first = change(client, PROBLEM + "# ann\n", **{"If-Match": etag, "X-Berth-Author": "Ann%20B%C3%BC"})
    assert first.status_code == 200
    second = change(client, PROBLEM + "# bob\n", **{"If-Match": etag})
    assert second.status_code == 412
    current = second.json()["current"]
    assert (current["by"], current["etag"]) == ("Ann Bü", first.json()["etag"])
    assert current["changed"] == first.json()["modified"]
    assert second.headers["etag"] == first.headers["etag"]
    assert (workspace / "small.yaml").read_text().endswith("# ann\n")
    assert change(client, PROBLEM + "# bob\n", **{"If-Match": second.headers["etag"]}).status_code == 200


def test_changes_from_outside_are_seen(client: TestClient, workspace: Path) -> None:
    """A command or an editor wrote the file meanwhile."""
    etag = client.get(f"{API}/problems/small.yaml").headers["etag"]
    (workspace / "small.yaml").write_text(PROBLEM.replace("name: small", "name: other"))
    answer = change(client, PROBLEM, **{"If-Match": etag})
    assert answer.status_code == 412
    assert answer.json()["current"]["by"] == "another program"
    assert client.get(f"{API}/problems/small.yaml").json()["name"] == "other"
    assert client.get(f"{API}/problems").json()[0]["name"] == "other"


def test_a_change_with_mistakes_is_not_stored(client: TestClient, workspace: Path) -> None:
    """Unless it is a draft."""
    etag = client.get(f"{API}/problems/small.yaml").headers["etag"]
    assert change(client, WRONG, **{"If-Match": etag}).status_code == 422
    assert (workspace / "small.yaml").read_text() == PROBLEM
    drafted = client.put(
        f"{API}/problems/small.yaml", params={"draft": True}, content=WRONG, headers={"If-Match": etag}
    )
    assert drafted.status_code == 200


def test_taken_away(client: TestClient, workspace: Path) -> None:
    """Only what somebody has seen as it is."""
    place = f"{API}/problems/small.yaml"
    assert client.delete(place).status_code == 428
    assert client.delete(place, headers={"If-Match": '"old"'}).status_code == 412
    etag = client.get(place).headers["etag"]
    assert client.delete(place, headers={"If-Match": etag}).status_code == 204
    assert not (workspace / "small.yaml").exists()
    assert client.get(place).status_code == 404


def test_links_lead_nowhere_outside(client: TestClient, workspace: Path, tmp_path: Path) -> None:
    """Neither files nor folders, neither reading nor writing."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.yaml").write_text(PROBLEM)
    (workspace / "link.yaml").symlink_to(tmp_path / "outside" / "secret.yaml")
    (workspace / "folder").symlink_to(tmp_path / "outside")
    (workspace / "inner.yaml").symlink_to(workspace / ".berth" / "x.yaml")
    assert [each["id"] for each in client.get(f"{API}/problems").json()] == ["small.yaml"]
    for identity in ("link.yaml", "folder~secret.yaml", "inner.yaml", "..~outside~secret.yaml"):
        assert client.get(f"{API}/problems/{identity}").status_code == 404
    for name in ("link.yaml", "folder/new.yaml", "inner.yaml"):
        answer = client.post(f"{API}/problems", params={"name": name}, content=PROBLEM)
        assert answer.status_code == 409
    assert [file.name for file in (tmp_path / "outside").iterdir()] == ["secret.yaml"]


def test_a_link_inside_is_a_file(client: TestClient, workspace: Path) -> None:
    """What it leads to is changed, and the link stays; taking it away takes the link."""
    (workspace / "also.yaml").symlink_to("small.yaml")
    etag = client.get(f"{API}/problems/also.yaml").headers["etag"]
    changed = client.put(f"{API}/problems/also.yaml", content=PROBLEM + "#\n", headers={"If-Match": etag})
    assert (workspace / "also.yaml").is_symlink()
    assert (workspace / "small.yaml").read_text() == PROBLEM + "#\n"
    client.delete(f"{API}/problems/also.yaml", headers={"If-Match": changed.headers["etag"]})
    assert (workspace / "small.yaml").exists()


def test_large_files_wait_for_each_other(client: TestClient, workspace: Path) -> None:
    """Where too many ask for them, they are refused, and small ones are not."""
    (workspace / "large.yaml").write_text(PROBLEM + "#" * SMALL_BYTES)
    for path in (f"{API}/problems/large.yaml", f"{API}/problems/large.yaml/file"):
        assert client.get(path).status_code == 200
    client.app.state.service.large_files = Lane("large files", at_once=1, waiting=-1)  # type: ignore[attr-defined]
    for part in ("", "/file"):
        refused = client.get(f"{API}/problems/large.yaml{part}")
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
        assert client.get(f"{API}/problems/small.yaml{part}").status_code == 200
