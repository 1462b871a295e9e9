"""What is known of clusters on disk: a folder for each, with `cluster.json`, logs and the workers' files.

Whoever holds the lock may claim a name or clear what a crash left. `cluster.json` appears when the name is
claimed and goes when no process of the cluster is left. A socket in the folder leads to the cluster's keeper.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from berth.disk import private_folder, replace_file
from berth.processes import Channel, ProcessIdentity
from berth.processes.system import signal_all, with_variable
from berth.runtime.cluster.nodes import Cluster, ClusterNode

HOME_VARIABLE = "BERTH_HOME"
TOKEN_VARIABLE = "BERTH_CLUSTER"
"""The environment variable of all processes of a cluster; its value is the cluster's own."""

STATE = "cluster.json"
ENDED = "ended.txt"
"""Why a cluster ended that nobody had told to."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 60
_CLEAR_SECONDS = 5.0
SOCKET = "control"
REQUEST_SECONDS = 2.0
ANSWER_SECONDS = 30.0


@dataclass(frozen=True)
class ClusterState:
    """A cluster as its file has it."""

    cluster: Cluster
    keeper: ProcessIdentity
    token: str
    ready: bool = False
    host: str = field(default_factory=socket.gethostname)
    master: ProcessIdentity | None = None
    workers: dict[str, ProcessIdentity] = field(default_factory=dict)
    """The process of every node's worker; a node whose worker has died is left out."""

    def write(self) -> None:
        """Write the file, whole or not at all."""
        text = json.dumps(asdict(self), indent=2, default=str) + "\n"
        replace_file(self.cluster.folder / STATE, text.encode())

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is on another machine that shares the folder: its processes can't be seen from here."""
        return self.host != socket.gethostname()

    def has_ended(self) -> bool:
        """Whether nothing looks after it any more."""
        return not self.is_elsewhere and not self.keeper.is_running()


def clusters_folder() -> Path:
    """Where the clusters' folders are: `~/.berth/clusters`, unless BERTH_HOME says otherwise."""
    return Path(os.environ.get(HOME_VARIABLE) or Path.home() / ".berth").absolute() / "clusters"


def safe_name(text: str) -> str:
    """A name as a folder can have it."""
    return _UNSAFE.sub("-", text).strip(".-")[:_LONGEST_NAME] or "cluster"


def read_state(folder: Path) -> ClusterState | None:
    """What the folder's file says; None if there is none, or not one of ours."""
    try:
        document = json.loads((folder / STATE).read_text())
        return _state_from(document, folder)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def all_states() -> list[ClusterState]:
    """Every cluster of this machine that something looks after, ready or not, by name."""
    states = [read_state(folder) for folder in _folders()]
    return [state for state in states if state and not state.is_elsewhere and not state.has_ended()]


def endings() -> dict[Path, str]:
    """Why clusters ended by themselves, by their folders: until they are stopped or started again."""
    ended = [folder for folder in _folders() if (folder / ENDED).exists()]
    return {folder: (folder / ENDED).read_text().strip() for folder in ended}


def forget_endings() -> None:
    """Remove what is left of clusters that ended by themselves, or never came up."""
    if clusters_folder().exists():
        with locked():
            for folder in _folders():
                if not (folder / STATE).exists():
                    remove(folder)


@contextmanager
def locked() -> Iterator[None]:
    """Nobody else claims a name or clears a folder in the meantime."""
    home = clusters_folder()
    private_folder(home.parent)
    private_folder(home).chmod(0o700)
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def clear_ended() -> None:
    """Clear the folders of clusters whose keeper was killed, and end what such a cluster may have left.

    So are folders that somebody was just removing when he was killed.

    The caller holds the lock. A cluster that says why it ended is left as it is, for its user to read.
    """
    for folder in _folders():
        state = read_state(folder)
        if state is not None and state.has_ended():
            clear(folder, state)
    for aside in clusters_folder().glob(".*.*"):
        if aside.is_dir() and not aside.is_symlink() and not _is_at_work(aside):
            shutil.rmtree(aside, ignore_errors=True)


def clear(folder: Path, state: ClusterState | None) -> None:
    """Remove a folder of a cluster that has ended, and end the last of its processes."""
    if state is not None:
        deadline = time.monotonic() + _CLEAR_SECONDS
        while (left := with_variable(TOKEN_VARIABLE, state.token)) and time.monotonic() < deadline:
            signal_all(left, signal.SIGKILL)
            time.sleep(0.02)
    remove(folder)


def remove(folder: Path) -> None:
    """Remove a cluster's folder: for others it is gone at once."""
    aside = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _is_at_work(aside: Path) -> bool:
    """Whether the process that removes this folder is there; its number is the end of the name."""
    return Path("/proc", aside.name.rpartition(".")[2]).exists()


def keep_logs(folder: Path) -> None:
    """Remove all but the logs, and why the cluster ended, of a cluster that has failed."""
    for entry in folder.iterdir():
        if entry.name in ("logs", ENDED, STATE):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    (folder / STATE).unlink(missing_ok=True)


def with_worker(state: ClusterState, node: str, identity: ProcessIdentity | None) -> ClusterState:
    """The state with another process as a node's worker, or with none."""
    workers = {name: worker for name, worker in state.workers.items() if name != node}
    return replace(state, workers=workers if identity is None else workers | {node: identity})


def _folders() -> list[Path]:
    try:
        entries = sorted(clusters_folder().iterdir())
    except OSError:
        return []
    return [entry for entry in entries if not entry.name.startswith(".")]


def _state_from(document: dict[str, Any], folder: Path) -> ClusterState:
    described = dict(document["cluster"])
    nodes = tuple(ClusterNode(**node) for node in described.pop("nodes"))
    cluster = Cluster(**described | {"nodes": nodes, "folder": folder})
    return ClusterState(
        cluster=cluster,
        keeper=ProcessIdentity(**document["keeper"]),
        token=document["token"],
        ready=document["ready"],
        host=document["host"],
        master=ProcessIdentity(**document["master"]) if document["master"] else None,
        workers={node: ProcessIdentity(**identity) for node, identity in document["workers"].items()},
    )


def listen(folder: Path) -> socket.socket:
    """The keeper's end."""
    listener = socket.socket(socket.AF_UNIX)
    with _short(folder) as path:
        listener.bind(path)
    listener.listen()
    return listener


def ask_keeper(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request and wait for its answer.

    Raises:
        OSError: no keeper answers.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(ANSWER_SECONDS)
        with _short(folder) as path:
            connection.connect(path)
        channel = Channel(connection)
        channel.send(request)
        answer = channel.receive(ANSWER_SECONDS)
    if answer is None:
        raise ConnectionResetError("the keeper hung up")
    return answer


@contextmanager
def _short(folder: Path) -> Iterator[str]:
    """The socket's path by way of the open folder: addresses of sockets have 107 characters at most."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)
