"""X4.4: more and more communication for each computation (paper 004, experiment 4, figures 7 and 8).

As X4.1, with more and more communication for the same computation.
"""

from __future__ import annotations

from berth.experiments.experiment import Calibration
from berth.experiments.many.heuristics import (
    BLOCKING,
    CARD,
    FASTEST,
    GOOD,
    H1,
    H2,
    H3,
    H4,
    H5,
    H6,
    OPEN,
)
from berth.experiments.many.rules import (
    CLOSE,
    GATHERS,
    LIGHT,
    NO_REUSE_NO_PLAN,
    ONE_RUN,
    SCALE,
    UNKNOWN,
    Between,
    Measure,
    More,
    Question,
    best_of,
    less,
    nothing,
    plans,
    quality,
    with_strategy,
    worst_of,
)
from berth.experiments.many.sweep import COMMON, Sweep

ONE, TWO = (FASTEST,), (CARD,)
SUCCESS = (
    Question(
        "With strategies 3 and 4 TopDownBFS, TopDownDFS, BottomUpBFS always find plans up to a ratio of 60",
        Between(
            worst_of(*(plans(h, high=60) for h in GOOD)),
            1.0 - ONE_RUN,
            1.0,
            OPEN,
            More(plans(GOOD, high=60), plans(GOOD, 61), OPEN),
            "more plans up to 60 than above",
        ),
        "50 of 50",
        SCALE,
    ),
    Question(
        "With strategies 3 and 4 all three find no plan at a ratio of 180",
        nothing(
            best_of(*(plans(h, 180) for h in GOOD)),
            worst_of(*(plans(h, 60, 60) for h in GOOD)),
            "fewer plans than at 60",
            OPEN,
        ),
        "0 of 50",
        SCALE + " " + GATHERS,
    ),
    Question(
        "With strategy 2 TopDownBFS still finds 32 plans at 180",
        Between(
            plans(H3, 180, 180),
            0.54,
            0.74,
            TWO,
            More(plans(H3, 180), with_strategy(FASTEST, plans(H3, 180)), TWO),
            "more than with strategy 1",
        ),
        "32 of 50 (64 %; read as up to 10 points more or less)",
        SCALE,
    ),
    Question(
        "BottomUpDFS is largely outperformed by Random",
        More(plans(H2), plans(H6)),
        cause=LIGHT + " Reuse from below works in most of these forests, too.",
    ),
    NO_REUSE_NO_PLAN,
    Question(
        "Strategy 2 finds the most plans",
        More(plans(GOOD), best_of(*(with_strategy(s, plans(GOOD)) for s in (FASTEST, *OPEN))), TWO),
        cause=GATHERS,
    ),
    Question(
        "Above a ratio of 120 the blocking strategies find more plans than the others (section 6.2.6)",
        More(
            best_of(*(with_strategy(s, plans(GOOD, 121)) for s in BLOCKING)),
            best_of(*(with_strategy(s, plans(GOOD, 121)) for s in OPEN)),
            TWO,
        ),
        cause=GATHERS,
    ),
    Question(
        "TopDownBFS finds the most plans with strategy 2",
        More(plans(H3), best_of(plans(H4), plans(H5)), TWO),
        cause=CLOSE,
    ),
    Question(
        "Below 120 BottomUpBFS is second with strategy 2",
        More(plans(H5, high=119), plans(H4, high=119), TWO),
        cause=UNKNOWN,
    ),
    Question("Above 120 TopDownDFS is second with strategy 2", More(plans(H4, 121), plans(H5, 121), TWO)),
)


def _lead(low: float = 0, high: float = 180) -> Measure:
    """By how much TopDownBFS performs better than the better one of the other two."""
    return less(quality(H3, low, high), best_of(quality(H4, low, high), quality(H5, low, high)))


PERFORMANCE = (
    Question(
        "BottomUpBFS finds fewer plans with strategy 1 than with 2",
        More(plans(H5), with_strategy(FASTEST, plans(H5)), TWO),
        cause=CLOSE,
    ),
    Question(
        "... but below a ratio of 80 it performs better with strategy 1 than with 2",
        More(quality(H5, high=79), with_strategy(CARD, quality(H5, high=79)), ONE),
        cause=CLOSE,
    ),
    Question(
        "With strategy 1 TopDownBFS always finds the most plans",
        More(plans(H3), best_of(*(plans(h) for h in (H1, H2, H4, H5, H6))), ONE),
        cause=CLOSE,
    ),
    Question(
        "... and performs best above a ratio of 120",
        More(quality(H3, 121), best_of(quality(H4, 121), quality(H5, 121)), ONE),
        cause=CLOSE,
    ),
    Question(
        "... but only there: up to 120 another one performs best",
        Between(
            _lead(high=120),
            -1.0,
            0.0,
            ONE,
            More(_lead(121), _lead(high=120), ONE),
            "its lead is larger above 120",
            "lead",
        ),
        "no lead over TopDownDFS and BottomUpBFS up to 120",
        CLOSE,
    ),
    Question(
        "With strategy 2 and a ratio of 30 TopDownDFS finds fewer plans than TopDownBFS and BottomUpBFS",
        More(worst_of(plans(H3, 30, 30), plans(H5, 30, 30)), plans(H4, 30, 30), TWO),
        cause="Here all three find a plan in nearly every run at that ratio.",
    ),
    Question(
        "... but its performance is the best there",
        More(quality(H4, 30, 30), best_of(quality(H3, 30, 30), quality(H5, 30, 30)), TWO),
        cause=CLOSE,
    ),
)


EXPERIMENT = Sweep(
    name="X4.4",
    title="Heuristics for many applications: communication-to-computation ratio",
    figures="figures 7 and 8",
    varied="ccr",
    axis="communication-to-computation ratio, MB / Mop",
    values=(1, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165, 180),
    quick_forests=30,
    questions=SUCCESS + PERFORMANCE,
    calibrations=(
        *COMMON,
        Calibration(
            "mean work of an operator where the ratio is given (E4.13)",
            "0.05 Mop ± 50 %, of 0.05, 0.1 and 0.2",
            "success of 100 % up to a ratio of 60",
        ),
    ),
)
