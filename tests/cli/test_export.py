"""`berth export`, and reading back what it writes, as a user meets it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import run_berth

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def berth(*arguments: str) -> tuple[int, str]:
    """The exit code, and all that was printed."""
    done = run_berth(*arguments, width=100)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the problem of the page and its plan."""
    monkeypatch.chdir(tmp_path)
    (problem,) = blocks("yaml")
    (tmp_path / "words.yaml").write_text(problem)
    assert berth("solve", "words.yaml", "--policy", "ffd", "--out", "plan.json")[0] == 0
    return tmp_path


def changed(words: Path, **changes: Any) -> None:
    """Another plan file beside the first, `other.json`."""
    plan = json.loads((words / "plan.json").read_text())
    (words / "other.json").write_text(json.dumps({**plan, **changes}))


def test_the_page(words: Path) -> None:
    """Its commands print what is written below them, and its excerpts are in the files."""
    (session,) = blocks("console")
    for part in session.split("$ berth ")[1:]:
        shown = [line.rstrip() for line in part.splitlines()]
        command, _, most = shown[0].partition(" | head -")
        code, printed = berth(*command.split())
        assert [line.rstrip() for line in printed.splitlines()][: int(most) if most else None] == shown[1:]
        assert code == (5 if "not placed" in printed else 0)
    container, group = (json.loads(block) for block in blocks("json"))
    packing_plan = json.loads((words / "deploy" / "words.heron.json").read_text())
    job = json.loads((words / "deploy" / "words.nomad.json").read_text())
    assert packing_plan["container_plans"][2] == container
    assert job["Job"]["TaskGroups"][0] == group


def test_reading_back(words: Path) -> None:
    """Two files, the folder and the job alone are judged like the plan; all commands read them."""
    berth("export", "words.yaml", "plan.json", "--to", "heron", "--to", "nomad", "--out", "deploy")
    judged = berth("evaluate", "words.yaml", "plan.json", "--json")
    heron, nomad = "deploy/words.heron.json", "deploy/words.nomad.json"
    for files in ([heron, nomad], [nomad, heron], ["deploy"], [nomad]):
        assert berth("evaluate", "words.yaml", *files, "--json") == judged
    moved = json.loads(berth("evaluate", "words.yaml", nomad, "--previous", nomad, "--json")[1])
    assert moved["metrics"]["moved_instances"] == 0
    shown = [berth("show", "words.yaml", plan)[1].partition("\n")[2] for plan in ("deploy", "plan.json")]
    assert shown[0] == shown[1]
    again = berth("export", "words.yaml", "deploy", "--to", "nomad", "--out", "again.json")
    assert again == (0, "written to again.json\n")
    assert (words / "again.json").read_text() == (words / nomad).read_text()


def test_broken_plans_need_force(words: Path) -> None:
    """Why it isn't exported, and what is written if it must be."""
    changed(words, assignment={"words/lines#0": "rome"})
    arguments = ("export", "words.yaml", "other.json", "--to", "nomad", "--out", "job.json")
    code, printed = berth(*arguments)
    assert code == 5
    assert "instance words/count: not placed\n" in printed
    assert printed.endswith("not exported: it breaks 4 constraints (--force: export it all the same)\n")
    assert not (words / "job.json").exists()
    code, printed = berth(*arguments, "--force")
    assert code == 0
    assert "warning: words: 4 instances have no server: Nomad chooses it\n" in printed
    assert berth("evaluate", "words.yaml", "job.json") == berth("evaluate", "words.yaml", "other.json")


def test_packing_plan_of_too_small_containers(words: Path) -> None:
    """Without servers, containers are judged all the same."""
    changed(
        words,
        containers=dict.fromkeys(json.loads((words / "plan.json").read_text())["containers"], "words/c1"),
    )
    berth("export", "words.yaml", "other.json", "--to", "heron", "--out", "heron.json", "--force")
    code, printed = berth("evaluate", "words.yaml", "heron.json")
    assert code == 5
    assert "container words/c1: cpu 4.5 needed, 2 there" in printed
    assert re.search(r"containers used +1\n", printed)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["--to", "nomad", "--driver", "exec"],
            "--command: is needed with the driver 'exec': what does a task run?",
        ),
        (
            ["--to", "nomad", "--driver", "exec", "--image", "x", "--command", "y"],
            "--image x: the driver 'exec' starts no image; leave it out",
        ),
        (
            ["--to", "nomad", "--driver", ""],
            "--driver: is empty; Nomad's usual ones are docker, exec and raw_exec",
        ),
        (["--to", "nomad", "--mhz-per-core", "0"], "--mhz-per-core 0: expected 1 to 1,000,000"),
        (["--to", "nomad", "--mhz-per-core", "nan"], "--mhz-per-core nan: expected 1 to 1,000,000"),
        (
            ["--to", "nomad", "--node-attribute", "a b"],
            "--node-attribute a b: expected a name such as node.unique.name or meta.rack",
        ),
        (
            ["--to", "heron", "--application", "word"],
            "--application: no application named 'word'; did you mean 'words'?",
        ),
    ],
)
def test_bad_options(words: Path, options: list[str], line: str) -> None:
    """Exit code 2, and a line that says what to do."""
    assert berth("export", "words.yaml", "plan.json", "--out", "x.json", *options) == (2, f"{line}\n")
    assert not (words / "x.json").exists()


def test_unknown_system(words: Path) -> None:
    """Only those that berth knows."""
    code, printed = berth("export", "words.yaml", "plan.json", "--to", "yarn", "--out", "x.json")
    assert code == 2
    assert "'yarn' is not one of" in printed


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "5", '{"Job": 5}', '{"container_plans": 5}', '{"TaskGroups": {}}']
)
def test_garbage(words: Path, text: str) -> None:
    """Exit code 2 and lines, never a traceback."""
    (words / "garbage.json").write_text(text)
    for arguments in (["evaluate"], ["show"], ["export", "--to", "nomad", "--out", "x.json"]):
        code, printed = berth(arguments[0], "words.yaml", "garbage.json", *arguments[1:])
        assert code == 2
        assert 1 <= len(printed.splitlines()) <= 2
    code, printed = berth("diff", "plan.json", "garbage.json")
    assert code == 2
