"""Where the command starts: what goes wrong becomes a line."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from berth.cli import app, entry
from berth.cli.exit_codes import FAILED
from berth.model.pair_fields import AllPairsError

TAG = Path(__file__).parents[2] / "examples" / "tag-and-count.yaml"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "out of memory\n"),
        (
            AllPairsError("what lies between all 9,000 nodes"),
            "out of memory: what lies between all 9,000 nodes\n",
        ),
    ],
)
def test_too_little_memory_is_a_line(
    error: MemoryError, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, and an exit code of its own."""

    def fails(**_: object) -> None:
        raise error

    monkeypatch.setattr(app, "app", fails)
    with pytest.raises(SystemExit) as stop:
        entry.main()
    assert stop.value.code == FAILED
    assert capsys.readouterr().err == line


def piped(arguments: list[str], shell_reads: str, where: Path) -> tuple[int, str]:
    """The exit code of a command whose reader leaves early, and what it complained of."""
    berth = f"{shlex.quote(sys.executable)} -m berth.cli.entry {shlex.join(arguments)}"
    complaints = where / "complaints"
    script = f"{berth} 2> {complaints} | {shell_reads} > /dev/null; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=where, check=False)
    assert done.stderr == ""
    return done.returncode, complaints.read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["policies"],
        ["policies", "--json"],
        ["--help"],
        ["solve", "--help"],
        ["solve", str(TAG), "--json"],
        ["solve", str(TAG)],
        ["schema"],
        ["generate", "tag-and-count"],
    ],
)
@pytest.mark.parametrize("reader", ["true", "head -1"])
def test_a_broken_pipe_ends_quietly(arguments: list[str], reader: str, tmp_path: Path) -> None:
    """Whoever prints, rich, typer or Python at its end: exit code 0, and not a word."""
    assert piped(arguments, reader, tmp_path) == (0, "")


def test_nobody_reads_the_complaints(tmp_path: Path) -> None:
    """Standard error may be a broken pipe, too."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "berth.cli.entry", "solve", str(TAG), "--out", "plan.json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=write, cwd=tmp_path, check=False)
    os.close(write)
    assert done.returncode == 0
    assert (tmp_path / "plan.json").exists()


def test_a_full_disk_is_no_broken_pipe() -> None:
    """What can't be written for another reason is said, with an exit code."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "berth.cli.entry", "policies"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "standard output: can't be written: no space left on device\n"
