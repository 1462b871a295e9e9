"""What the documentation promises: everything is in it, and its examples are true."""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import typer

import berth
from berth.cli import entry, output
from berth.cli.app import COMMANDS, app, load_command
from berth.evaluation import METRICS, Occupied
from berth.files import PLAN, PROBLEM, load
from berth.pipeline.feeds import FEEDS
from berth.policies import policy_names
from berth.spark import SparkSession

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "examples" / "README.md", *DOCS.rglob("*.md")]
README = (ROOT / "README.md").read_text()
# commands run in folders of their own, so a relative PYTHONPATH would lead them nowhere
SOURCES = os.pathsep.join([str(Path(berth.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
ENVIRONMENT = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": SOURCES}
GROUP: Any = typer.main.get_command(app)


def options(command: Any) -> set[str]:
    """Those of a command, and of what is below it."""
    own = {name for item in command.params for name in (*item.opts, *item.secondary_opts) if name[0] == "-"}
    return own.union(*map(options, getattr(command, "commands", {}).values()))


def blocks(text: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [content for kind, content in found if kind == language]


def lines(text: str) -> list[str]:
    """Lines as people compare them: without trailing blanks, times left out."""
    return [re.sub(r"\d+\.\d\d s\b", "T s", line.rstrip()) for line in text.splitlines()]


def keys(schema: dict[str, Any]) -> Iterator[str]:
    yield from schema.get("properties", {})
    nested = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    for part in nested:
        if isinstance(part, dict):
            yield from keys(part)


@pytest.fixture
def beside_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_is_documented(name: str) -> None:
    """Each command has its section in the reference, with all of its options."""
    sections = re.split(r"^## ", (DOCS / "commands.md").read_text(), flags=re.MULTILINE)
    section = next(part for part in sections if part.startswith(f"`berth {name}"))
    assert {option for option in options(load_command(name)) if f"`{option}" not in section} == set()


def test_options_of_the_command_itself() -> None:
    """The options before any command are in the reference, too."""
    text = (DOCS / "commands.md").read_text()
    assert {option for option in options(GROUP) if f"`{option}`" not in text} == set()


def test_every_policy_has_a_page() -> None:
    """A page for each policy, with all of its parameters."""
    for name in policy_names():
        page = DOCS / "policies" / f"{name}.md"
        assert page.exists(), f"no {page}"
        parameters = berth.policies.find_policy(name).parameters.__dataclass_fields__
        assert [field for field in parameters if f"`{field}`" not in page.read_text()] == []


@pytest.mark.parametrize("schema", [PROBLEM.schema, PLAN.schema], ids=["problem", "plan"])
def test_every_field_is_documented(schema: dict[str, Any]) -> None:
    """Each key of both files is in the page about them."""
    words = set(re.findall(r"\w+", (DOCS / "file-formats.md").read_text()))
    assert set(keys(schema)) - words == set()


def test_every_metric_is_documented() -> None:
    """Each metric's key and its name in objectives are in a row of the table."""
    text = (DOCS / "concepts.md").read_text()
    names = {metric.key: f"`{metric.name}` " if metric.name else "" for metric in METRICS}
    rows = {key: f"| `{key}` | {name}|" for key, name in names.items()}
    assert [key for key, row in rows.items() if row not in text] == []


def test_every_feed_is_documented() -> None:
    """Each feed is in the page about telemetry, with its fields in their order and all that it measures."""
    text = (DOCS / "telemetry.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \| [^|]* \| (`ts`[^|]*) \|$", text, re.MULTILINE)
    fields = {name: re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", cell)) for name, cell in listed}
    assert fields == {feed.name: [field.name for field in feed.fields] for feed in FEEDS}
    measures = [measure.name for feed in FEEDS for measure in feed.measures]
    assert [name for name in measures if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Links to files and headings of this repository exist."""
    for target, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", title).lower().replace(" ", "-") for title in titles}
            assert heading in anchors


def test_python_example_of_the_readme(beside_examples: Path) -> None:
    """It runs, and its assertions hold."""
    (example,) = blocks(README, "python")
    exec(compile(example, "README.md", "exec"), {})
    assert berth.load_plan("plan.json").status == "optimal"


def test_docstring_of_the_package(beside_examples: Path) -> None:
    """The example in berth's docstring prints what it says."""
    result = doctest.testmod(berth)
    assert result.attempted > 3
    assert result.failed == 0


def test_first_example_of_the_readme(tmp_path: Path) -> None:
    """The problem that is written out there gives the output that is written below it."""
    (problem,) = blocks(README, "yaml")
    (tmp_path / "plants.yaml").write_text(problem)
    shown = lines(blocks(README, "console")[0])
    command = [sys.executable, "-m", "berth.cli.entry", *shown[0].removeprefix("$ berth ").split()]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path, check=True)
    assert lines(done.stdout + done.stderr) == shown[1:]
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert (plan["status"], plan["objective"]) == ("optimal", 63)


def test_measured_example_of_the_readme(
    spark: SparkSession, beside_examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands there print what is written below them, and their tables can be read as we say."""
    output.out.width = 100
    for part in blocks(README, "console")[1].split("$ berth ")[1:]:
        shown = lines(part)
        command, _, most = shown[0].partition(" | head -")
        # the tests' one session was started in another folder
        arguments = re.sub(r"(?<= )(?=telemetry |measured)", f"{beside_examples}/", command).split()
        with pytest.raises(SystemExit) as stopped, patch.object(sys, "argv", ["berth", *arguments]):
            entry.main()
        printed = capsys.readouterr()
        assert stopped.value.code == 0, printed.err
        assert lines(printed.out)[: int(most) if most else None] == shown[1:]
    (example,) = blocks((DOCS / "telemetry.md").read_text(), "python")
    exec(compile(example, "telemetry.md", "exec"), {})
    assert capsys.readouterr().out.count("│ probes ") == 3


@pytest.mark.parametrize("latest", [30, 50])
def test_infeasible_examples(latest: int, tmp_path: Path) -> None:
    """The clashes that README and start page show are those that berth finds."""
    (problem,) = blocks(README, "yaml")
    file = tmp_path / "plants.yaml"
    file.write_text(problem.replace("- name: alarms", f"- name: alarms\n    max_response_time_ms: {latest}"))
    plan = berth.solve(load(file))
    assert plan.status == "infeasible"
    text = README + (DOCS / "start.md").read_text()
    assert "\n".join(f"  {line}" for line in plan.trace["conflict"]) in text


def test_a_policy_of_your_own() -> None:
    """The example works, takes its parameter, and is what the page shows."""
    file = ROOT / "examples" / "own_policy.py"
    assert blocks((DOCS / "policies" / "your-own.md").read_text(), "python")[0] == file.read_text()
    spec = spec_from_file_location("own_policy", file)
    assert spec is not None
    assert spec.loader is not None
    own_policy = module_from_spec(spec)
    # dataclasses look their module up by name
    sys.modules["own_policy"] = own_policy
    try:
        spec.loader.exec_module(own_policy)
        problem = load(ROOT / "examples" / "tag-and-count.yaml")
        plan = berth.solve(problem, own_policy.FirstFit(), nodes="largest")
        nothing = np.zeros(len(problem.network.nodes))
        frankfurt = np.where(np.arange(len(nothing)) == 0, 8.0, 0.0)
        left, full = (
            berth.solve(problem, own_policy.FirstFit(), occupied=Occupied({"slots": slots}, nothing, nothing))
            for slots in (frankfurt, nothing + 8.0)
        )
    finally:
        del sys.modules["own_policy"]
    assert (plan.policy, plan.status, plan.metrics["nodes_used"]) == ("first-fit", "feasible", 3)
    # It leaves alone what others occupy.
    assert (left.status, left.violations) == ("feasible", ())
    assert "frankfurt" in plan.assignment.values()
    assert "frankfurt" not in left.assignment.values()
    assert full.status == "unknown"


def test_demo(tmp_path: Path) -> None:
    """It runs anywhere, writes its files, and prints the tables of the README."""
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "--no-spark"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path, check=True)
    written = {path.name for path in (tmp_path / "demo-output").iterdir()}
    plans = ("fastest", "most-available", "round-robin")
    assert written == {f"{plan}.{kind}" for plan in plans for kind in ("json", "png", "svg")}
    shown = next(block for block in blocks(README, "") if block.startswith("Where the operators run"))
    assert "\n".join(lines(shown)) in "\n".join(lines(done.stdout))
    assert done.stdout.count("nothing is broken") == 3


def test_demo_on_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is measured from the example's telemetry is near the truth, and so is its plan."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    problem = ROOT / "examples" / "tag-and-count.yaml"
    truth = load(problem)
    fastest = berth.solve(truth)
    folder = tmp_path / "demo-output"
    importlib.import_module("demo_telemetry").run(problem, fastest, folder)
    printed = capsys.readouterr().out
    off = {
        name: float(share) for name, share in re.findall(r"^(\w+) of \w+ +([\d.]+) ", printed, re.MULTILINE)
    }
    most = {"delays": 3.0, "speeds": 3.0, "rates": 1.0, "work": 3.0, "availabilities": 0.5}
    assert off.keys() == most.keys()
    assert [name for name in most if off[name] > most[name]] == []
    held = json.loads((folder / "telemetry" / "_truth.json").read_text())["folders"].values()
    assert f"{sum(kind['garbage'] for kind in held):,} in quarantine" in printed
    shown = next(block for block in blocks(README, "") if block.startswith("How far off"))
    assert "\n".join(lines(shown)) in "\n".join(lines(printed))
    measured = berth.evaluate(truth, berth.load_plan(folder / "measured.json"))
    assert measured.violations == ()
    assert measured.metrics["response_time_ms"] < 1.03 * fastest.metrics["response_time_ms"]
