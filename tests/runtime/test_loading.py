"""Finding applications in users' files, and putting several together."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berth.files import load
from berth.model import BadInput, Plan
from berth.runtime.application import Application
from berth.runtime.loading import United, load_application, own_modules, together
from berth.runtime.placement import placement_of

APPLICATION = """
from helper_of_loading import limit
from berth.runtime import Application

{name} = Application("{name}")

@{name}.source
def lines(spark):
    return spark.read.text("lines").limit(limit)

@{name}.sink
def store(lines):
    lines.show()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a module that applications import."""
    (tmp_path / "helper_of_loading.py").write_text("limit = 3\n")
    return tmp_path


def written(folder: Path, text: str, name: str = "app.py") -> str:
    """The path of a file with this text."""
    (folder / name).write_text(text)
    return str(folder / name)


def refused(reference: str) -> str:
    """The one line about it."""
    with pytest.raises(BadInput) as caught:
        load_application(reference)
    (line,) = caught.value.mistakes
    return line


def test_the_only_application_is_found(folder: Path) -> None:
    """Also if the file has two names for it; modules beside it are sent along to the workers."""
    application = load_application(written(folder, APPLICATION.format(name="first") + "\nother = first\n"))
    assert list(application.operators) == ["lines", "store"]
    sent = sorted(module.__name__ for module in own_modules(application))
    assert len(sent) == 2
    assert sent[0].startswith("berth_application_app")
    assert sent[1] == "helper_of_loading"


def test_one_of_several_is_named(folder: Path) -> None:
    """Otherwise it is an error that says how."""
    file = written(folder, APPLICATION.format(name="first") + APPLICATION.format(name="second"))
    assert load_application(f"{file}:second").name == "second"
    assert refused(file) == f"{file}: has first, second; say which application: {file}:first"
    assert refused(f"{file}:third") == f"{file}: no Application named 'third'; there are: first, second"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n", "no Application in it"),
        ("def f(:\n", "line 1: SyntaxError"),
        ("\n\n1 / 0\n", "line 3: ZeroDivisionError: division by zero"),
        ("import no_such_module_anywhere\n", "line 1: ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)\n", "line 1: SystemExit: 3"),
        (
            "from berth.runtime import Application\nApplication('a/b')\n",
            "application: 'a/b' is not a valid name",
        ),
    ],
)
def test_bad_files_are_one_line(folder: Path, text: str, line: str) -> None:
    """With the line of the file where there is one."""
    file = written(folder, text)
    assert refused(file).startswith(f"{file}: {line}")


def test_missing_files(folder: Path) -> None:
    """Are named as they were asked for."""
    assert refused(str(folder / "no.py")).startswith(f"{folder / 'no.py'}: no such file")


ROOT = Path(__file__).parents[2]
FILE = str(ROOT / "examples" / "shared_sensors.py")
PROBLEM = ROOT / "examples" / "shared-sensors.yaml"
ASSIGNMENT = {
    **{"alarms/feed": "gateway", "alarms/cleaned": "gateway", "alarms/hot": "hall"},
    **{"alarms/alarms": "centre", "totals/counted": "hall", "totals/totals": "centre"},
}
SHARED = {"reuse": {"totals/cleaned": "alarms/cleaned"}, "skipped": ("totals/feed",)}


def plan(assignment: dict[str, str] = ASSIGNMENT, **more: Any) -> Plan:
    return Plan(problem="shared-sensors", policy="by hand", assignment=assignment, **more)


def both() -> list[Application]:
    return [load_application(f"{FILE}:{name}") for name in ("alarms", "totals")]


def test_what_is_shared_is_there_once() -> None:
    united = together(both(), plan(**SHARED), load(PROBLEM))
    assert list(united.operators) == [
        *("alarms/feed", "alarms/cleaned", "alarms/hot", "alarms/alarms"),
        *("totals/counted", "totals/totals"),
    ]
    assert united.operators["totals/counted"].inputs == ("alarms/cleaned",)
    assert next(each.name for each in united.in_order()) == "alarms/feed"
    placement = placement_of(united, load(PROBLEM), plan(**SHARED))
    assert placement.nodes["totals/counted"] == ("hall",)
    assert set(placement.nodes) == set(united.operators)


def test_names_are_the_problem_s() -> None:
    """Telemetry speaks of the applications as the problem file knows them: ingest reads it."""
    united = together(both(), plan(**SHARED), load(PROBLEM))
    assert united.origin("totals/counted") == ("totals", "counted")
    assert united.stream_origin("alarms/cleaned", "totals/counted") == ("totals", "cleaned", "counted")
    assert united.stream_origin("alarms/cleaned", "alarms/hot") == ("alarms", "cleaned", "hot")
    assert united.full_name("totals/counted#1") == "totals/counted#1"


def test_nothing_shared_is_everything_twice() -> None:
    everything = ASSIGNMENT | {"totals/feed": "hall", "totals/cleaned": "hall"}
    united = together(both(), plan(everything), load(PROBLEM))
    assert len(united.operators) == 8
    assert len(placement_of(united, load(PROBLEM), plan(everything)).nodes) == 8


def test_equal_operators_on_one_node_run_once() -> None:
    """For the judge they count once; what feeds only the one that doesn't run is not needed either."""
    everything = ASSIGNMENT | {"totals/feed": "hall", "totals/cleaned": "gateway"}
    united = together(both(), plan(everything), load(PROBLEM))
    assert united.merged == {"totals/feed", "totals/cleaned"}
    assert united.operators["totals/counted"].inputs == ("alarms/cleaned",)
    assert {each.name for each in united.in_order()} == set(united.operators)
    placement = placement_of(united, load(PROBLEM), plan(everything))
    assert set(placement.nodes) == set(united.operators)


def test_taking_from_one_that_is_taken_from_another() -> None:
    """The plan lets `totals` take the feed; its `cleaned` is the twin of the other one's."""
    shared = {"reuse": {"totals/feed": "alarms/feed"}}
    placed = ASSIGNMENT | {"totals/cleaned": "gateway"}
    united = together(both(), plan(placed, **shared), load(PROBLEM))
    assert united.merged == {"totals/cleaned"}
    assert united.operators["totals/counted"].inputs == ("alarms/cleaned",)


def test_without_sharing_everything_runs() -> None:
    everything = ASSIGNMENT | {"totals/feed": "gateway", "totals/cleaned": "gateway"}
    alone = replace(load(PROBLEM), sharing=False)
    assert len(together(both(), plan(everything), alone).operators) == 8


def test_one_application_stays_what_it_is() -> None:
    alarms = both()[0]
    assert together([alarms], plan(**SHARED), load(PROBLEM)) is alarms


@pytest.mark.parametrize(
    ("shared", "line"),
    [
        ({"reuse": {"totals/cleaned": "other/cleaned"}}, "name that application's file, too"),
        ({"reuse": {"totals/cleaned": "alarms/clean"}}, "there is no such operator"),
        ({"reuse": {"totals/claened": "alarms/cleaned"}}, "totals/claened: the application has no such"),
        (
            {"reuse": {"totals/cleaned": "alarms/cleaned"}, "skipped": ("alarms/cleaned",)},
            "which is not computed itself",
        ),
    ],
)
def test_sharing_that_can_t_be(shared: dict[str, Any], line: str) -> None:
    with pytest.raises(BadInput, match=line):
        United(both(), plan(**shared), load(PROBLEM))


def test_what_is_not_placed_is_named() -> None:
    """A plan that shares less than the run does, and one that computes what the run leaves out."""
    united = together(both(), plan(**SHARED), load(PROBLEM))
    with pytest.raises(BadInput, match="totals/totals: not placed"):
        placement_of(united, load(PROBLEM), plan({k: v for k, v in ASSIGNMENT.items() if "/totals" not in k}))
    with pytest.raises(BadInput, match="totals/cleaned: the application has no such instance"):
        placement_of(united, load(PROBLEM), plan(ASSIGNMENT | {"totals/cleaned": "hall"}))


def test_the_same_application_twice() -> None:
    alarms, _ = both()
    with pytest.raises(BadInput, match="'alarms': there are two of that name"):
        United([alarms, alarms], plan(), load(PROBLEM))


def test_output_modes_have_to_agree() -> None:
    one, other = both()
    one.output_mode, other.output_mode = "update", "complete"
    with pytest.raises(BadInput, match="different output modes: complete, update"):
        United([one, other], plan(**SHARED), load(PROBLEM))


def test_files_of_one_name_are_different_modules(tmp_path: Path) -> None:
    """Workers get the modules of both."""
    text = "from berth.runtime import Application\napp = Application('{}')\n"
    text += (
        "@app.source\ndef lines(spark):\n    return '{}'\n@app.sink\ndef out(lines, batch_id):\n    pass\n"
    )
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.py").write_text(text.format(name, name))
    loaded = [load_application(str(tmp_path / name / "app.py")) for name in ("one", "two", "one")]
    modules = [each.operators["lines"].function.__module__ for each in loaded]
    assert modules[0] == modules[2] != modules[1]
    assert [each.operators["lines"].function(None) for each in loaded] == ["one", "two", "one"]


@pytest.mark.spark
@pytest.mark.long
def test_it_runs_and_computes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a real cluster: both results are right, and the telemetry shows one `cleaned`."""
    import subprocess
    import sys

    values = [(f"s{number % 3}", float(number % 130)) for number in range(600)]
    (tmp_path / "readings").mkdir()
    lines = (json.dumps({"sensor": sensor, "value": value}) + "\n" for sensor, value in values)
    (tmp_path / "readings" / "a.json").write_text("".join(lines))
    document = {"format": "berth-plan/v1", "problem": "shared-sensors", "assignment": ASSIGNMENT}
    (tmp_path / "plan.json").write_text(json.dumps(document | SHARED))
    monkeypatch.setenv("BERTH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("READINGS", str(tmp_path / "readings"))
    monkeypatch.setenv("OUT", str(tmp_path / "out"))
    command = [sys.executable, "-m", "berth.cli.entry", "run", f"{FILE}:alarms", f"{FILE}:totals", "--once"]
    command += ["--problem", str(PROBLEM), "--plan", str(tmp_path / "plan.json"), "--json"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "run")], capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["plan"] == ASSIGNMENT
    clean = [(sensor, value) for sensor, value in values if value <= 150]
    assert len(_rows(tmp_path / "out" / "alarms")) == sum(value > 100 for _, value in clean)
    counts = {row["sensor"]: row["readings"] for row in _rows(tmp_path / "out" / "totals")}
    assert counts == Counter(sensor for sensor, _ in clean)
    worked = Counter()
    for each in _rows(tmp_path / "run" / "telemetry" / "operators"):
        worked[each["application"], each["operator"]] += each["tuples"]
    assert worked["alarms", "cleaned"] == len(values)
    assert not [key for key in worked if key in {("totals", "cleaned"), ("totals", "feed")}]
    carried = Counter()
    for each in _rows(tmp_path / "run" / "telemetry" / "streams"):
        carried[each["application"], each["from"], each["to"]] += each["tuples"]
    assert carried["totals", "cleaned", "counted"] == carried["alarms", "cleaned", "hot"] == len(clean)


def _rows(folder: Path) -> list[dict[str, Any]]:
    files = sorted(file for file in folder.rglob("*.json*") if not file.name.startswith("."))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]
