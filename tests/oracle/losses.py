"""Survivable plans: what a loss leaves, what must move, and whether every constraint holds after that."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .amounts import known
from .constraints import has_labels, violations
from .situation import Model, Situation
from .workload import Instance, Operator


class Scenario:
    """One loss: the nodes that are gone, the operators that go with them, and the problem that is left."""

    def __init__(self, model: Model, name: str, nodes: frozenset[str]) -> None:
        """Work out what is lost with some nodes."""
        self.name = name
        self.nodes = nodes
        self.lost = frozenset(
            key
            for key, operator in model.workload.operators.items()
            if nodes.issuperset(homes(model, operator))
        )
        self.model = Model(model.problem, nodes, self.lost)

    def movers(self, situation: Situation) -> list[Instance]:
        """Contract: "Every other instance on a lost node moves [...]; all others stay."."""
        return [
            instance
            for instance in situation.placed
            if situation.node_of(instance)["name"] in self.nodes and instance.operator not in self.lost
        ]

    def after(self, situation: Situation, moves: Mapping[str, str]) -> Situation:
        """Return what is left, with every instance that moves on its new node."""
        movers = {instance.name for instance in self.movers(situation)}
        left = [instance for instance in situation.placed if instance.operator not in self.lost]
        assignment = {
            instance.name: moves[instance.name]
            if instance.name in movers
            else situation.node_of(instance)["name"]
            for instance in left
        }
        return self.model.situation({"assignment": assignment})


def homes(model: Model, operator: Operator) -> set[str]:
    """Return where an operator may run "by `pinned`, `candidates`, `hosts` and `where` rules"."""
    wanted = [
        rule["where"]
        for rule in model.workload.applications[operator.application].get("rules", [])
        if "where" in rule
        and operator.key in {f"{operator.application}/{name}" for name in rule["operators"]}
    ]
    return {
        node["name"]
        for node in model.network.nodes
        if node.get("hosts", True)
        and (operator.candidates is None or node["name"] in operator.candidates)
        and all(has_labels(node, labels) for labels in wanted)
    }


@lru_cache(maxsize=1)
def scenarios(model: Model) -> tuple[Scenario, ...]:
    """Contract: "the loss of one node that hosts, used or not (of all nodes with one value of that label)".

    "nodes without it are never lost". Reading: a value is lost even where none of its nodes hosts, for their
    links go with them.
    """
    survive, nodes = model.problem.get("survive"), model.network.nodes
    groups: dict[str, set[str]] = {}
    if survive == "node":
        groups = {node["name"]: {node["name"]} for node in nodes if node.get("hosts", True)}
    elif survive is not None:
        for node in nodes:
            if survive["label"] in node.get("labels", {}):
                groups.setdefault(str(node["labels"][survive["label"]]), set()).add(node["name"])
    return tuple(Scenario(model, name, frozenset(gone)) for name, gone in groups.items())


@dataclass(frozen=True)
class Verdict:
    """What is to be said of one scenario; None: it can't be judged, or there is a link missing."""

    violations: list[str]
    moved: int | None
    response_time: float | None


def judged(scenario: Scenario, situation: Situation) -> Verdict:
    """Judge one scenario by the plan's `failover`.

    "An instance that should move and has no entry, or one that names a lost node: `loss of rome:
    tag-and-count/tag#0 has no node`; the rest of that scenario is not judged then. An entry for an instance
    that is lost or stays is a violation, too".
    """
    moves = situation.failover.get(scenario.name, {})
    movers = [instance.name for instance in scenario.movers(situation)]
    homeless = [name for name in movers if moves.get(name) is None or moves[name] in scenario.nodes]
    if homeless:
        return Verdict([f"{name} has no node" for name in homeless], None, None)
    needless = [f"{name} is lost or stays, and has an entry" for name in moves if name not in movers]
    after = scenario.after(situation, moves)
    slowest = max(after.finish_times.values(), default=0.0) if after.links_there else None
    return Verdict([*needless, *violations(after)], len(movers), slowest)


def verdicts(situation: Situation) -> dict[str, Verdict] | None:
    """Judge every scenario: "Losses are judged where the plan itself breaks nothing."; None: they are not."""
    if next(violations(situation), None) is not None:
        return None
    return {scenario.name: judged(scenario, situation) for scenario in scenarios(situation.model)}


def loss_violations(situation: Situation) -> Iterator[str]:
    """Contract: "What breaks is a violation: `loss of rome: node paris: cpu 5 needed, 4 there`"."""
    for name, verdict in (verdicts(situation) or {}).items():
        for line in verdict.violations:
            yield f"loss of {name}: {line}"


def failover_response_time(situation: Situation) -> float | None:
    """failover_response_time_ms, "the worst response time after any loss".

    "left out where a scenario can't be judged or there is none". Reading: where nothing is left, it is 0.
    """
    times = known(verdict.response_time for verdict in (verdicts(situation) or {}).values())
    return max(times) if times else None


def failover_moved_instances(situation: Situation) -> float | None:
    """Contract: "the most that move in one scenario"."""
    counts = known(verdict.moved for verdict in (verdicts(situation) or {}).values())
    return max(counts) if counts else None
