"""A guarded process leaves nothing behind."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from berth.processes import ProcessIdentity, identity_of

GUARDED = """
import os, signal, subprocess, sys, time
from berth.processes import run_guarded

def leave(number, frame):
    raise TimeoutError

def work():
    signal.signal(signal.SIGTERM, leave)
    # in a session of its own
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        print(os.getpid(), child.pid, flush=True)
        if sys.argv[2] == "raise":
            raise ValueError("oh")
        time.sleep(600 if sys.argv[2] == "stay" else 0)
    except TimeoutError:
        return 4
    return 3

def clean_up(code):
    with open(sys.argv[1], "a") as file:
        file.write(f"{code}\\n")

run_guarded(work, in_guard=lambda: None, clean_up=clean_up)
"""


def guarded(file: Path, how: str) -> tuple[subprocess.Popen[str], list[ProcessIdentity]]:
    """The guard; the guarded process and what that has started."""
    command = [sys.executable, "-c", GUARDED, str(file), how]
    guard = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert guard.stdout is not None
    identities = [identity_of(int(pid)) for pid in guard.stdout.readline().split()]
    return guard, [identity for identity in identities if identity is not None]


@pytest.mark.parametrize(("how", "code"), [("end", "3"), ("raise", "1")])
def test_the_end_of_the_work(tmp_path: Path, how: str, code: str) -> None:
    """All that it started is gone when the guard is; the exit code comes through."""
    guard, below = guarded(tmp_path / "codes", how)
    guard.communicate(timeout=30)
    assert (tmp_path / "codes").read_text() == f"{code}\n"
    assert not any(each.is_running() for each in below)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_guard_passes_signals_on(tmp_path: Path, number: signal.Signals) -> None:
    """Whichever it is, the work is told to end."""
    guard, below = guarded(tmp_path / "codes", "stay")
    guard.send_signal(number)
    guard.communicate(timeout=30)
    assert (tmp_path / "codes").read_text() == "4\n"
    assert not any(each.is_running() for each in below)


def test_a_guard_that_is_killed(tmp_path: Path) -> None:
    """The work is told to end, and cleans up by itself."""
    guard, below = guarded(tmp_path / "codes", "stay")
    guard.kill()
    guard.communicate(timeout=30)
    assert all(each.wait_gone(10) for each in below)
    assert (tmp_path / "codes").read_text() == "4\n"


def test_work_that_is_killed(tmp_path: Path) -> None:
    """The guard ends what it left."""
    guard, below = guarded(tmp_path / "codes", "stay")
    below[0].send(signal.SIGKILL)
    guard.communicate(timeout=30)
    assert (tmp_path / "codes").read_text() == f"{-signal.SIGKILL}\n"
    assert not any(each.is_running() for each in below)
