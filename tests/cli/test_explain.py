"""`berth explain`, as a user meets it: the page about it is true, and nonsense is told by name."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

from berth.policies.registry import DEFAULT
from tests.cli.in_process import run_berth

PAGE = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


berth = partial(run_berth, width=100)


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the problem of the page, its plan, and one that breaks a constraint."""
    monkeypatch.chdir(tmp_path)
    (problem,) = blocks("yaml")
    (tmp_path / "watch.yaml").write_text(problem)
    assert berth("solve", "watch.yaml", "--policy", "odp", "--out", "plan.json")[0] == 0
    plan = json.loads((tmp_path / "plan.json").read_text())
    broken = {"format": plan["format"], "assignment": {**plan["assignment"], "watch/tag": "near"}}
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    return tmp_path


def lines(text: str) -> list[str]:
    return [re.sub(r"in \d+\.\d\d s", "in T s", line.rstrip()) for line in text.splitlines()]


def test_the_page(watch: Path) -> None:
    """Its commands print what is written below them."""
    seen = []
    for session in blocks("console"):
        for part in session.split("$ berth ")[1:]:
            shown = lines(part)
            command, _, most = shown[0].partition(" | head -")
            code, printed, complained = berth(*command.split())
            seen.append(code)
            both = [*lines(printed), *([] if most else lines(complained))]
            assert both[: int(most) if most else None] == shown[1:]
    assert seen == [0, 0, 5]
    assert (watch / "why.png").read_bytes()[:4] == b"\x89PNG"


def test_json(watch: Path) -> None:
    """Nothing else is on standard output; every key of it is on the page."""
    code, printed, _ = berth("explain", "watch.yaml", "plan.json", "--json")
    assert code == 0
    found = json.loads(printed)
    documented = set(re.findall(r"`(\w+)", PAGE.partition("## JSON")[2]))
    parts = [found, *found["operators"], *found["limits"], found["critical_path"], *found["growth"]]
    parts += [*found["operators"][1]["forbidden"], found["what_if"], *found["what_if"]["changes"]]
    parts += [found["growth"][0]["shared"], *found["critical_path"]["steps"]]
    assert {key for part in parts for key in part} - documented == set()
    code, printed, _ = berth("explain", "watch.yaml", "broken.json", "--json", "--what-if", "none")
    assert code == 5
    assert json.loads(printed)["mending"]["left"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--operator", "tga"], "--operator: no operator named 'tga'; did you mean 'tag'?"),
        (["--what-if", "some"], "--what-if some: expected none, quick or full"),
        (["--time-limit", "0"], "--time-limit: 0.0 is not above 0"),
        (["--time-limit", "nan"], "--time-limit: nan is not above 0"),
        (["--out", "why.gif"], "--out why.gif: expected a name that ends in .png or .svg"),
    ],
)
def test_nonsense(watch: Path, arguments: list[str], said: str) -> None:
    """A line that names the option, and exit code 2."""
    code, printed, complained = berth("explain", "watch.yaml", "plan.json", *arguments)
    assert (code, printed) == (2, "")
    assert said in complained


def test_a_foreign_plan(watch: Path) -> None:
    """What another system was told is explained, too: it comes without a policy or a goal."""
    assert berth("export", "watch.yaml", "plan.json", "--to", "nomad", "--out", "watch.nomad.json")[0] == 0
    code, printed, _ = berth("explain", "watch.yaml", "watch.nomad.json", "--json")
    assert code == 0
    found = json.loads(printed)
    assert found["policy"] is None
    assert found["objective"] == 26
    assert found["what_if"]["policy"] == DEFAULT
