"""Kills processes of a command at moments at which it writes, and starts it again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

POLL_SECONDS = 0.003
QUIET_SECONDS = 45.0
"""Without a change: a busy machine takes almost as long to start Spark."""
END_SECONDS = 120.0
"""For a command whose part was killed to end, or to be done all the same."""
Start = Callable[[], "subprocess.Popen[str]"]


@dataclass
class Chaos:
    """Chance, from a seed, and a diary for whoever has to understand a failure."""

    seed: int
    diary: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def kill(
        self, start: Start, folder: Path, moments: int, stop: Callable[[], bool] | None = None
    ) -> subprocess.Popen[str]:
        """Start a command, kill one of its processes when it writes into a folder, and let it end.

        Args:
            start: starts it.
            folder: where it writes.
            moments: how many changes of the folder an undisturbed run makes, more or less.
            stop: for commands that don't end by themselves: whether it has done enough.
        """
        process = start()
        moment = self.chance.randint(1, moments)
        await_changes(process, folder, moment)
        family = family_of(process)
        if family:
            victim = self.chance.choice(sorted(family, key=lambda each: each.pid))
            with suppress(psutil.NoSuchProcess):
                self.diary.append(f"change {moment}: killed {_words(victim)}")
                victim.kill()
        deadline = time.monotonic() + END_SECONDS
        while process.poll() is None and time.monotonic() < deadline and not (stop and stop()):
            time.sleep(0.1)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=END_SECONDS)
        self.diary.append(f"ended with {process.returncode}: {(said or printed or '')[-300:]}")
        _, alive = psutil.wait_procs(family, timeout=30)
        assert not alive, (self.diary, [_words(each) for each in alive])
        return process


def await_changes(process: subprocess.Popen[str], folder: Path, count: int) -> int:
    """Wait until a folder has changed so often, or nothing happens any more; how often it has changed."""
    before, seen, last = snapshot(folder), 0, time.monotonic()
    while seen < count and process.poll() is None and time.monotonic() - last < QUIET_SECONDS:
        time.sleep(POLL_SECONDS)
        now = snapshot(folder)
        if now != before:
            before, seen, last = now, seen + 1, time.monotonic()
    return seen


def snapshot(folder: Path) -> set[tuple[str, int, int]]:
    """The names, sizes and times of all files below a folder."""
    found = set()
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                about = os.stat(os.path.join(place, name))
                found.add((os.path.join(place, name), about.st_size, about.st_mtime_ns))
    return found


def family_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """A command and all that it has started, as long as it lives."""
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process.pid)
        return [parent, *parent.children(recursive=True)]
    return []


def _words(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        words = process.cmdline()
        return f"{process.pid} {' '.join(words[:3])} ... {' '.join(words[-2:])}"[:200]
    return str(process.pid)
