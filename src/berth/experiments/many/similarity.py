"""X4.5: two applications that differ more and more (paper 004, experiment 5, figure 9).

As X4.1, with two applications only, which have fewer and fewer operators in common.
"""

from __future__ import annotations

from berth.experiments.experiment import Calibration
from berth.experiments.many.heuristics import (
    BLOCKING,
    CARD,
    CARD_LEFT,
    FASTEST,
    FASTEST_LEFT,
    GOOD,
    H1,
    H2,
    H3,
    H4,
    H5,
    H6,
    OPEN,
    REUSERS,
)
from berth.experiments.many.rules import (
    CLOSE,
    GATHERS,
    LIGHT,
    NO_REUSE_NO_PLAN,
    ONE_RUN,
    SLIGHT,
    Between,
    Measure,
    More,
    Question,
    Ranking,
    about_alike,
    best_of,
    less,
    plans,
    quality,
    with_strategy,
    worst_of,
)
from berth.experiments.many.sweep import COMMON, Sweep

MOST = 50


def _drop(strategies: tuple[int, ...]) -> list[Measure]:
    lost = less(plans(REUSERS, 0, 0), plans(REUSERS, MOST, MOST))
    return [with_strategy(strategy, lost) for strategy in strategies]


QUESTIONS = (
    Question(
        "Strategies 1 and 2 lose more plans than 3 and 4 when applications differ in all operators",
        More(worst_of(*_drop(BLOCKING)), best_of(*_drop(OPEN)), (CARD,)),
    ),
    Question(
        "Strategies by plans found: 3 > 4 > 1 and 2",
        Ranking(
            {
                "biggest-card-remaining": with_strategy(CARD_LEFT),
                "fastest-remaining": with_strategy(FASTEST_LEFT),
                "the better of fastest and biggest-card": best_of(
                    with_strategy(FASTEST), with_strategy(CARD)
                ),
            }
        ),
    ),
    Question(
        "Strategies 1 and 2 find about as many plans as each other",
        about_alike(with_strategy(FASTEST), with_strategy(CARD), (CARD,)),
        "similar; read as within a tenth of the runs",
    ),
    Question(
        "TopDownBFS finds the most plans with every strategy",
        More(plans(H3), best_of(*(plans(h) for h in (H1, H2, H4, H5, H6)))),
        cause=CLOSE,
    ),
    Question("TopDownDFS finds more plans than BottomUpBFS", More(plans(H4), plans(H5)), cause=CLOSE),
    Question(
        "TopDownDFS finds slightly fewer plans than TopDownBFS",
        Between(less(plans(H3), plans(H4)), -ONE_RUN, SLIGHT, what="fewer by"),
        "slightly; read as at most a tenth of the runs",
    ),
    Question(
        "BottomUpDFS and Random find fewer plans than the three before them",
        More(worst_of(*(plans(h) for h in GOOD)), best_of(plans(H2), plans(H6))),
        cause=CLOSE,
    ),
    Question(
        "BottomUpDFS and Random share the fourth place",
        about_alike(plans(H6), plans(H2)),
        "the same place; read as within a tenth of the runs",
        "With blocking strategies what Random can't put beside a relative takes a processor of its own.",
    ),
    NO_REUSE_NO_PLAN,
    Question(
        "With blocking strategies TopDownBFS performs best",
        More(quality(H3), best_of(*(quality(h) for h in (H1, H2, H4, H5, H6))), BLOCKING),
        cause=CLOSE,
    ),
    Question(
        "With strategies that don't block TopDownDFS performs best",
        More(quality(H4), best_of(*(quality(h) for h in (H1, H2, H3, H5, H6))), OPEN),
        cause=GATHERS,
    ),
    Question(
        "BottomUpBFS is always third in performance: behind both TopDown heuristics",
        More(worst_of(quality(H3), quality(H4)), quality(H5)),
        cause=CLOSE,
    ),
    Question(
        "... and before BottomUpDFS and both random heuristics",
        More(quality(H5), best_of(quality(H1), quality(H2), quality(H6))),
        cause=LIGHT,
    ),
)


EXPERIMENT = Sweep(
    name="X4.5",
    title="Heuristics for many applications: how much two applications differ",
    figures="figure 9",
    varied="differing",
    axis="operators of the second application that differ",
    values=(0, 1, 2, 5, 10, 15, 20, 30, 40, 50),
    quick_forests=50,
    questions=QUESTIONS,
    fixed={"applications": 2, "processors": 10},
    calibrations=(
        *COMMON[:1],
        *COMMON[2:],
        Calibration(
            "how applications come to differ",
            "the second tree is the first one with so many operators of its own, from the root down: what "
            "lies above a difference differs, too",
            "nothing",
        ),
    ),
)
