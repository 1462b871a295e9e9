"""X4.1: more and more processors (paper 004, experiment 1, figures 3 and 4).

Many applications share operators, and six heuristics look for processors for all of them, with four
strategies for choosing among processors. The number of processors is varied: the fewer, the rarer a plan.
"""

from __future__ import annotations

from berth.experiments.many.heuristics import (
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
    NO_REUSE,
    REUSERS,
)
from berth.experiments.many.rules import (
    CLOSE,
    GATHERS,
    LIGHT,
    NO_REUSE_NO_PLAN,
    ONE_RUN,
    SLIGHT,
    UNKNOWN,
    Between,
    Mirrors,
    More,
    Question,
    Ranking,
    SameSuccess,
    about_alike,
    best_of,
    less,
    nothing,
    plans,
    quality,
    rivals,
    with_strategy,
    worst_of,
)
from berth.experiments.many.sweep import Sweep

THREE, TWO, NOT_ONE = (CARD_LEFT,), (CARD,), (CARD, FASTEST_LEFT, CARD_LEFT)

WITH_REUSE = (
    Question(
        "With strategy 3, TopDownBFS, TopDownDFS and BottomUpBFS rise steeply between 1 and 20 processors",
        Between(
            worst_of(*(less(plans(h, 20, 20), plans(h, 1, 1)) for h in GOOD)),
            0.6,
            1.0,
            THREE,
            More(plans(GOOD, 20, 20), plans(GOOD, 1, 1), THREE),
            "more plans with 20 processors than with 1",
            "rise of the one that rises least",
        ),
        "a steep rise; read as 60 % of the runs or more, for each of the three",
        LIGHT,
    ),
    Question(
        "With strategy 3 and 20 or more processors all three find plans for most runs",
        Between(worst_of(*(plans(h, 20) for h in GOOD)), 0.5, 1.0, THREE),
        "most of 50 runs",
    ),
    Question(
        "With strategy 3, BottomUpDFS finds plans only with more than 30 processors",
        nothing(plans(H6, 1, 30), plans(H6, 31), "more plans beyond 30 than up to 30", THREE),
        "none up to 30",
        LIGHT,
    ),
    Question(
        "With strategy 3, Random finds plans only with 20 or more processors",
        nothing(plans(H2, 1, 19), plans(H2, 20), "more plans from 20 on than below", THREE),
        "none below 20",
        LIGHT,
    ),
    Question(
        "With strategy 3 and more than 30 processors, Random finds fewer plans than BottomUpDFS",
        More(plans(H6, 31), plans(H2, 31), THREE),
    ),
    NO_REUSE_NO_PLAN,
    Question(
        "TopDownBFS finds the most plans",
        More(plans(H3), best_of(*(plans(h) for h in (H1, H2, H4, H5, H6)))),
        cause=CLOSE,
    ),
    Question(
        "TopDownDFS and BottomUpBFS follow shortly behind it",
        Between(less(plans(H3), worst_of(plans(H4), plans(H5))), -ONE_RUN, SLIGHT, what="behind it"),
        "shortly; read as a tenth of the runs",
    ),
    Question(
        "Strategies by plans found: 3 > 4 > 2 > 1",
        Ranking(
            {
                "biggest-card-remaining": with_strategy(CARD_LEFT),
                "fastest-remaining": with_strategy(FASTEST_LEFT),
                "biggest-card": with_strategy(CARD),
                "fastest": with_strategy(FASTEST),
            }
        ),
    ),
    Question(
        "But the differences between strategies 3 and 1 are small",
        about_alike(with_strategy(CARD_LEFT), with_strategy(FASTEST), THREE),
        "small; read as a tenth of the runs",
        LIGHT,
    ),
    Question(
        "For as many plans found, performance differs clearly from strategy to strategy",
        SameSuccess(GOOD),
        "significantly; read as 0.1 or more",
    ),
    Question(
        "With strategies 2, 3 and 4 TopDownDFS performs better than TopDownBFS",
        More(quality(H4), quality(H3), NOT_ONE),
        cause=GATHERS,
    ),
    Question(
        "With strategies 2, 3 and 4 TopDownBFS performs better than BottomUpBFS",
        More(quality(H3), quality(H5), NOT_ONE),
    ),
    Question(
        "With strategy 1 BottomUpBFS performs better than both TopDown heuristics",
        More(quality(H5), best_of(quality(H3), quality(H4)), (FASTEST,)),
        cause=UNKNOWN,
    ),
    Question(
        "The performance of BottomUpDFS and of the random heuristics mirrors exactly their plans found",
        Mirrors((H1, H2, H6)),
        "exactly; read as a correlation of 0.95 or more over the numbers of processors",
    ),
    Question(
        "TopDownBFS with strategy 3 is a solid combination (section 6.2.6)",
        Between(
            less(rivals(H3, CARD_LEFT), quality(H3)), -1.0, SLIGHT, THREE, what="the best other pair's lead"
        ),
        "solid; read as a performance of no more than 0.1 below the best pair's",
    ),
    Question(
        "A random approach is not feasible (section 6.2.6)",
        Between(
            plans(H2), 0.0, 0.5, direction=More(plans(GOOD), plans(H2)), in_words="fewer plans than the three"
        ),
        "not feasible; read as plans in at most half of the runs, with every strategy",
        LIGHT,
    ),
    Question(
        "From below only BFS is competitive: BottomUpBFS finds clearly more plans than BottomUpDFS "
        "(section 6.2.6)",
        Between(
            less(plans(H5), plans(H6)),
            SLIGHT,
            1.0,
            direction=More(plans(H5), plans(H6)),
            in_words="more",
            what="more plans",
        ),
        "clearly; read as a tenth of the runs or more, with every strategy",
        "Reuse from below works in most of these forests, whatever the order.",
    ),
)

WITHOUT_REUSE = (
    Question(
        "Without reuse and with strategy 3, no plans below 35 processors",
        nothing(
            best_of(*(plans(h, 1, 34, NO_REUSE) for h in range(6))),
            best_of(*(plans(h, 1, 34) for h in REUSERS)),
            "fewer than with reuse",
            THREE,
        ),
        "none below 35",
        LIGHT,
    ),
    Question(
        "Without reuse and with strategy 2, no plans below 60 processors",
        nothing(
            best_of(*(plans(h, 1, 59, NO_REUSE) for h in range(6))),
            best_of(*(plans(h, 1, 59) for h in REUSERS)),
            "fewer than with reuse",
            TWO,
        ),
        "none below 60",
    ),
    Question(
        "Without reuse both TopDown heuristics find more plans than all others",
        More(
            worst_of(*(plans(h, reuse=NO_REUSE) for h in (H3, H4))),
            best_of(*(plans(h, reuse=NO_REUSE) for h in (H1, H2, H5, H6))),
        ),
    ),
    Question(
        "Without reuse both TopDown heuristics perform better than all others",
        More(
            worst_of(*(quality(h, reuse=NO_REUSE) for h in (H3, H4))),
            best_of(*(quality(h, reuse=NO_REUSE) for h in (H1, H2, H5, H6))),
        ),
    ),
    Question(
        "Without reuse few plans are found",
        Between(
            plans(GOOD, reuse=NO_REUSE),
            0.0,
            0.5,
            direction=More(plans(GOOD), plans(GOOD, reuse=NO_REUSE)),
            in_words="fewer than with reuse",
        ),
        "poor; read as in at most half of the runs",
        LIGHT,
    ),
    Question(
        "Without reuse performance is worse, too (section 6.2.6)",
        More(quality(GOOD), quality(GOOD, reuse=NO_REUSE)),
    ),
)

EXPERIMENT = Sweep(
    name="X4.1",
    title="Heuristics for many applications: number of processors",
    figures="figures 3 and 4",
    varied="processors",
    axis="processors",
    values=(1, 3, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70),
    quick_forests=20,
    questions=WITH_REUSE + WITHOUT_REUSE,
    variants={
        "no one-port rule\n(E4.2)": {"one_port": False},
        "3 copies of\nan object": {"replicas": 3},
        "10 copies of\nan object": {"replicas": 10},
        "trees drawn\nindependently": {"alike": 0.0},
        "more alike\n(0.8)": {"alike": 0.8},
    },
    usual_value=30,
)
