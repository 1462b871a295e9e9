"""Processes as the kernel knows them: who is whose child, who still runs, and who goes with whom.

Everything here is Linux; nothing else of berth is imported, so that the keeper stays small.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_LOOK_SECONDS = 0.02
_prctl = ctypes.CDLL(None, use_errno=True).prctl


@dataclass(frozen=True)
class Birth:
    """A process that can't be mistaken for a later one of the same number."""

    pid: int
    started: str
    """The boot of the machine and the clock tick of this boot."""

    def is_running(self) -> bool:
        """Whether this very process is still at work; one that only waits to be collected is not."""
        return birth_of(self.pid) == self

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it is gone."""
        if self.is_running():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def wait_gone(self, seconds: float) -> bool:
        """Wait until it is gone; False if it isn't after so many seconds."""
        deadline = time.monotonic() + seconds
        while self.is_running():
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_SECONDS)
        return True


def birth_of(pid: int) -> Birth | None:
    """The process of this number; None if there is none that is at work."""
    fields = _fields(pid)
    if fields is None or fields[0] in "ZXx":
        return None
    return Birth(pid, f"{_boot()}-{fields[19]}")


def descendants_of(pid: int) -> list[int]:
    """All processes below this one, children before their own children."""
    children = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := _fields(int(name))) is not None:
            children[int(fields[1])].append(int(name))
    found = list(children[pid])
    for member in found:
        found.extend(children[member])
    return found


def marked(variable: str, value: str) -> list[int]:
    """The processes that were started with this environment variable, this one left out."""
    wanted = f"{variable}={value}".encode()
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return [pid for pid in pids if pid != os.getpid() and wanted in _environment(pid)]


def signal_all(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to those of these processes that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_descendants() -> None:
    """Kill everything below this process until there is nothing. It must have adopted orphans."""
    while True:
        signal_all(descendants_of(os.getpid()), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def die_with_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Let the kernel send this process a signal as soon as its parent is gone; now, if it is gone already.

    It holds through an exec and not for children. "The parent" is the thread that started this process.
    """
    _prctl(_SET_PARENT_DEATH_SIGNAL, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent ends."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def _fields(pid: int) -> list[str] | None:
    """What the kernel says about a process behind its name: state, parent, ..., start time as number 19."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


@cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
