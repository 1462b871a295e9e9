"""A process of its own for whatever solves: it may crash, hang or eat memory without harm to the service."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

GRACE_SECONDS = 15.0
"""After being asked to stop."""
POLL_SECONDS = 0.1
_COMMAND = (sys.executable, "-P", "-m", "berth.web.worker")
"""-P: nothing that lies in the current folder is ever imported."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Limits:
    """What a process may take."""

    seconds: float
    memory_bytes: int


class Worker:
    """A process that works on a folder; whatever it starts is in its group."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._limits = limits
        self._asked_at: float | None = None
        self._killed = ""
        with (folder / "log.txt").open("wb") as log:
            self._process = subprocess.Popen(
                [*_COMMAND, str(folder), str(limits.memory_bytes), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started = time.monotonic()

    @property
    def pid(self) -> int:
        """Its number, which is also its group's."""
        return self._process.pid

    def stop(self) -> None:
        """Ask it to come to an end with what it has."""
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            self._signal(signal.SIGINT)

    def kill(self, why: str) -> None:
        """End it, and all that it started."""
        self._killed = self._killed or why
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self, seconds: float = POLL_SECONDS) -> bool:
        """Wait a little, and end it if it takes too much; whether it is over."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._check()
            return False
        # what it may have started and left
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        return True

    def death(self) -> str:
        """Why it ended without a result."""
        if self._killed:
            return self._killed
        code = self._process.returncode
        if code is not None and code < 0:
            return f"the solver crashed: its process died of {signal.Signals(-code).name}"
        return f"the solver ended its process (exit code {code})"

    def _check(self) -> None:
        used = _memory(self._process.pid)
        if used > self._limits.memory_bytes:
            self.kill(f"it took more than {self._limits.memory_bytes / 2**30:g} GiB of memory")
        elif time.monotonic() - self._started > self._limits.seconds:
            self.kill(f"it did not keep to its time limit and was ended after {self._limits.seconds:.0f} s")
        elif self._asked_at is not None and time.monotonic() - self._asked_at > GRACE_SECONDS:
            self.kill("it did not stop when it was asked to")

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)


def _memory(pid: int) -> int:
    """Bytes in memory of a process and what it started."""
    total = 0
    waiting = [pid]
    while waiting:
        here = waiting.pop()
        try:
            total += int(Path(f"/proc/{here}/statm").read_text().split()[1]) * _PAGE
            waiting += map(int, Path(f"/proc/{here}/task/{here}/children").read_text().split())
        except (OSError, ValueError, IndexError):
            continue
    return total
