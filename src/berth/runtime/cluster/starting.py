"""Starting a cluster: a name is claimed, a keeper started, and waited for until all workers are there."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from berth.model import BadInput, Problem
from berth.processes import Channel, ProcessIdentity, complaint_in, new_channel
from berth.runtime.cluster.daemons import ADDRESS, Spark, master_url_at, ui_url_at
from berth.runtime.cluster.folder import (
    TOKEN_VARIABLE,
    ClusterState,
    clear,
    clusters_folder,
    locked,
    read_state,
    safe_name,
)
from berth.runtime.cluster.nodes import EXECUTOR_MB, Cluster, ClusterNode, cluster_node, resource_name
from berth.runtime.cluster.secret import new_secret_file

DAEMON_MB = 220
"""What a master or a worker takes, as seen with 8 workers."""

MOST_SLOTS = 1000
MOST_MEMORY_MB = 2**30
Report = Callable[[str], None]
START_SECONDS = 60.0
START_SECONDS_PER_NODE = 15.0
END_SECONDS = 20.0


def cluster_nodes(problem: Problem) -> tuple[ClusterNode, ...]:
    """A node of a cluster for every node of the problem that hosts operators.

    Raises:
        BadInput: no node does, two would have the same resource, or one has more than Spark can count.
    """
    nodes = []
    mistakes = []
    for node in problem.network.nodes:
        if not node.hosts:
            continue
        room = cluster_node(node)
        if room.slots > MOST_SLOTS:
            mistakes.append(
                f"node {node.name}: a capacity of {room.slots:,} cpu means as many tasks at a time; "
                f"a worker can have {MOST_SLOTS:,} at most"
            )
        if room.memory_mb > MOST_MEMORY_MB:
            mistakes.append(
                f"node {node.name}: {room.memory_mb:,} MB of memory are more than Spark can count"
            )
        nodes.append(room)
    if not nodes:
        mistakes.append(
            f"problem {problem.name}: none of its nodes hosts operators, so there is no worker to start"
        )
    mistakes += _clashes(nodes)
    if mistakes:
        raise BadInput(mistakes)
    return tuple(nodes)


def check_memory(nodes: int, available_mb: int) -> None:
    """Make sure that the daemons and an executor on every node fit in here.

    Raises:
        BadInput: they don't.
    """
    needed = DAEMON_MB + nodes * (DAEMON_MB + EXECUTOR_MB)
    if needed > available_mb:
        raise BadInput(
            f"{nodes} nodes with an executor each need about {needed:,} MB of memory, and this machine "
            f"has {available_mb:,} MB: take a problem with fewer nodes, or a larger machine"
        )


def _clashes(nodes: list[ClusterNode]) -> list[str]:
    users = defaultdict(list)
    for node in nodes:
        users[resource_name(node.name)].append(node.name)
    return [
        f"nodes {' and '.join(names)}: both would offer the resource {resource}; rename one of them"
        for resource, names in users.items()
        if len(names) > 1
    ]


def no_report(_text: str) -> None:
    """Say nothing about how far it is."""


def start_cluster(
    problem: Problem,
    name: str | None = None,
    port: int = 0,
    report: Report = no_report,
    *,
    encrypt: bool = False,
) -> Cluster:
    """Start a cluster with a worker for every node of the problem; it outlives this process.

    Until all workers are there it doesn't: whatever ends this process before ends the cluster, too.

    Args:
        problem: its nodes that host operators get a worker each.
        name: of the cluster; None: the problem's.
        port: of the master; 0: one that is free.
        report: is told how far it is.
        encrypt: whether its processes, and applications there, encrypt what they say and what they shuffle.

    Raises:
        BadInput: the name or the port is taken, Java or memory is missing, or a daemon doesn't start.
    """
    held = _start(problem, name or safe_name(problem.name), port, report, encrypt=encrypt)
    try:
        if not held.channel.send({"do": "stay"}):
            raise BadInput(_ended(held.cluster.folder))
    except BaseException:
        held.end()
        raise
    held.channel.close()
    return held.cluster


@contextmanager
def temporary_cluster(problem: Problem, report: Report = no_report) -> Iterator[Cluster]:
    """A cluster for the time of a `with` block; it ends with this process, however that ends.

    Raises:
        BadInput: as for `start_cluster`.
    """
    name = f"{safe_name(problem.name)}-{os.getpid()}-{secrets.token_hex(2)}"
    held = _start(problem, name, 0, report, temporary=True)
    try:
        yield held.cluster
    finally:
        held.end()


@dataclass(frozen=True)
class _Held:
    """A cluster that ends when its channel is closed."""

    cluster: Cluster
    keeper: ProcessIdentity
    channel: Channel

    def end(self) -> None:
        """Close the channel, and wait until all is gone."""
        self.channel.close()
        self.keeper.wait_gone(END_SECONDS)


def _start(
    problem: Problem, name: str, port: int, report: Report, *, temporary: bool = False, encrypt: bool = False
) -> _Held:
    if name != safe_name(name):
        raise BadInput(f"--name {name}: letters, digits, '.', '_' and '-' only, and 60 of them at most")
    nodes = cluster_nodes(problem)
    _check_port(port)
    spark = _spark(len(nodes))
    free, ui_port = _free_ports(2)
    port = port or free
    folder = clusters_folder() / name
    held = _claim(Cluster(name, master_url_at(port), ui_url_at(ui_port), folder, nodes, temporary, encrypt))
    try:
        _await_ready(held, {"spark": asdict(spark), "port": port, "ui_port": ui_port}, report)
    except BaseException:
        held.end()
        raise
    return held


def _claim(cluster: Cluster) -> _Held:
    """Make the folder and the keeper of a cluster: from here on the name is taken."""
    folder, token = cluster.folder, secrets.token_hex(16)
    with locked():
        state = read_state(folder)
        if state is not None and not state.has_ended():
            raise BadInput(_taken(state))
        clear(folder, state)
        folder.mkdir(mode=0o700)
        (folder / "logs").mkdir()
        new_secret_file(folder)
        channel, theirs = new_channel()
        try:
            keeper = _start_keeper(folder, token, channel, theirs)
            ClusterState(cluster, keeper, token).write()
        except BaseException:
            channel.close()
            raise
    return _Held(cluster, keeper, channel)


def _start_keeper(folder: Path, token: str, channel: Channel, theirs: socket.socket) -> ProcessIdentity:
    """Start a keeper that waits to be told what to start."""
    with theirs, (folder / "logs" / "keeper.log").open("ab") as log:
        # it forks the keeper and is gone: nobody has to collect it later
        subprocess.run(
            [sys.executable, "-P", "-m", "berth.runtime.cluster.keeper", str(folder), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=_environment(token),
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            check=False,
        )
    introduction = channel.receive(START_SECONDS)
    if introduction is None:
        raise BadInput(_ended(folder))
    return ProcessIdentity(**introduction)


def _environment(token: str) -> dict[str, str]:
    """Ours, for a process that is elsewhere: relative paths would lead it nowhere."""
    environment = os.environ | {TOKEN_VARIABLE: token}
    for key in ("PYTHONPATH", "SPARK_CONF_DIR", "JAVA_HOME"):
        if environment.get(key):
            parts = environment[key].split(os.pathsep)
            environment[key] = os.pathsep.join(map(os.path.abspath, parts))
    return environment


def _await_ready(held: _Held, wanted: dict[str, Any], report: Report) -> None:
    seconds = START_SECONDS + START_SECONDS_PER_NODE * len(held.cluster.nodes)
    held.channel.send(wanted | {"seconds": seconds})
    message: dict[str, Any] | None = {}
    while message is not None and "ready" not in message:
        message = held.channel.receive(seconds + START_SECONDS)
        if message is not None and "step" in message:
            report(message["step"])
        if message is not None and "error" in message:
            raise BadInput(message["error"])
    if message is None:
        raise BadInput(_ended(held.cluster.folder))


def _spark(nodes: int) -> Spark:
    """Where Spark and Java are; pyspark is loaded here and not before."""
    from berth.spark.machine import check_java, memory_bytes
    from berth.spark.settings import check_environment, spark_home

    check_environment()
    check_java()
    check_memory(nodes, memory_bytes() // 2**20)
    home = spark_home().absolute()
    cores = [jar.name for jar in home.glob("jars/spark-core_*.jar")]
    if not cores:
        raise BadInput(f"{home}: no Spark there")
    java_home = os.environ.get("JAVA_HOME")
    java = os.path.join(java_home, "bin", "java") if java_home else shutil.which("java") or "java"
    return Spark(os.path.abspath(java), str(home), cores[0].removeprefix("spark-core_").partition("-")[0])


def _check_port(port: int) -> None:
    """Refuse a port that somebody has: Spark would take another one, or end with a riddle."""
    if port == 0:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
            probe.listen()
        except OverflowError:
            raise BadInput(f"--port {port}: ports are numbers from 1 to 65535") from None
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                reason = "is in use"
            else:
                reason = f"can't be used: {(error.strerror or str(error)).lower()}"
            way_out = "give another one with --port, or none to get one that is free"
            raise BadInput(f"port {port} on {ADDRESS} {reason}; {way_out}") from error


def _free_ports(number: int) -> list[int]:
    probes = [socket.socket() for _ in range(number)]
    try:
        for probe in probes:
            probe.bind((ADDRESS, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _taken(state: ClusterState) -> str:
    name = state.cluster.name
    if state.is_elsewhere:
        return (
            f"cluster {name} runs on {state.host}; give another --name (its folder: {state.cluster.folder})"
        )
    if not state.ready:
        return f"cluster {name} is just being started or ended: wait for that, or give another --name"
    return f"cluster {name} runs already; stop it with: berth cluster stop {name}, or give another --name"


def _ended(folder: Path) -> str:
    log = folder / "logs" / "keeper.log"
    words = complaint_in(log)
    return f"the cluster's keeper ended{': ' if words else ''}{words} (its log: {log})"
