"""The keeper of a cluster: starts the master and the workers, looks after them, and ends them all.

A process of its own, `python -m berth.runtime.cluster.keeper FOLDER DESCRIPTOR`. What is wanted comes over
a channel. As long as the keeper is not told to stay, it ends everything when the channel is closed.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import FrameType

from berth.processes import (
    ENDING,
    Channel,
    ChildProcess,
    complaint_in,
    identity_of,
    run_guarded,
)
from berth.processes.system import descendants_of, signal_all, with_variable
from berth.runtime.cluster.daemons import Daemon, Daemons, Spark
from berth.runtime.cluster.folder import (
    ENDED,
    REQUEST_SECONDS,
    ClusterState,
    keep_logs,
    listen,
    read_state,
    remove,
    with_worker,
)
from berth.runtime.cluster.nodes import ask_master, resource_name

MASTER = ""
"""The master among the processes, which have the names of nodes otherwise; no node is called so."""
LOOK_SECONDS = 0.1
END_SECONDS = 5.0
ARCHIVE_SECONDS = 15.0


class Events:
    """Waits for several things at once. Signals are only noted, so nothing is ever left half done."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._signals, written = socket.socketpair()
        self._signals.setblocking(False)
        written.setblocking(False)
        self._written = written
        signal.set_wakeup_fd(written.fileno(), warn_on_full_buffer=False)
        for number in (*ENDING, signal.SIGCHLD):
            signal.signal(number, _note)
        self._selector.register(self._signals, selectors.EVENT_READ)

    def add(self, source: socket.socket | Channel) -> None:
        """Wait for this, too."""
        self._selector.register(source, selectors.EVENT_READ)

    def drop(self, source: socket.socket | Channel) -> None:
        """Don't wait for this any more."""
        self._selector.unregister(source)

    def wait(self, seconds: float | None) -> tuple[set[int], list[socket.socket | Channel]]:
        """Wait until something happens, or for so long: the signals that came, and what can be read."""
        ready = [key.fileobj for key, _ in self._selector.select(seconds)]
        numbers: set[int] = set()
        if self._signals in ready:
            numbers = set(self._signals.recv(4096))
        return numbers, [one for one in ready if one is not self._signals]  # type: ignore[misc]


def _note(_number: int, _frame: FrameType | None) -> None:
    """The number is written to the socket that is waited for; there is nothing else to do."""


class ToldToEnd(Exception):  # noqa: N818
    """By a signal, or because the other end of the channel is gone."""


class Failed(Exception):  # noqa: N818
    """The cluster can't start or go on; the text says why in one line."""


class Keeper:
    """The processes of one cluster and what becomes of them."""

    def __init__(self, channel: Channel, daemons: Daemons, seconds: float, state: ClusterState) -> None:
        self._channel: Channel | None = channel
        self._daemons = daemons
        self._start_seconds = seconds
        self._state = state
        self._nodes = {node.name: node for node in state.cluster.nodes}
        self._processes: dict[str, ChildProcess] = {}
        self._events = Events()
        self._events.add(channel)
        self._requests: socket.socket | None = None
        self._has_lost_workers = False
        self._reported = ""
        self._archiving: int | None = None
        """The worker that writes the archive of classes when it ends."""

    def run(self) -> int:
        """Start the cluster, look after it until the end, and end it.

        Returns:
            The exit code: 0 if nothing has failed.
        """
        failure = ""
        try:
            self._start()
            while True:
                self._wait(None)
        except ToldToEnd:
            print("told to end", flush=True)
        except Failed as error:
            failure = str(error)
            print(failure, flush=True)
        if failure:
            self._report_failure(failure)
        self._end()
        lost = self._has_lost_workers and not self._state.cluster.temporary
        return 1 if failure or lost else 0

    def _start(self) -> None:
        deadline = time.monotonic() + self._start_seconds
        self._report("starting the master")
        self._spawn(MASTER, self._daemons.master())
        while self._alive_nodes() is None:
            self._wait(LOOK_SECONDS)
            if time.monotonic() > deadline:
                raise Failed(self._with_complaint("the master doesn't answer", MASTER))
        for node in self._nodes:
            self._spawn_worker(node)
        self._await_workers(deadline)
        self._requests = listen(self._daemons.folder)
        self._events.add(self._requests)
        self._change(replace(self._state, ready=True))
        if self._channel is not None:
            self._channel.send({"ready": True})

    def _await_workers(self, deadline: float) -> None:
        """Wait until the master knows all workers."""
        missing = set(self._nodes)
        while missing:
            self._report(f"{len(self._nodes) - len(missing)} of {len(self._nodes)} workers are up")
            self._wait(LOOK_SECONDS)
            missing = set(self._nodes) - (self._alive_nodes() or set())
            for node in missing:
                if node not in self._processes:
                    raise Failed(self._with_complaint(f"the worker of node {node} doesn't start", node))
            if missing and time.monotonic() > deadline:
                raise Failed(
                    self._with_complaint(f"no worker of node {min(missing)} is there in time", min(missing))
                )

    def _alive_nodes(self) -> set[str] | None:
        """The nodes whose workers the master knows; None while it doesn't answer."""
        names = {resource_name(node): node for node in self._nodes}
        try:
            return set(ask_master(self._daemons.ui_url, names, self._daemons.secret).alive)
        except (OSError, ValueError):
            return None

    def _spawn_worker(self, node: str) -> None:
        archiving = self._archiving is None and not self._daemons.archive.file.exists()
        self._spawn(node, self._daemons.worker(self._nodes[node], archiving=archiving))
        if archiving:
            self._archiving = self._processes[node].pid

    def _spawn(self, name: str, daemon: Daemon) -> None:
        try:
            process = ChildProcess(daemon.command, log=daemon.log, environment=daemon.environment)
        except (OSError, subprocess.SubprocessError) as error:
            raise Failed(f"{daemon.command[0]} doesn't run: {error}") from error
        self._processes[name] = process
        identity = identity_of(process.pid)
        if name == MASTER:
            self._change(replace(self._state, master=identity))
        else:
            self._change(with_worker(self._state, name, identity))

    def _wait(self, seconds: float | None) -> None:
        """Wait until something happens, or for so many seconds, and deal with it.

        Raises:
            ToldToEnd: by a signal, or nobody holds the channel any more.
            Failed: the master is gone.
        """
        numbers, ready = self._events.wait(seconds)
        if numbers & ENDING:
            raise ToldToEnd
        if self._channel in ready:
            self._listen_to_starter()
        self._collect()
        if self._requests in ready:
            self._answer()

    def _listen_to_starter(self) -> None:
        assert self._channel is not None
        message = self._channel.receive(REQUEST_SECONDS)
        if message is None:
            raise ToldToEnd
        if message.get("do") == "stay":
            self._events.drop(self._channel)
            self._channel.close()
            self._channel = None

    def _collect(self) -> None:
        """Take note of every process that has ended."""
        names = {process.pid: name for name, process in self._processes.items()}
        ended = os.WEXITED | os.WNOHANG
        with suppress(ChildProcessError):
            while (child := os.waitid(os.P_ALL, 0, ended | os.WNOWAIT)) is not None:
                if child.si_pid not in names:
                    # an orphan that came to us
                    os.waitid(os.P_PID, child.si_pid, ended)
                    continue
                if child.si_pid == self._archiving:
                    self._archiving = None
                name = names[child.si_pid]
                process = self._processes.pop(name)
                process.wait(None)
                code = process.exit_code
                assert code is not None
                if name == MASTER:
                    raise Failed(self._why_master_ended(code))
                self._lose(name, code)

    def _why_master_ended(self, code: int) -> str:
        if code < 0:
            return f"its master was killed by signal {-code}"
        ended = f"its master ended with exit code {code}" if self._state.ready else "the master doesn't start"
        return self._with_complaint(ended, MASTER)

    def _lose(self, node: str, code: int) -> None:
        """A worker has ended by itself: so must its executors."""
        print(f"the worker of node {node} ended: exit code {code}, below 0 a signal", flush=True)
        self._has_lost_workers = True
        self._kill_orphans_of(node)
        self._change(with_worker(self._state, node, None))

    def _kill_orphans_of(self, node: str) -> None:
        ours = set(with_variable("BERTH_NODE", node)) & set(descendants_of(os.getpid()))
        daemons = {process.pid for process in self._processes.values()}
        signal_all(sorted(ours - daemons), signal.SIGKILL)

    def _answer(self) -> None:
        """Take one request. Whoever asks and doesn't go on is not waited for."""
        assert self._requests is not None
        connection, _ = self._requests.accept()
        with connection:
            asking = Channel(connection)
            try:
                request = asking.receive(REQUEST_SECONDS)
            except (TimeoutError, ValueError):
                return
            if request is not None and request.get("do") == "revive":
                asking.send(self._revive(request.get("node", "")))

    def _revive(self, node: str) -> dict[str, str]:
        if node not in self._nodes:
            return {"error": "no such node"}
        hanging = self._processes.pop(node, None)
        if hanging is not None:
            hanging.kill()
            hanging.wait(None)
            self._kill_orphans_of(node)
        try:
            self._spawn_worker(node)
        except Failed as error:
            return {"error": str(error)}
        return {}

    def _end(self) -> None:
        """Tell all processes to end; those that take too long are killed afterwards."""
        self._change(replace(self._state, ready=False))
        signal_all(descendants_of(os.getpid()), signal.SIGTERM)
        deadline = time.monotonic() + (END_SECONDS if self._archiving is None else ARCHIVE_SECONDS)
        with suppress(ChildProcessError):
            while time.monotonic() < deadline:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
                if ended is None:
                    self._events.wait(LOOK_SECONDS)
                elif ended.si_pid == self._archiving and ended.si_code == os.CLD_EXITED:
                    self._daemons.archive.take(self._daemons.archive_aside)

    def _report(self, text: str) -> None:
        if self._channel is not None and text != self._reported:
            self._reported = text
            self._channel.send({"step": text})

    def _report_failure(self, failure: str) -> None:
        """To the one who is waiting for the start; else to whoever looks later."""
        if self._channel is None or self._state.ready or not self._channel.send({"error": failure}):
            (self._daemons.folder / ENDED).write_text(failure + "\n")

    def _with_complaint(self, text: str, name: str) -> str:
        """What has happened, with what the process that it happened to complains of in its log."""
        log = self._daemons.log("master" if name == MASTER else resource_name(name))
        words = complaint_in(log)
        return f"{text}: {words} (its log: {log})" if words else f"{text} (its log: {log})"

    def _change(self, state: ClusterState) -> None:
        self._state = state
        state.write()


def keep(folder: Path, channel: Channel) -> int:
    """Be the keeper: wait for what is wanted, and run it."""
    message = channel.receive()
    state = read_state(folder)
    if message is None or state is None:
        return 0
    spark, secret = Spark(**message["spark"]), state.cluster.secret()
    daemons = Daemons(spark, folder, message["port"], message["ui_port"], secret)
    return Keeper(channel, daemons, message["seconds"], state).run()


def main() -> None:
    """Leave the process that started us, and go on as guard and keeper."""
    folder, descriptor = Path(sys.argv[1]), int(sys.argv[2])
    if os.fork():
        os._exit(0)
    channel = Channel(socket.socket(fileno=descriptor))
    identity = identity_of(os.getpid())
    assert identity is not None
    channel.send(asdict(identity))
    run_guarded(partial(keep, folder, channel), in_guard=channel.drop, clean_up=partial(_clear, folder))


def _clear(folder: Path, code: int) -> None:
    """Remove what a cluster has left on disk; after a failure its logs stay."""
    if code < 0:
        (folder / ENDED).write_text(f"its keeper was killed by signal {-code}\n")
    if code == 0:
        remove(folder)
    else:
        keep_logs(folder)


if __name__ == "__main__":
    main()
