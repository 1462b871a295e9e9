"""The list of commands, and what a command has to wait for before it can start."""

import subprocess
import sys
from pathlib import Path

import pytest

from berth.cli.app import COMMANDS, load_command

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "tag-and-count.yaml")
LIBRARIES = ("fastapi", "matplotlib", "ortools", "pandas", "pyarrow", "pyspark", "scipy")


def imported_by(script: str, libraries: tuple[str, ...]) -> set[str]:
    """Which of these libraries are there after a script, in a process of its own."""
    found = f"print('imported', *(name for name in {libraries} if name in sys.modules), file=sys.stderr)"
    whole = f"import sys\ntry:\n    {script}\nfinally:\n    {found}"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=False)
    word, *names = done.stderr.split()
    assert word == "imported", done.stderr
    return set(names)


def running(*arguments: str) -> str:
    return f"sys.argv = {['berth', *arguments]}; import berth.cli.entry; berth.cli.entry.main()"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_all_commands_is_their_own(name: str) -> None:
    """What `berth --help` says of a command is the first line of what the command says of itself."""
    command = load_command(name)
    assert command.name == name
    assert COMMANDS[name] == " ".join(command.help.split("\n\n")[0].split())


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_load_no_library(argument: str) -> None:
    """They are there at once: not even numpy is imported, nor what reads the files."""
    assert imported_by(running(argument), (*LIBRARIES, "numpy", "pydantic", "yaml")) == set()


@pytest.mark.parametrize("name", ["solve", "evaluate", "compare", "diff", "policies", "schema", "simulate"])
def test_commands_load_what_they_use(name: str) -> None:
    """Before a command begins to work, only what it surely needs is imported."""
    script = f"import berth.cli.app; berth.cli.app.load_command({name!r})"
    assert imported_by(script, (*LIBRARIES, "rich.live")) == set()


def test_judging_a_plan_loads_no_solver(tmp_path: Path) -> None:
    """Reading a problem and judging a plan of it needs neither solvers nor tables."""
    plan = tmp_path / "plan.json"
    plan.write_text('{"assignment": {}}')
    assert imported_by(running("evaluate", EXAMPLE, str(plan)), (*LIBRARIES, "rich.live")) == set()


@pytest.mark.parametrize("policy", ["auto", "odp", "round-robin"])
def test_small_problems_load_no_solver(policy: str) -> None:
    """What is small is proved, or placed by a heuristic, without waiting for solvers and tables."""
    script = running("solve", EXAMPLE, "--policy", policy, "--json")
    assert imported_by(script, (*LIBRARIES, "numba", "rich.live")) == set()
