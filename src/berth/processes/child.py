"""One supervised child process: started, kept within limits, stopped or killed with all that it has started.

A child ends with this process, however this process ends. There are two ways to arrange that. A Python module
of ours (`ChildProcess.running`) calls `begin_child` first of all. Any other program (`ChildProcess`) gets a
function that runs between fork and exec, which is safe only where this process has no other threads.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from berth.processes.channel import Channel, new_channel
from berth.processes.system import be_killed_first, die_with_parent, memory_of, signal_group

POLL_SECONDS = 0.1
ADDRESS_SPACE_BYTES = 8 * 2**30
"""Libraries reserve address space that they never use: a limit on it leaves so much more."""
_ORDERS_VARIABLE = "BERTH_CHILD"
"""The environment variable by which a child learns who its parent is, and what it may take."""


@dataclass(frozen=True)
class Limits:
    """What a child may take; None: as much as it likes."""

    seconds: float | None = None
    memory_bytes: int | None = None
    grace_seconds: float = 15.0
    """From being told to stop until it is killed."""
    processor_seconds: float | None = None
    """Of all its threads; then it gets SIGXCPU, and is killed after the time of grace."""


class ChildProcess:
    """A process that leads a session of its own, so that signals of the terminal don't reach it.

    Limits hold while somebody calls `wait`. When the process has ended, `wait` kills what it left behind.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str = "the process",
        limits: Limits | None = None,
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start a program.

        Args:
            command: the program and its arguments.
            name: what `why_ended` calls it.
            limits: what it may take.
            log: the file that gets all of its output; None: nobody wants it.
            environment: its environment variables; None: those of this process.

        Raises:
            OSError, subprocess.SubprocessError: it can't be started.
        """
        self._begin(command, name, limits, log, environment, preexec_fn=partial(_begin_program, os.getpid()))

    def _begin(
        self,
        command: Sequence[str],
        name: str,
        limits: Limits | None,
        log: Path | None,
        environment: Mapping[str, str] | None,
        *,
        preexec_fn: Callable[[], None] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._name = name
        self._limits = limits or Limits()
        self._told_to_stop_at: float | None = None
        self._why_killed = ""
        self.channel: Channel | None = None
        """To a child that was started with one."""
        with open(os.devnull if log is None else log, "ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
                preexec_fn=preexec_fn,
                pass_fds=pass_fds,
            )
        self._started_at = time.monotonic()
        self._ending = threading.Lock()
        self._handle = os.pidfd_open(self.pid)
        """It can be read when the process has ended, and doesn't collect it."""

    @classmethod
    def running(
        cls,
        module: str,
        *arguments: str,
        name: str = "the process",
        limits: Limits | None = None,
        log: Path | None = None,
        channel: bool = False,
    ) -> Self:
        """Start a Python module of ours, which has to call `begin_child` first of all.

        Args:
            module: the module; nothing that lies in the current folder is ever imported.
            arguments: for its `sys.argv`.
            name: as above.
            limits: as above.
            log: as above.
            channel: whether `self.channel` leads to what `begin_child` returns there.
        """
        child = cls.__new__(cls)
        command = [sys.executable, "-P", "-m", module, *arguments]
        orders: dict[str, Any] = {"parent": os.getpid()}
        if limits is not None:
            orders["memory_bytes"] = limits.memory_bytes
            if limits.processor_seconds is not None:
                told = max(1, int(limits.processor_seconds))
                orders["processor_seconds"] = told, told + int(limits.grace_seconds) + 1
        ours, theirs = new_channel() if channel else (None, None)
        if theirs is not None:
            orders["channel"] = theirs.fileno()
        environment = os.environ | {_ORDERS_VARIABLE: json.dumps(orders)}
        try:
            descriptors = [] if theirs is None else [theirs.fileno()]
            child._begin(command, name, limits, log, environment, pass_fds=descriptors)
        except BaseException:
            if ours is not None:
                ours.close()
            raise
        finally:
            if theirs is not None:
                theirs.close()
        child.channel = ours
        return child

    @property
    def pid(self) -> int:
        """Its number, which is that of its group and its session, too."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Below 0 for a signal; None until `wait` has seen its end."""
        return self._process.returncode

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """Tell it to finish, once; after the time of grace, `wait` kills it."""
        with self._ending:
            if self._told_to_stop_at is None and self.exit_code is None:
                self._told_to_stop_at = time.monotonic()
                os.kill(self.pid, number)

    def kill(self, why: str = "it was killed") -> None:
        """Kill it, and everything in its group."""
        with self._ending:
            if self.exit_code is None:
                self._why_killed = self._why_killed or why
                signal_group(self.pid, signal.SIGKILL)

    def wait(self, seconds: float | None = POLL_SECONDS) -> bool:
        """Wait a little, and kill it if it takes more than it may; whether it has ended.

        Args:
            seconds: after which it is looked at; None: until it has ended, whatever it takes.
        """
        if self.exit_code is None and not self._wait_for_end(seconds):
            self._enforce_limits()
            return False
        with self._ending:
            if self.exit_code is None:
                # as long as it is not collected, its number is nobody else's
                signal_group(self.pid, signal.SIGKILL)
                self._process.wait()
                os.close(self._handle)
        return True

    def _wait_for_end(self, seconds: float | None) -> bool:
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(None if seconds is None else seconds * 1000))

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop it, wait for its end, and kill it where that takes longer than the time of grace."""
        if self.channel is not None:
            self.channel.close()
        self.stop(number)
        while not self.wait():
            continue

    def why_ended(self) -> str:
        """Why it ended, for one that was expected to do something else."""
        return self._why_killed or why_ended(self._name, self.exit_code)

    def _enforce_limits(self) -> None:
        limits, now = self._limits, time.monotonic()
        if limits.memory_bytes is not None and memory_of(self.pid) > limits.memory_bytes:
            self.kill(f"it took more than {limits.memory_bytes / 2**30:g} GiB of memory")
        elif limits.seconds is not None and now - self._started_at > limits.seconds:
            self.kill(f"it did not keep to its time limit and was ended after {limits.seconds:.0f} s")
        elif self._told_to_stop_at is not None and now - self._told_to_stop_at > limits.grace_seconds:
            self.kill("it did not stop when it was asked to")


def _begin_program(parent: int) -> None:
    """What a program does between fork and exec."""
    die_with_parent(parent)
    _heed_interrupts()


def _heed_interrupts() -> None:
    """What runs in the background ignores SIGINT and so would its children, which `stop` ends by it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def why_ended(name: str, exit_code: int | None) -> str:
    """Why a process ended that was expected to do something else."""
    if exit_code is not None and exit_code < 0:
        return f"{name} crashed: its process died of {signal.Signals(-exit_code).name}"
    return f"{name} ended its process (exit code {exit_code})"


def begin_child() -> Channel | None:
    """What a module that `ChildProcess.running` has started calls first: it takes its limits on.

    Returns:
        The channel to the parent, if there is one.
    """
    orders = json.loads(os.environ.pop(_ORDERS_VARIABLE))
    die_with_parent(orders["parent"])
    _heed_interrupts()
    if orders.get("memory_bytes") is not None:
        most = orders["memory_bytes"] + ADDRESS_SPACE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        be_killed_first()
    if orders.get("processor_seconds") is not None:
        resource.setrlimit(resource.RLIMIT_CPU, tuple(orders["processor_seconds"]))
    descriptor = orders.get("channel")
    return None if descriptor is None else Channel(socket.socket(fileno=descriptor))
