"""What every plan with reuse keeps to: implied by the model, but far from it in linear relaxations.

There, an operator can be computed by a third, and taken by thirds from others that are computed by thirds.
But every application's results are computed somewhere, by what is fast enough, and so is all that feeds
them: of every class of equal operators one is computed, and at the highest rate that anybody needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from berth.exact.sharing.model import SharingModel


def add_cuts(model: SharingModel) -> None:
    """Some node does the work of the fastest application, for every class whose members are alike in parts.

    It is for objectives over nodes: proofs about flows were seen to take longer with it.
    """
    shared = model.shared
    keys = model.computation_keys()
    for equal in {members[0]: members for members in shared.equal}.values():
        model.cp.add_bool_or([model.fates.computed(operator) for operator in equal])
        if len({shared.parallelism(operator) for operator in equal}) == 1:
            for number in shared.graph.operators[equal[0]].instances:
                _add_work(model, equal, number, keys[number])


def _add_work(model: SharingModel, equal: list[int], number: int, key: int) -> None:
    rates = [float(model.shared.throughput[operator]) for operator in equal]
    fastest = max((rate for rate in rates if not np.isnan(rate)), default=0.0)
    amount = fastest * (model.shared.graph.work_ms[number] / 1000.0 / model.shared.parallelism(equal[0]))
    nodes = range(len(model.shared.network.nodes))
    steps = [model.work.step((key, node), float(amount)) for node in nodes]
    working = [step for step in steps if step is not None]
    if working:
        model.cp.add_bool_or(working)
