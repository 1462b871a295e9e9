"""Which instance of an application runs where: a plan, checked against the application and the problem."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from berth.model import Application as Described
from berth.model import BadInput, Plan, Problem
from berth.runtime.application import Application


@dataclass(frozen=True)
class Branch:
    """The instances of an operator that run as one stage, because they are on one node."""

    operator: str
    instances: tuple[int, ...]
    node: str


@dataclass(frozen=True)
class Placement:
    """The node of every instance, by operator, in the order of the instances."""

    application: str
    nodes: Mapping[str, tuple[str, ...]]

    def parallelism(self, operator: str) -> int:
        """How many instances an operator has."""
        return len(self.nodes[operator])

    @property
    def used(self) -> list[str]:
        """The nodes that run anything, each once, in the order of the operators."""
        return list(dict.fromkeys(node for nodes in self.nodes.values() for node in nodes))

    def branches(self, operator: str, *, each: bool = False) -> list[Branch]:
        """The stages of an operator: one for each node, or one for each instance."""
        nodes = self.nodes[operator]
        if each:
            return [Branch(operator, (number,), node) for number, node in enumerate(nodes)]
        return [
            Branch(operator, tuple(n for n, other in enumerate(nodes) if other == node), node)
            for node in dict.fromkeys(nodes)
        ]

    def moves(self, later: Placement) -> dict[str, tuple[str, str]]:
        """The instances that another placement has elsewhere: from where to where."""
        return {
            instance_name(operator, number, len(nodes)): (before, after)
            for operator, nodes in self.nodes.items()
            for number, (before, after) in enumerate(zip(nodes, later.nodes[operator], strict=True))
            if before != after
        }


def instance_name(operator: str, number: int, parallelism: int) -> str:
    """An instance without its application: `tag#1`, or `tag` where there is only one."""
    return f"{operator}#{number}" if parallelism > 1 else operator


def placement_of(application: Application, problem: Problem, plan: Plan) -> Placement:
    """Where the instances run.

    Raises:
        BadInput: the problem doesn't describe this application, or the plan is not one for it; a line for
            each difference.
    """
    known = {node.name for node in problem.network.nodes}
    mistakes: list[str] = []
    nodes: dict[str, tuple[str, ...]] = {}
    expected = set()
    for part in application.parts:
        for operator in described_in(part, problem).operators:
            prefix = f"{part.name}/{operator.name}"
            if prefix in application.left_out:
                continue
            names = [
                instance_name(prefix, number, operator.parallelism) for number in range(operator.parallelism)
            ]
            homes = [plan.assignment.get(name) for name in names]
            for name, home in zip(names, homes, strict=True):
                if home is None:
                    mistakes.append(_not_placed(name, plan))
                elif home not in known:
                    mistakes.append(f"plan: {name}: no node named {home!r} in the problem")
            nodes[application.name_of(part, operator.name)] = tuple(home or "" for home in homes)
            expected.update(names)
    ours = {part.name for part in application.parts}
    for name in plan.assignment:
        merged = name.partition("#")[0] in application.merged
        if name.partition("/")[0] in ours and name not in expected and not merged:
            mistakes.append(f"plan: {name}: the application has no such instance{_nearest(name, expected)}")
    if mistakes:
        raise BadInput(mistakes)
    return Placement(application.name, nodes)


def described_in(application: Application, problem: Problem) -> Described:
    """The problem's description of an application.

    Raises:
        BadInput: there is none, or it has other operators or streams than the application.
    """
    found = next((each for each in problem.applications if each.name == application.name), None)
    if found is None:
        there = ", ".join(each.name for each in problem.applications)
        raise BadInput(
            f"problem {problem.name!r}: no application named {application.name!r}; there are: {there}"
        )
    ours, theirs = set(application.operators), {each.name for each in found.operators}
    mistakes = [
        f"operator {name!r}: in the application, not in the problem{_nearest(name, theirs)}"
        for name in application.operators
        if name not in theirs
    ]
    mistakes += [
        f"operator {each.name!r}: in the problem, not in the application{_nearest(each.name, ours)}"
        for each in found.operators
        if each.name not in ours
    ]
    written = set(application.streams)
    told = {(each.sender, each.receiver) for each in found.streams}
    if not mistakes:
        ours_only, theirs_only = sorted(written - told), sorted(told - written)
        mistakes += [f"stream {a} to {b}: in the application, not in the problem" for a, b in ours_only]
        mistakes += [f"stream {a} to {b}: in the problem, not in the application" for a, b in theirs_only]
    if mistakes:
        raise BadInput([*mistakes, "berth describe prints what a problem has to say of an application"])
    return found


def _not_placed(name: str, plan: Plan) -> str:
    operator = name.partition("#")[0]
    if operator in plan.reuse:
        return f"plan: {name}: takes the result of {plan.reuse[operator]} now, and doesn't in this run"
    return f"plan: {name}: not placed"


def _nearest(name: str, others: set[str]) -> str:
    near = difflib.get_close_matches(name, sorted(others), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
