"""`berth cluster`: start, status, revive, stop."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from berth.cli.options import (
    AsJson,
    ProblemFile,
    argument,
    flag,
    leaving_on_signals,
    option,
)
from berth.cli.output import out as console
from berth.cli.output import plain_table, print_json
from berth.cli.progress import waiting
from berth.files import load
from berth.model import BadInput
from berth.model.errors import did_you_mean

if TYPE_CHECKING:
    from berth.runtime.cluster.nodes import Cluster, MasterPage

START_EXAMPLES = """Examples:

  berth cluster start problem.yaml

  berth cluster start problem.yaml --name edge --port 7077

  berth cluster start problem.yaml --json

It runs until `berth cluster stop`, on this machine and for this machine only. Ctrl-C before all workers are
up ends all of it.
"""

Name = Annotated[str | None, argument("The cluster; default: the one that runs.", "NAME")]

cluster = typer.Typer(
    no_args_is_help=True,
    help="A cluster of named nodes on this machine: a Spark worker for each node of a problem.",
)


@cluster.command(epilog=START_EXAMPLES)
def start(
    problem: ProblemFile,
    name: str | None = option(None, "The cluster's name. Default: the problem's.", "NAME"),
    port: int = option(0, "The master's port; 0: one that is free.", "PORT", min=0, max=65535),
    encrypt: bool = flag("--encrypt", "Encrypt what its processes say to each other, and shuffled files."),
    as_json: AsJson = False,
) -> None:
    """Start a master and a worker for every node that hosts operators."""
    from berth.runtime.cluster.starting import start_cluster

    with leaving_on_signals(), waiting("starting a cluster") as steps:
        started = start_cluster(load(problem), name, port, steps, encrypt=encrypt)
    if as_json:
        print_json(_described(started))
        return
    table = plain_table("node", "slots", "memory", right=(1, 2))
    for node in started.nodes:
        table.add_row(escape(node.name), str(node.slots), f"{node.memory_mb:,} MB")
    console.print(table)
    _say(f"\ncluster {started.name} runs at {started.master_url}")
    _say(f"stop it with: berth cluster stop {started.name}")


@cluster.command()
def status(name: Name = None, as_json: AsJson = False) -> None:
    """Say of every node whether its worker is up, what it offers and what is in use."""
    from berth.runtime.cluster.access import page_of, running_clusters
    from berth.runtime.cluster.folder import endings

    running = running_clusters()
    chosen = running if name is None else [_named(name, running)]
    pages = [(one, page_of(one)) for one in chosen]
    if as_json:
        print_json([_described(one) | asdict(page) for one, page in pages])
        return
    for one, page in pages:
        _print_status(one, page)
    if not running:
        _say("no cluster is running")
    for folder, reason in endings().items():
        _say(f"cluster {folder.name} has ended: {reason} (its logs: {folder / 'logs'})")


@cluster.command()
def revive(
    node: Annotated[str, argument("The node whose worker is dead.", "NODE")],
    name: Name = None,
) -> None:
    """Start the worker of a node again."""
    from berth.runtime.cluster.access import revive as revive_node
    from berth.runtime.cluster.access import running_clusters

    running = running_clusters()
    if not running:
        raise BadInput("no cluster is running")
    chosen = _only(running) if name is None else _named(name, running)
    with leaving_on_signals(), waiting(f"starting the worker of {node}"):
        revive_node(chosen, node)
    _say(f"node {node} is up")


@cluster.command()
def stop(
    name: Name = None,
    everything: bool = flag("--all", "Stop every cluster of this machine."),
) -> None:
    """Stop a cluster, and wait until none of its processes is left."""
    from berth.runtime.cluster.access import running_clusters, stop_cluster
    from berth.runtime.cluster.folder import forget_endings

    if name is not None and everything:
        raise BadInput("stop: give a NAME or --all, not both")
    running = running_clusters()
    if name is not None:
        chosen = [_named(name, running)]
    elif everything or not running:
        chosen = running
        forget_endings()
    else:
        chosen = [_only(running)]
    if not chosen:
        _say("no cluster is running")
    for one in chosen:
        with waiting(f"stopping {one.name}"):
            logs = stop_cluster(one)
        kept = f"; some of it had failed, so its logs are kept: {logs}" if logs else ""
        _say(f"cluster {one.name} is stopped{kept}")


def _only(running: list[Cluster]) -> Cluster:
    """The one cluster that is meant where none is named; those of other commands are not."""
    own = [one for one in running if not one.temporary] or running
    if len(own) > 1:
        names = ", ".join(one.name for one in own)
        raise BadInput(f"{len(own)} clusters are running ({names}): say which")
    return own[0]


def _named(name: str, running: list[Cluster]) -> Cluster:
    by_name = {one.name: one for one in running}
    if name not in by_name:
        names = ", ".join(by_name) or "none"
        raise BadInput(f"no cluster {did_you_mean(name, by_name)}; running: {names}")
    return by_name[name]


def _described(one: Cluster) -> dict[str, Any]:
    return asdict(one) | {"folder": str(one.folder)}


def _print_status(one: Cluster, page: MasterPage) -> None:
    temporary = ", of a command that is at work" if one.temporary else ""
    encrypted = ", encrypted" if one.encrypted else ""
    _say(f"cluster {one.name} at {one.master_url}{encrypted}{temporary}")
    table = plain_table("node", "is", "host", "cores", "memory", "resource", right=(3, 4, 5))
    workers = {worker.node: worker for worker in page.workers}
    for node in one.nodes:
        worker = workers.get(node.name)
        if worker is None or not worker.alive:
            table.add_row(escape(node.name), "[red]dead[/]", "-", "-", "-", "-")
            continue
        table.add_row(
            escape(node.name),
            "[green]up[/]",
            f"{worker.host}:{worker.port}",
            f"{worker.cores_used} of {worker.cores}",
            f"{worker.memory_used_mb:,} of {worker.memory_mb:,} MB",
            f"{worker.slots_used} of {worker.slots}",
        )
    console.print(table)
    for application in page.applications:
        _say(f"{application.state.lower()}: {application.name} ({application.id}, {application.cores} cores)")
    if not page.applications:
        _say("no application is running")
    dead = [node.name for node in one.nodes if node.name not in page.alive]
    if dead:
        _say(f"start it again with: berth cluster revive {dead[0]}")


def _say(line: str) -> None:
    console.print(escape(line), soft_wrap=True)
