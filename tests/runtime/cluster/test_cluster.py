"""Real clusters: their workers, what becomes of them when something is killed, and that nothing stays."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from berth.model import BadInput
from berth.runtime.cluster.access import (
    cluster_for,
    page_of,
    revive,
    running_clusters,
    stop_cluster,
)
from berth.runtime.cluster.folder import ClusterState, endings, read_state
from berth.runtime.cluster.nodes import Cluster, Worker
from berth.runtime.cluster.secret import FILE
from berth.runtime.cluster.starting import start_cluster, temporary_cluster
from tests.runtime.cluster.small import commands_of, processes_of, small_problem, wait_until

pytestmark = pytest.mark.spark

HOLDER = """
import sys, time
from berth.runtime.cluster.starting import temporary_cluster
from tests.runtime.cluster.small import small_problem
with temporary_cluster(small_problem()) as cluster:
    print(cluster.name, flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where these clusters live; whatever the tests do, nothing is left there at the end."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERTH_HOME", str(folder))
        yield folder
        for cluster in running_clusters():
            stop_cluster(cluster)
    left = processes_of(folder)
    for process in left:
        process.kill()
    assert left == []


@pytest.fixture(scope="module")
def cluster(home: Path) -> Cluster:
    """One that several tests look at; stopped with the rest."""
    return start_cluster(small_problem(), "shared")


def state_of(cluster: Cluster) -> ClusterState:
    state = read_state(cluster.folder)
    assert state is not None
    return state


def by_node(cluster: Cluster) -> dict[str, Worker]:
    return {worker.node: worker for worker in page_of(cluster).workers}


def busy_on(node: str, home: Path) -> list[psutil.Process]:
    """The processes of a node, if an executor with a Python worker is among them."""
    found, commands = processes_of(home, node), commands_of(home, node)
    ready = any("pyspark.worker" in text or "pyspark/daemon" in text for text in commands)
    return found if ready and any("CoarseGrainedExecutorBackend" in text for text in commands) else []


def test_every_node_has_its_worker(cluster: Cluster) -> None:
    """With its resource, its slots and one to spare; the cluster is found by name and for its problem."""
    workers = by_node(cluster)
    assert {
        node: (worker.alive, worker.slots, worker.cores, worker.memory_mb) for node, worker in workers.items()
    } == {
        "rome": (True, 3, 3, 953 + 512),
        "paris.eu": (True, 2, 2, 512 + 512),
    }
    assert running_clusters() == [cluster]
    assert cluster_for(small_problem()) == cluster
    assert cluster_for(small_problem(nodes=[{"name": "rome", "capacity": {"cpu": 3}}], links=[])) is None
    assert cluster_for(small_problem(nodes=[{"name": "tokyo"}], links=[])) is None


def test_everything_is_for_this_machine_only(cluster: Cluster, home: Path) -> None:
    """No port of the cluster is open to others."""
    listening = [
        connection.laddr.ip
        for process in processes_of(home)
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 6
    assert {address.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}


def test_a_second_one_of_the_name(cluster: Cluster) -> None:
    """It is refused, with the way out, and the first one goes on."""
    with pytest.raises(
        BadInput, match="cluster shared runs already; stop it with: berth cluster stop shared"
    ):
        start_cluster(small_problem(), "shared")
    assert len(by_node(cluster)) == 2


def test_a_worker_that_dies_is_dead_until_it_is_revived(cluster: Cluster) -> None:
    """The rest goes on; the revived one is another process of the same node."""
    before = state_of(cluster).workers
    with pytest.raises(BadInput, match="node rome is up"):
        revive(cluster, "rome")
    os.kill(before["rome"].pid, signal.SIGKILL)
    assert wait_until(lambda: "rome" not in state_of(cluster).workers, 5)
    assert wait_until(lambda: not by_node(cluster)["rome"].alive, 5)
    assert by_node(cluster)["paris.eu"].alive
    assert cluster_for(small_problem()) is None
    revive(cluster, "rome")
    assert by_node(cluster)["rome"].alive
    after = state_of(cluster).workers
    assert after["rome"] != before["rome"]
    assert after["paris.eu"] == before["paris.eu"]
    with pytest.raises(BadInput, match="no node named 'roma'; did you mean 'rome'"):
        revive(cluster, "roma")


def test_logs_are_kept_where_something_failed(cluster: Cluster, home: Path) -> None:
    """The worker that died above is a reason to read them."""
    logs = stop_cluster(cluster)
    assert logs == cluster.folder / "logs"
    assert logs.joinpath("node_rome.log").exists()
    assert [path.name for path in cluster.folder.iterdir()] == ["logs"]
    assert processes_of(home) == []
    assert running_clusters() == []


@contextmanager
def long_job(cluster: Cluster, words: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A driver whose tasks don't end; it is no process of the cluster's home."""
    environment = {key: value for key, value in os.environ.items() if key != "BERTH_HOME"}
    program = str(Path(__file__).with_name("long_job.py"))
    command = [sys.executable, program, cluster.master_url, str(cluster.folder / FILE)]
    with words.open("wb") as log:
        driver = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield driver
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()


def test_an_application_dies_with_what_it_runs_on(home: Path, tmp_path: Path) -> None:
    """A killed worker takes its executors and their Python workers with it, a killed keeper takes all."""
    words = tmp_path / "driver.log"
    with temporary_cluster(small_problem()) as cluster, long_job(cluster, words) as driver:
        both_busy = lambda: busy_on("rome", home) and busy_on("paris.eu", home)  # noqa: E731
        wait_until(lambda: both_busy() or driver.poll() is not None, 120)
        assert both_busy(), words.read_text()
        doomed = busy_on("rome", home)
        os.kill(state_of(cluster).workers["rome"].pid, signal.SIGKILL)
        assert wait_until(lambda: not any(process in processes_of(home) for process in doomed), 5)
        assert busy_on("paris.eu", home)
        (keeper,) = psutil.Process(state_of(cluster).keeper.pid).children()
        keeper.kill()
        assert wait_until(lambda: processes_of(home) == [], 5)
    assert running_clusters() == []
    assert "its keeper was killed by signal 9" in endings().values()


def kill_guard(state: ClusterState) -> None:
    os.kill(state.keeper.pid, signal.SIGKILL)


def kill_guard_and_keeper(state: ClusterState) -> None:
    (keeper,) = psutil.Process(state.keeper.pid).children()
    os.kill(state.keeper.pid, signal.SIGKILL)
    keeper.kill()


def kill_master(state: ClusterState) -> None:
    assert state.master is not None
    os.kill(state.master.pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_guard, kill_guard_and_keeper, kill_master])
def test_whoever_is_killed_nobody_is_left(kill: Callable[[ClusterState], None], home: Path) -> None:
    """No orphan, and no cluster in the list; the name is free again."""
    with temporary_cluster(small_problem(nodes=[{"name": "rome"}], links=[])) as cluster:
        kill(state_of(cluster))
        # a killed process loses its environment, by which we know it, a moment before it has ended
        assert wait_until(lambda: processes_of(home) == [] == running_clusters(), 8)
    if kill is kill_master:
        assert cluster.folder in endings()
    else:
        assert not cluster.folder.exists()


def test_a_temporary_cluster_dies_with_its_process(home: Path) -> None:
    """SIGKILL of the process that holds it; until then it is its alone."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None
        name = holder.stdout.readline().strip()
        (cluster,) = running_clusters()
        assert (cluster.name, cluster.temporary) == (name, True)
        assert cluster_for(small_problem()) is None
        holder.kill()
    assert wait_until(lambda: processes_of(home) == [], 8)
    assert not cluster.folder.exists()
