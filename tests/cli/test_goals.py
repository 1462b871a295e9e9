"""Goals in order on the command line, and what a problem is warned of where there is no plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import berth

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "two-source-join.yaml")


def solved(*options: str) -> dict[str, object]:
    done = berth("solve", EXAMPLE, "--json", *options)
    assert done.returncode == 0, done.stderr
    told: dict[str, object] = json.loads(done.stdout)
    return told


def test_an_order_with_a_tolerance() -> None:
    """The second goal has what the first one leaves; `5%` and `0.05` are the same."""
    fastest = solved("--objective", "response_time", "--then", "cost_per_hour")
    wide = solved("--objective", "response_time", "--then", "cost_per_hour", "--within", "20%")
    again = solved("--objective", "response_time", "--then", "cost_per_hour", "--within", "0.2")
    assert wide["goal"] == [{"response_time": 1.0}, {"cost_per_hour": 1.0}]
    assert [plan["status"] for plan in (fastest, wide)] == ["optimal", "optimal"]
    first, second = (plan["metrics"] for plan in (fastest, wide))
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert second["cost_per_hour"] < first["cost_per_hour"]
    assert first["response_time_ms"] < second["response_time_ms"] <= 1.2 * first["response_time_ms"]
    assert again["assignment"] == wide["assignment"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--within", "5%"), "--within: near enough for what? Nothing comes after the goal; add --then NAME"),
        (("--then", "traffic", "--within", "5"), "--within 5: 5% or 500%? Write the one that is meant"),
        (("--then", "traffic", "--within", "-1"), "--within -1: expected a share of at least 0"),
        (("--then", "traffic", *["--within", "1%"] * 3), "--within: 3 of them, but 2 goals"),
        (("--then", "trafic"), "--then: no metric named 'trafic'; did you mean 'traffic'?"),
        (
            ("--objective", "traffic=2", "--objective", "traffic=3"),
            "--objective traffic=3: traffic has a weight already; give it once",
        ),
    ],
)
def test_mistakes(options: tuple[str, ...], line: str) -> None:
    done = berth("solve", EXAMPLE, *options)
    assert done.returncode == 2
    assert line in done.stderr


def test_a_label_that_no_node_has_is_told_without_a_plan(tmp_path: Path) -> None:
    """It may be all that is in the way."""
    file = tmp_path / "problem.yaml"
    file.write_text(
        "format: berth/v1\nname: p\nnetwork: {nodes: [{name: n, labels: {zone: eu}}]}\napplications:\n"
        "  - {name: a, operators: [{name: o}], rules: [{where: {zone: ue}, operators: [o]}]}\n"
    )
    done = berth("solve", str(file))
    assert done.returncode == 3
    assert "application a: rule for o: no node has the label zone: ue" in done.stdout
    assert "no node has the label" in json.loads(berth("solve", str(file), "--json").stdout)["warnings"][0]
