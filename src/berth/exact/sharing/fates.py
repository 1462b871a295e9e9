"""What becomes of every operator: computed, taken from an equal one, or skipped; and whom that lifts."""

from __future__ import annotations

from typing import Any

from ortools.sat.python import cp_model

from berth.exact.sharing.shared import Shared
from berth.exact.sharing.symmetry import alike_subtrees


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
