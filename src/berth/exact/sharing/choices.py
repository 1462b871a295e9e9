"""The choices of the model of sharing: what becomes of every operator, and amounts that follow from it.

Amounts are the highest of what several users ask for, without products or large constants: every amount that
somebody may ask for is a step, a literal that is true where at least so much is asked for. The sum of the
steps' heights is then the highest amount.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ortools.sat.python import cp_model

from berth.exact.sharing.shared import Shared, alike_subtrees

Terms = list[tuple[Any, float]]


class Highest:
    """For each key, the highest amount whose conditions hold."""

    def __init__(self, cp: cp_model.CpModel) -> None:
        self._cp = cp
        self._required: dict[Hashable, dict[float, list[tuple[Any, ...]]]] = {}
        self._steps: dict[Hashable, dict[float, Any]] = {}

    def require(self, key: Hashable, amount: float, *conditions: Any) -> None:
        """At least this amount is needed where all conditions hold."""
        self._required.setdefault(key, {}).setdefault(amount, []).append(conditions)

    def build(self) -> None:
        """Make the steps; nothing can be asked for afterwards."""
        for key, required in self._required.items():
            steps: dict[float, Any] = {}
            below = None
            for amount in sorted(required):
                steps[amount] = step = self._step(required[amount], amount == max(required))
                if below is not None:
                    self._cp.add_implication(step, below)
                below = step
            self._steps[key] = steps

    def _step(self, conditions: list[tuple[Any, ...]], top: bool) -> Any:
        unique = list({tuple(literal.index for literal in each): each for each in conditions}.values())
        if top and len(unique) == 1 and len(unique[0]) == 1:
            # Nothing else can make it true; lower steps are true by higher ones, too.
            return unique[0][0]
        step = self._cp.new_bool_var("")
        for each in unique:
            self._cp.add_bool_or([step, *(literal.negated() for literal in each)])
        return step

    @property
    def keys(self) -> list[Any]:
        """All keys that anything was asked for."""
        return list(self._steps)

    def step(self, key: Hashable, amount: float) -> Any | None:
        """The literal that is true where at least this amount is needed; None: it never is."""
        return self._steps.get(key, {}).get(amount)

    def steps(self, key: Hashable) -> dict[float, Any]:
        """The amounts that may be asked for, ascending, with their literals."""
        return self._steps.get(key, {})

    def terms(self, key: Hashable, most: float = float("inf")) -> Terms:
        """The highest amount as a sum; what is above `most` counts as `most`."""
        terms, below = [], 0.0
        for amount, step in self._steps.get(key, {}).items():
            height = min(amount, most) - below
            if height > 0:
                terms.append((step, height))
                below += height
        return terms


class Fates:
    """Literals for every operator's fate.

    Nothing is computed, nor taken, that nobody needs: such a plan is never better.
    """

    def __init__(self, cp: cp_model.CpModel, shared: Shared) -> None:
        self._cp = cp
        self._shared = shared
        self.by: list[dict[int, Any]] = []
        """For every operator, the literals that its result is computed by itself or by an equal one."""
        self.lifts: dict[tuple[int, int], Any] = {}
        """By two equal operators: the second keeps up with what the first is asked for."""
        if not shared.reuse:
            self.by = [{k: cp.new_constant(1)} for k in range(len(shared.graph.operators))]
            return
        for operator in range(len(shared.graph.operators)):
            self.by.append({source: cp.new_bool_var("") for source in shared.sources(operator)})
        self._lift_variables()
        for operator in range(len(shared.graph.operators)):
            self._decide(operator)
        self._propagate()
        for operator, other in alike_subtrees(shared):
            cp.add(self.by[operator][other] == 0)

    def computed(self, operator: int) -> Any:
        """True where an operator is computed itself."""
        return self.by[operator][operator]

    def lifted(self, operator: int) -> list[tuple[int, Any]]:
        """The equal operators that may lift an operator, with the literals that they do."""
        others = self._shared.others(operator)
        return [(taker, self.lifts[taker, operator]) for taker in others]

    def _lift_variables(self) -> None:
        for operator in range(len(self._shared.graph.operators)):
            for taker in self._shared.equal[operator]:
                if len(self._shared.equal[operator]) > 1:
                    self.lifts[taker, operator] = self._cp.new_bool_var("")

    def _decide(self, operator: int) -> None:
        cp, fates = self._cp, self.by[operator]
        consumers = self._shared.graph.consumers[operator]
        using = [self.computed(consumer) for consumer in consumers]
        for consumer in using:
            cp.add_bool_or([*fates.values(), consumer.negated()])
        if consumers:
            cp.add_at_most_one(fates.values())
        else:
            cp.add_exactly_one(fates.values())
        takers = [self.by[taker][operator] for taker in self._shared.others(operator)]
        for source, literal in fates.items():
            if source != operator:
                cp.add_implication(literal, self.computed(source))
                cp.add_implication(literal, self.lifts[operator, source])
            if consumers:
                needed = [*using, *takers] if source == operator else using
                cp.add_bool_or([*needed, literal.negated()])

    def _propagate(self) -> None:
        """Who keeps up with a taker has its inputs keep up with the taker's inputs."""
        for (taker, giver), literal in self.lifts.items():
            for above_taker, above_giver in self._shared.input_pairs(taker, giver):
                for source, fate in self.by[above_giver].items():
                    lift = self.lifts.get((above_taker, source))
                    if lift is not None:
                        self._cp.add_bool_or([lift, literal.negated(), fate.negated()])
