"""The folders of clusters, and the socket in them by which a keeper is asked."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from berth.processes import Channel, ProcessIdentity, identity_of
from berth.runtime.cluster.access import running_clusters, stop_cluster
from berth.runtime.cluster.folder import (
    ENDED,
    TOKEN_VARIABLE,
    ClusterState,
    ask_keeper,
    clusters_folder,
    endings,
    forget_endings,
    keep_logs,
    listen,
    read_state,
    safe_name,
    with_worker,
)
from berth.runtime.cluster.nodes import Cluster, ClusterNode


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BERTH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is marked as one of the cluster's."""
    process = subprocess.Popen(["sleep", "600"], env={**os.environ, TOKEN_VARIABLE: "secret"})
    yield process
    process.kill()
    process.wait()


def us() -> ProcessIdentity:
    identity = identity_of(os.getpid())
    assert identity is not None
    return identity


def written(name: str = "small", keeper: ProcessIdentity | None = None) -> ClusterState:
    folder = clusters_folder() / name
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "master.log").write_text("words\n")
    (folder / "work" / "node_rome").mkdir(parents=True)
    nodes = (ClusterNode("rome", 2, 512), ClusterNode("paris", 1, 700))
    cluster = Cluster(name, "spark://127.0.0.1:7077", "http://127.0.0.1:8080", folder, nodes)
    state = ClusterState(cluster, keeper or us(), "secret", ready=True, master=us(), workers={"rome": us()})
    state.write()
    return state


@pytest.mark.parametrize(
    ("text", "name"),
    [("edge-cameras", "edge-cameras"), ("..", "cluster"), ("größe:1", "gr-e-1"), ("a" * 100, "a" * 60)],
)
def test_names_of_folders(text: str, name: str) -> None:
    """Whatever a problem is called, its cluster has a folder in the right place."""
    assert safe_name(text) == name
    assert safe_name(name) == name


def test_the_file_says_it_all() -> None:
    """What was written is read, and nothing is left beside the file."""
    state = written()
    assert read_state(state.cluster.folder) == state
    assert sorted(path.name for path in state.cluster.folder.iterdir()) == ["cluster.json", "logs", "work"]
    lost = with_worker(state, "rome", None)
    assert lost.workers == {}
    assert with_worker(lost, "rome", us()) == state


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"cluster": 1}'])
def test_a_file_that_is_none_of_ours(text: str) -> None:
    """It is no cluster, and no error either."""
    folder = clusters_folder() / "small"
    folder.mkdir(parents=True)
    (folder / "cluster.json").write_text(text)
    assert read_state(folder) is None
    assert running_clusters() == []


def test_running_clusters(home: Path) -> None:
    """Those that something looks after, and that are ready."""
    assert running_clusters() == []
    # to look is not to leave anything
    assert list(home.iterdir()) == []
    first, second = written("first"), written("second")
    replace(written("third"), ready=False).write()
    assert running_clusters() == [first.cluster, second.cluster]


def test_what_a_crash_left_is_cleared(sleeper: subprocess.Popen[bytes]) -> None:
    """The folder of a keeper that is gone goes, and so does the last of its processes."""
    number_used_again = ProcessIdentity(os.getpid(), us().started + "0")
    state = written(keeper=number_used_again)
    kept = written("other")
    assert running_clusters() == [kept.cluster]
    assert not state.cluster.folder.exists()
    assert sleeper.wait(timeout=5) == -9


def test_a_cluster_of_another_machine_is_left_alone(sleeper: subprocess.Popen[bytes]) -> None:
    """A home that machines share: nobody here can tell whether its keeper lives."""
    state = replace(written(keeper=ProcessIdentity(1, "long ago")), host="elsewhere")
    state.write()
    assert running_clusters() == []
    assert stop_cluster(state.cluster) is None
    assert read_state(state.cluster.folder) == state
    assert sleeper.poll() is None


def test_stopping_what_has_ended() -> None:
    """It is stopped already; its folder goes."""
    state = written(keeper=ProcessIdentity(os.getpid(), "long ago"))
    assert stop_cluster(state.cluster) is None
    assert not state.cluster.folder.exists()
    assert stop_cluster(state.cluster) is None


def test_why_a_cluster_ended() -> None:
    """The logs and the reason stay, until they are forgotten."""
    folder = written().cluster.folder
    (folder / ENDED).write_text("its master was killed by signal 9\n")
    keep_logs(folder)
    assert sorted(path.name for path in folder.iterdir()) == [ENDED, "logs"]
    assert running_clusters() == []
    assert endings() == {folder: "its master was killed by signal 9"}
    assert (folder / "logs" / "master.log").read_text() == "words\n"
    never_up = clusters_folder() / "never-up" / "logs"
    never_up.mkdir(parents=True)
    running = written("other").cluster
    forget_endings()
    assert [path.name for path in clusters_folder().glob("[!.]*")] == ["other"]
    assert running_clusters() == [running]


def test_requests_in_a_folder_with_a_long_name(tmp_path: Path) -> None:
    """A socket's address is short, a folder's path may be long."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    with listen(folder) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                channel = Channel(connection)
                channel.send({"heard": channel.receive(5)})

        thread = threading.Thread(target=answer)
        thread.start()
        assert ask_keeper(folder, {"do": "revive"}) == {"heard": {"do": "revive"}}
        thread.join()
    with pytest.raises(ConnectionRefusedError):
        ask_keeper(folder, {})
