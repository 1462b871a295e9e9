"""The way to clusters: those that run on this machine, and the one that an application runs on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from berth.model import BadInput, Problem
from berth.model.errors import did_you_mean
from berth.processes import complaint_in
from berth.runtime.cluster.folder import (
    all_states,
    ask_keeper,
    clear,
    clear_ended,
    clusters_folder,
    locked,
    read_state,
)
from berth.runtime.cluster.nodes import (
    Cluster,
    MasterPage,
    Worker,
    ask_master,
    cluster_node,
    master_document,
    resource_name,
)
from berth.runtime.cluster.secret import FILE_VARIABLE, Secret, read_secret
from berth.runtime.cluster.starting import cluster_nodes, temporary_cluster

STOP_SECONDS = 20.0
REVIVE_SECONDS = 60.0
LOOK_SECONDS = 0.1
_DEFAULT_UI_PORT = 8080
_GUESS_SECONDS = 2.0


def running_clusters() -> list[Cluster]:
    """The clusters of this user that run on this machine, by name; what crashed ones left is cleared."""
    if not clusters_folder().exists():
        return []
    with locked():
        clear_ended()
        return [state.cluster for state in all_states() if state.ready]


def cluster_for(problem: Problem) -> Cluster | None:
    """A running cluster with a worker up, and enough slots, for every hosting node of the problem.

    Temporary ones belong to other commands, and are left out.
    """
    needed = {node.name: node.slots for node in cluster_nodes(problem)}
    for cluster in running_clusters():
        offered = {node.name: node.slots for node in cluster.nodes}
        if cluster.temporary or any(offered.get(name, 0) < slots for name, slots in needed.items()):
            continue
        try:
            page = page_of(cluster)
        except BadInput:
            # it ends in this moment
            continue
        if needed.keys() <= page.alive:
            return cluster
    return None


def page_of(cluster: Cluster) -> MasterPage:
    """What the master of a cluster of berth's says.

    Raises:
        BadInput: it doesn't answer.
    """
    return page_at(cluster.ui_url, cluster.secret(), cluster.node_names)


def page_at(ui_url: str, secret: Secret | None = None, nodes: Iterable[str] = ()) -> MasterPage:
    """The workers that offer nodes' resources, and the applications, as the master lists them.

    A worker that the master doesn't list is not there; one that it lists as anything but alive is not alive.
    Dead ones are left out once another worker of their node is alive.

    Args:
        ui_url: `http://host:port`, the master's web page.
        secret: the cluster's, where there is one.
        nodes: names of nodes, where they are known: other names are read from those of the resources.

    Raises:
        BadInput: the master doesn't answer.
    """
    try:
        return ask_master(ui_url, {resource_name(node): node for node in nodes}, secret)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    except ValueError as error:
        reason = str(error)
    raise BadInput(f"the master's page {ui_url} doesn't answer: {reason}")


def stop_cluster(cluster: Cluster) -> Path | None:
    """Stop a cluster, and wait until none of its processes is left; one that has ended is stopped already.

    Returns:
        Where its logs are, if something of it had failed.
    """
    state = read_state(cluster.folder)
    if state is not None and not state.is_elsewhere:
        state.keeper.send(signal.SIGTERM)
        if not state.keeper.wait_gone(STOP_SECONDS):
            state.keeper.send(signal.SIGKILL)
            state.keeper.wait_gone(STOP_SECONDS)
        with locked():
            if (left := read_state(cluster.folder)) is not None and left.token == state.token:
                clear(cluster.folder, left)
    logs = cluster.folder / "logs"
    return logs if logs.exists() and read_state(cluster.folder) is None else None


def revive(cluster: Cluster, node: str) -> None:
    """Start the worker of a node again, and wait until the master knows it.

    Raises:
        BadInput: there is no such node or cluster, the worker is up, or it doesn't start.
    """
    if node not in cluster.node_names:
        raise BadInput(f"cluster {cluster.name} has no node {did_you_mean(node, cluster.node_names)}")
    if node in page_of(cluster).alive:
        raise BadInput(f"node {node} is up: there is nothing to revive")
    try:
        answer = ask_keeper(cluster.folder, {"do": "revive", "node": node})
    except (OSError, ValueError) as error:
        raise BadInput(f"cluster {cluster.name} doesn't run any more: {error}") from error
    if "error" in answer:
        raise BadInput(f"node {node}: {answer['error']}")
    deadline = time.monotonic() + REVIVE_SECONDS
    while node not in page_of(cluster).alive:
        state = read_state(cluster.folder)
        ended = state is None or node not in state.workers
        if ended or time.monotonic() > deadline:
            log = cluster.folder / "logs" / f"{resource_name(node)}.log"
            raise BadInput(f"the worker of node {node} doesn't start: {complaint_in(log)} (its log: {log})")
        time.sleep(LOOK_SECONDS)


@dataclass(frozen=True)
class Access:
    """Where a cluster's master is, where it tells about its workers (if known), and what lets us in."""

    master_url: str
    ui_url: str | None
    secret: Secret | None = None

    def workers(self) -> dict[str, Worker] | None:
        """The workers of nodes that are alive, by node; None where nobody tells."""
        if self.ui_url is None:
            return None
        return {worker.node: worker for worker in page_at(self.ui_url, self.secret).workers if worker.alive}

    def settings(self) -> dict[str, str]:
        """What a session of Spark needs to be let in."""
        return {} if self.secret is None else self.secret.session_settings()


def access_to(cluster: Cluster) -> Access:
    """The way to a cluster that berth has started."""
    return Access(cluster.master_url, cluster.ui_url, cluster.secret())


def secret_for(url: str, file: Path | None = None, *, encrypt: bool = False) -> Secret | None:
    """What opens the cluster at an address, of its master or of that master's page; None where nothing does.

    Args:
        url: the address. A cluster of berth's that runs there has its own secret.
        file: where the secret of another one is; None: where BERTH_CLUSTER_SECRET_FILE says.
        encrypt: whether that other one's processes encrypt what they say.

    Raises:
        BadInput: the file is not there, or others may read it; or there is none, and no encryption without.
    """
    for cluster in running_clusters():
        if url.rstrip("/") in (cluster.master_url, cluster.ui_url):
            return cluster.secret()
    named = os.environ.get(FILE_VARIABLE)
    if file is None and not named:
        if encrypt:
            raise BadInput(f"--encrypt: needs the cluster's secret; give --secret-file or {FILE_VARIABLE}")
        return None
    return read_secret(file or Path(str(named)), encrypts=encrypt)


def access_by_url(master_url: str, ui_url: str | None = None, secret: Secret | None = None) -> Access:
    """The way to somebody else's cluster; its page is looked for where Spark has it by default."""
    if ui_url is not None or not master_url.startswith("spark://"):
        return Access(master_url, ui_url, secret)
    guess = f"http://{urlsplit(master_url).hostname}:{_DEFAULT_UI_PORT}"
    try:
        found = master_document(guess, secret, _GUESS_SECONDS)
    except (OSError, ValueError):
        return Access(master_url, None, secret)
    same = isinstance(found, dict) and found.get("url") == master_url
    return Access(master_url, guess if same else None, secret)


@contextmanager
def access_for(
    problem: Problem,
    master_url: str | None,
    ui_url: str | None,
    report: Callable[[str], None],
    secret_file: Path | None = None,
    encrypt: bool = False,
) -> Iterator[Access]:
    """The cluster to run on, started for the time of a `with` block where none is there.

    Args:
        problem: its nodes that host need a worker each.
        master_url: the cluster; None: a running one of berth's that has the nodes, else a new one.
        ui_url: the page of that cluster's master, if it is not where Spark has it by default.
        report: hears what is being done, in a few words.
        secret_file: where that cluster's secret is; None: where BERTH_CLUSTER_SECRET_FILE says.
        encrypt: whether that cluster's processes encrypt what they say.

    Raises:
        BadInput: the master is no cluster, its secret can't be read, or no cluster can be started.
    """
    if master_url is not None:
        if master_url.startswith("local"):
            raise BadInput(f"--master {master_url}: has no workers to pin operators to; leave it out")
        yield access_by_url(master_url, ui_url, secret_for(master_url, secret_file, encrypt=encrypt))
        return
    if secret_file is not None or encrypt:
        raise BadInput(
            f"{'--encrypt' if secret_file is None else '--secret-file'}: only with --master, for a cluster "
            "of your own; those of berth have their secrets, and 'berth cluster start' has an --encrypt"
        )
    running = cluster_for(problem)
    if running is not None:
        yield access_to(running)
        return
    with temporary_cluster(problem, report) as started:
        yield access_to(started)


def slots_for(problem: Problem, workers: Mapping[str, Worker] | None) -> dict[str, int]:
    """The tasks at a time for each node that hosts: by its capacity, and not more than its worker offers."""
    slots = {node.name: cluster_node(node).slots for node in problem.network.nodes if node.hosts}
    if workers is None:
        # one core is what every worker has
        return dict.fromkeys(slots, 1)
    for name in slots.keys() & workers.keys():
        # one core and one unit stay free for the driver's own jobs
        slots[name] = max(1, min(slots[name], workers[name].cores - 1, workers[name].slots - 1))
    return slots


def check_nodes(
    access: Access, nodes: Collection[str], workers: Mapping[str, Worker] | None, memory_mb: int
) -> None:
    """Refuse nodes that can't give an executor, before anything waits for one.

    Raises:
        BadInput: a line for each such node.
    """
    if workers is None:
        return
    mistakes = []
    for node in nodes:
        worker = workers.get(node)
        if worker is None:
            mistakes.append(
                f"node {node}: no worker at {access.master_url} offers {resource_name(node)!r}; start one as "
                "docs/cluster.md says, or plan without the node"
            )
        elif worker.memory_mb < memory_mb:
            mistakes.append(
                f"node {node}: its worker has {worker.memory_mb} MB, an executor needs {memory_mb} MB"
            )
    if mistakes:
        raise BadInput(mistakes)
