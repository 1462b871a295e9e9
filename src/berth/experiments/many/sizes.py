"""X4.3: larger and larger applications (paper 004, experiment 3, figure 6).

As X4.1, with larger and larger applications.
"""

from __future__ import annotations

from berth.experiments.many.heuristics import (
    BLOCKING,
    CARD_LEFT,
    FASTEST,
    GOOD,
    H1,
    H2,
    H3,
    H4,
    H5,
    H6,
    NO_REUSE,
    OPEN,
    REUSERS,
)
from berth.experiments.many.rules import (
    CLOSE,
    LIGHT,
    SLIGHT,
    UNKNOWN,
    Between,
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
from berth.experiments.many.sweep import Sweep

THREE = (CARD_LEFT,)
OTHERS = tuple(s for s in (*BLOCKING, *OPEN) if s != CARD_LEFT)

QUESTIONS = (
    Question(
        "Above 40 operators strategy 3 finds the most plans",
        More(plans(REUSERS, 41), best_of(*(with_strategy(s, plans(REUSERS, 41)) for s in OTHERS)), THREE),
    ),
    Question(
        "Up to 40 operators the other strategies are competitive",
        Between(
            less(
                plans(REUSERS, high=40),
                worst_of(*(with_strategy(s, plans(REUSERS, high=40)) for s in OTHERS)),
            ),
            -1.0,
            SLIGHT,
            THREE,
            what="lead of strategy 3 over the weakest",
        ),
        "competitive; read as at most a tenth of the runs behind strategy 3",
    ),
    Question(
        "Above 40 operators TopDownBFS, TopDownDFS and BottomUpBFS find the most plans",
        More(worst_of(*(plans(h, 41) for h in GOOD)), best_of(*(plans(h, 41) for h in (H1, H2, H6)))),
    ),
    Question(
        "... and have the best relative performance",
        More(worst_of(*(quality(h, 41) for h in GOOD)), best_of(*(quality(h, 41) for h in (H1, H2, H6)))),
    ),
    Question(
        "TopDownBFS finds more plans than TopDownDFS, whatever the strategy",
        More(plans(H3), plans(H4)),
        cause=CLOSE,
    ),
    Question(
        "TopDownDFS finds more plans than BottomUpBFS, whatever the strategy",
        More(plans(H4), plans(H5)),
        cause=CLOSE,
    ),
    Question(
        "RandomNoReuse finds plans only for fewer than 20 operators",
        nothing(plans(H1, 20), plans(H1, high=19), "more below 20 operators than from there on"),
        "none from 20 operators on",
        LIGHT,
    ),
    Question(
        "BottomUpDFS finds plans only up to 40 operators (the paper prints BottomUpBFS here: E4.12)",
        nothing(plans(H6, 41), plans(H6, high=40), "more up to 40 operators than above"),
        "none above 40 operators",
        LIGHT,
    ),
    Question(
        "Random finds plans only up to 50 operators",
        nothing(plans(H2, 51), plans(H2, high=50), "more up to 50 operators than above"),
        "none above 50 operators",
        LIGHT,
    ),
    Question(
        "With 20 to 50 operators Random finds few plans",
        Between(
            plans(H2, 20, 50),
            0.0,
            0.25,
            direction=More(plans(H3, 20, 50), plans(H2, 20, 50)),
            in_words="fewer than TopDownBFS",
        ),
        "a poor number; read as at most a quarter of the runs",
        LIGHT,
    ),
    Question(
        "Above 20 operators the TopDown heuristics with strategy 3 perform best of all",
        More(
            best_of(quality(H3, 21), quality(H4, 21)),
            best_of(
                *(with_strategy(s, quality(h, 21)) for s in (*BLOCKING, *OPEN) for h in (H1, H2, H5, H6)),
                *(with_strategy(s, quality(h, 21)) for s in OTHERS for h in (H3, H4)),
            ),
            THREE,
        ),
    ),
    Question(
        "With strategy 1 and fewer than 40 operators BottomUpBFS is competitive "
        "(the paper prints BottomUpDFS here: E4.12)",
        Between(
            less(best_of(quality(H3, high=39), quality(H4, high=39)), quality(H5, high=39)),
            -1.0,
            SLIGHT,
            (FASTEST,),
            what="behind by",
        ),
        "competitive; read as a performance of at most 0.1 below the better TopDown heuristic",
        UNKNOWN,
    ),
    Question(
        "Without reuse no plans above 40 operators",
        nothing(
            best_of(*(plans(h, 41, reuse=NO_REUSE) for h in range(6))),
            best_of(*(plans(h, high=40, reuse=NO_REUSE) for h in range(6))),
            "more up to 40 operators than above",
        ),
        "none above 40 operators",
        LIGHT,
    ),
    Question(
        "Without reuse the TopDown heuristics perform better than all others",
        More(
            worst_of(*(quality(h, reuse=NO_REUSE) for h in (H3, H4))),
            best_of(*(quality(h, reuse=NO_REUSE) for h in (H1, H2, H5, H6))),
        ),
    ),
    Question(
        "Without reuse the best strategy is one of those that don't block",
        More(
            best_of(*(with_strategy(s, quality(GOOD, reuse=NO_REUSE)) for s in OPEN)),
            best_of(*(with_strategy(s, quality(GOOD, reuse=NO_REUSE)) for s in BLOCKING)),
            THREE,
        ),
    ),
)

EXPERIMENT = Sweep(
    name="X4.3",
    title="Heuristics for many applications: size of the applications",
    figures="figure 6",
    varied="most_operators",
    axis="operators of the largest application",
    values=(5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80),
    quick_forests=30,
    questions=QUESTIONS,
)
