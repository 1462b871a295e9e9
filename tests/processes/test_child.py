"""A supervised child process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from berth.processes import ChildProcess, Limits, identity_of
from berth.processes.child import why_ended
from tests.processes.waiting import wait_until

HANGS = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""


def python(code: str, log: Path, limits: Limits | None = None) -> ChildProcess:
    """A child that runs some code and is past its first line of output."""
    child = ChildProcess([sys.executable, "-c", code], name="the solver", limits=limits, log=log)
    assert wait_until(lambda: "ready" in log.read_text(), 20)
    return child


def ended(child: ChildProcess, seconds: float = 20.0) -> bool:
    """Look after a child until it has ended."""
    until = time.monotonic() + seconds
    while not child.wait():
        if time.monotonic() > until:
            return False
    return True


def test_output_and_exit_code(tmp_path: Path) -> None:
    """All that it prints is in its log, behind what was there."""
    log = tmp_path / "log"
    log.write_text("before\n")
    child = ChildProcess(["sh", "-c", "echo out; echo err >&2; exit 7"], name="the solver", log=log)
    assert child.wait(None)
    assert log.read_text() == "before\nout\nerr\n"
    assert child.exit_code == 7
    assert child.why_ended() == "the solver ended its process (exit code 7)"


def test_a_program_that_is_not_there() -> None:
    """The caller hears of it at once."""
    with pytest.raises(FileNotFoundError):
        ChildProcess(["/no/such/program"])


def test_what_it_left_is_killed(tmp_path: Path) -> None:
    """A process of its group doesn't outlive it."""
    file = tmp_path / "pid"
    child = ChildProcess(["sh", "-c", f"sleep 600 & echo $! > {file}"])
    assert ended(child)
    left = identity_of(int(file.read_text()))
    assert left is None or left.wait_gone(5)


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN], ids=["front", "background"])
def test_one_that_stops(tmp_path: Path, handler: Any) -> None:
    """A child that does as it is told isn't killed, though this process may ignore SIGINT."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        _stop_one(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)


def _stop_one(tmp_path: Path) -> None:
    code = "import time\nprint('ready', flush=True)\ntry: time.sleep(600)\nexcept KeyboardInterrupt: pass"
    child = python(code, tmp_path / "log")
    child.stop()
    child.stop()
    assert ended(child)
    assert child.exit_code == 0


def test_one_that_does_not_stop(tmp_path: Path) -> None:
    """After the time of grace it is killed."""
    child = python(HANGS, tmp_path / "log", Limits(grace_seconds=0.3))
    child.stop()
    assert ended(child)
    assert child.exit_code == -signal.SIGKILL
    assert child.why_ended() == "it did not stop when it was asked to"


def test_end_waits_and_kills(tmp_path: Path) -> None:
    """One call for all of it."""
    child = python(HANGS, tmp_path / "log", Limits(grace_seconds=0.3))
    child.end()
    assert child.exit_code == -signal.SIGKILL


def test_the_time_limit(tmp_path: Path) -> None:
    """It is ended with a reason."""
    child = python(HANGS, tmp_path / "log", Limits(seconds=0.2))
    assert ended(child)
    assert child.why_ended() == "it did not keep to its time limit and was ended after 0 s"


def test_the_memory_limit_counts_children(tmp_path: Path) -> None:
    """What its children take is its own, whichever thread has started them."""
    code = """
import subprocess, sys, threading, time
hungry = "text = 'x' * (120 * 2**20); print('ready', flush=True); import time; time.sleep(600)"
threading.Thread(target=lambda: subprocess.run([sys.executable, "-c", hungry])).start()
time.sleep(600)
"""
    child = python(code, tmp_path / "log", Limits(memory_bytes=100 * 2**20))
    assert ended(child)
    assert child.why_ended() == f"it took more than {100 / 1024:g} GiB of memory"


def test_the_reason_that_was_given(tmp_path: Path) -> None:
    """The first one counts."""
    child = python(HANGS, tmp_path / "log")
    child.kill("the service was stopped")
    child.kill("something else")
    assert ended(child)
    assert child.why_ended() == "the service was stopped"


def test_nothing_is_sent_to_one_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number may be another process's by now."""
    child = ChildProcess(["true"])
    assert ended(child)
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(pid))
    monkeypatch.setattr(os, "killpg", lambda pid, number: sent.append(pid))
    child.stop()
    child.kill()
    child.end()
    assert child.wait()
    assert sent == []
    assert child.why_ended() == "the process ended its process (exit code 0)"


def test_why_a_process_ended() -> None:
    """A signal is a crash; anything else was its own doing."""
    assert why_ended("the policy", -signal.SIGSEGV) == "the policy crashed: its process died of SIGSEGV"
    assert why_ended("the policy", 0) == "the policy ended its process (exit code 0)"


# modules of ours


def module(*arguments: str, log: Path | None = None, limits: Limits | None = None) -> ChildProcess:
    """A child that answers over its channel."""
    child = ChildProcess.running(
        "tests.processes.answering", *arguments, log=log, limits=limits, channel=True
    )
    assert child.channel is not None
    return child


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children can import the tests, too."""
    root = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))


def test_a_module_answers(tmp_path: Path) -> None:
    """It has its arguments and a channel; its own children don't learn that it is one."""
    child = module("one", "two", log=tmp_path / "log")
    assert child.channel is not None
    child.channel.send({"do": "describe"})
    answer = child.channel.receive(30)
    assert answer is not None, (tmp_path / "log").read_text()
    assert answer == {"arguments": ["one", "two"], "orders": False, "most_bytes": -1}
    child.end()
    assert child.exit_code == 0


def test_limits_reach_a_module(tmp_path: Path) -> None:
    """Address space is limited, too, so that the process hears of it before it is killed."""
    child = module(log=tmp_path / "log", limits=Limits(memory_bytes=2**30))
    assert child.channel is not None
    child.channel.send({"do": "describe"})
    answer = child.channel.receive(30)
    assert answer is not None, (tmp_path / "log").read_text()
    assert answer["most_bytes"] == 9 * 2**30
    child.end()


def test_a_module_that_is_killed_is_noticed(tmp_path: Path) -> None:
    """Its channel is closed with it."""
    child = module(log=tmp_path / "log")
    assert child.channel is not None
    child.channel.send({"do": "die"})
    assert child.channel.receive(30) is None
    assert ended(child)
    assert child.why_ended() == "the process crashed: its process died of SIGKILL"


def test_a_module_dies_with_its_parent(tmp_path: Path) -> None:
    """SIGKILL leaves the parent no chance to end it: the kernel does."""
    code = """
import sys, time
from berth.processes import ChildProcess
child = ChildProcess.running("tests.processes.answering", channel=True)
child.channel.send({"do": "describe"})
assert child.channel.receive(30) is not None
print(child.pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = identity_of(int(parent.stdout.readline()))
        parent.kill()
    assert child is not None
    assert child.wait_gone(5)
