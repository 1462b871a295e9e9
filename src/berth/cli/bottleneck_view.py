"""What is fullest, and by how much limits are exceeded: for `berth evaluate`."""

from __future__ import annotations

import math

from rich.markup import escape

from berth.cli.output import out
from berth.evaluation import Situation
from berth.evaluation.limits import Use, amount, bottleneck, exceeded


def print_bottleneck(situation: Situation) -> None:
    """A line for the bottleneck, and one for each limit that is exceeded."""
    fullest = bottleneck(situation)
    if fullest is None:
        out.print("\nbottleneck: none, nothing that has a limit is in use")
    else:
        out.print(f"\nbottleneck: {escape(_line(fullest))}", soft_wrap=True)
    for use in exceeded(situation):
        if use != fullest:
            out.print(f"exceeded: {escape(_line(use))}", soft_wrap=True)


def _line(use: Use) -> str:
    share = f"{amount(100 * use.share)} %" if math.isfinite(use.share) else "more than there is"
    over = f", {amount(-use.slack)} {use.unit} too much" if use.exceeded else ""
    return f"{use.kind} {use.name}: {share} used{over}; {use.advice}"
