"""Processes as the kernel knows them: which are running, which are below which, and how they end together.

All of this is for Linux.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of linux/prctl.h
_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_POLL_SECONDS = 0.02
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CONNECTIONS = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED = "01"
_IPV4_AS_IPV6 = bytes(10) + b"\xff\xff"
_LOOKS = 3
_prctl = ctypes.CDLL(None, use_errno=True).prctl


@dataclass(frozen=True)
class ProcessIdentity:
    """A process that can't be mistaken for a later one with the same pid. It can be stored in a file."""

    pid: int
    started: str
    """The boot id of the machine and the clock tick of that boot at which the process started."""

    def is_running(self) -> bool:
        """Whether this very process is still running. A zombie is not."""
        return identity_of(self.pid) == self

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, unless it is gone."""
        if self.is_running():
            signal_all([self.pid], number)

    def wait_gone(self, seconds: float) -> bool:
        """Wait until it is gone; False if it is still there after so many seconds."""
        deadline = time.monotonic() + seconds
        while self.is_running():
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


def identity_of(pid: int) -> ProcessIdentity | None:
    """The running process with this pid; None if there is none.

    psutil's `create_time` is not used: it is in seconds since 1970, so it changes when the clock is set.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # behind the name, which may contain anything: the state first, the start time as number 19
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZXx" else ProcessIdentity(pid, f"{_boot_id()}-{fields[19]}")


@cache
def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def children_of(pid: int) -> list[int]:
    """The processes that this one has started, in any of its threads."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def descendants_of(pid: int) -> list[int]:
    """All processes below this one, parents before their children.

    psutil's `children` is not used: it leaves out a child that seems older than its parent, as one does when
    the clock is set.
    """
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = children_of(waiting.pop(0))
        found += children
        waiting += children
    return found


def with_variable(name: str, value: str) -> list[int]:
    """The processes that were started with this environment variable, except this process."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get(name) == value:
                found.append(process.pid)
    return found


def memory_of(pid: int) -> int:
    """The bytes in memory of a process and everything below it."""
    total = 0
    for here in [pid, *descendants_of(pid)]:
        with suppress(OSError, ValueError, IndexError):
            total += int(Path(f"/proc/{here}/statm").read_text().split()[1]) * _PAGE_BYTES
    return total


def ticks_of(pid: int) -> int:
    """The processor time that a process has had, in ticks of the kernel; 0 where it is gone."""
    try:
        # the name of the program, in brackets, may have anything in it
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(facts[11]) + int(facts[12])


def signal_all(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to those of these processes that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a group that are still there."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def kill_descendants() -> None:
    """Kill everything below this process until nothing is left. It must have called `adopt_orphans`."""
    while True:
        signal_all(descendants_of(os.getpid()), signal.SIGKILL)
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == 0:
            time.sleep(_POLL_SECONDS)


def die_with_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Let the kernel send this process a signal as soon as its parent ends; now, if that is gone already.

    This survives an exec, and children don't inherit it. "The parent" is the thread that started it.
    """
    _prctl(_SET_PARENT_DEATH_SIGNAL, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent ends."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def be_killed_first() -> None:
    """Where memory runs out, let the kernel end this process, and not the one that started it."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def is_from_our_user(connection: socket.socket) -> bool:
    """Whether the other end of a TCP connection on this machine belongs to a process of our own user.

    No is said wherever that can't be seen, and of an end that is closed already: the kernel lists what no
    process has any more as root's.
    """
    try:
        here, there = connection.getsockname(), connection.getpeername()
    except OSError:
        # reset before we came to look
        return False
    for _ in range(_LOOKS):
        # the kernel doesn't list all at one moment: an entry may be missed while others come and go
        owner = _owner_of(connection.family, there, here)
        if owner is not None:
            return owner == os.geteuid()
    return False


def _owner_of(family: int, end: tuple[str, int], other: tuple[str, int]) -> int | None:
    """The user who has this end of an established connection; None where it isn't listed."""
    # a program may talk IPv4 by a socket of IPv6, as Java does
    prefixes = [b"", _IPV4_AS_IPV6] if family == socket.AF_INET else [b""]
    for file in _CONNECTIONS:
        with suppress(OSError):
            listed = file.read_text()
            for prefix in prefixes:
                ends = " ".join(
                    _as_listed(prefix + socket.inet_pton(family, host), port)
                    for host, port, *_ in (end, other)
                )
                _, found, rest = listed.partition(f": {ends} {_ESTABLISHED} ")
                if found:
                    # behind queues, timers and a counter
                    return int(rest.split(maxsplit=4)[3])
    return None


def _as_listed(address: bytes, port: int) -> str:
    """An end as the kernel lists it: words of 32 bits in the order of this machine's bytes, and the port."""
    words = struct.unpack(f"={len(address) // 4}I", address)
    return f"{''.join(f'{word:08X}' for word in words)}:{port:04X}"
