"""X4.1: more and more processors (paper 004, experiment 1, figures 3 and 4)."""

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
    HEURISTICS,
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
    Ranking,
    Rule,
    SameSuccess,
    about_alike,
    best,
    nothing,
    plans,
    quality,
    rivals,
    worst,
    worst_of,
)
from berth.experiments.many.sweep import Sweep

THREE, TWO, NOT_ONE = (CARD_LEFT,), (CARD,), (CARD, FASTEST_LEFT, CARD_LEFT)
EACH = range(len(HEURISTICS))

WITH_REUSE: dict[str, Rule] = {
    "With strategy 3, TopDownBFS, TopDownDFS and BottomUpBFS rise steeply between 1 and 20 "
    "processors": Between(
        worst_of(*(plans(h, 20, 20) - plans(h, 1, 1) for h in GOOD)),
        (0.6, 1.0),
        THREE,
        (plans(GOOD, 20, 20), plans(GOOD, 1, 1)),
        "more plans with 20 processors than with 1",
        "rise of the one that rises least",
        paper="a steep rise; read as 60 % of the runs or more, for each of the three",
        cause=LIGHT,
    ),
    "With strategy 3 and 20 or more processors all three find plans for most runs": Between(
        worst(plans, GOOD, 20), (0.5, 1.0), THREE, paper="most of 50 runs"
    ),
    "With strategy 3, BottomUpDFS finds plans only with more than 30 processors": nothing(
        plans(H6, 1, 30),
        plans(H6, 31),
        "more plans beyond 30 than up to 30",
        THREE,
        paper="none up to 30",
        cause=LIGHT,
    ),
    "With strategy 3, Random finds plans only with 20 or more processors": nothing(
        plans(H2, 1, 19),
        plans(H2, 20),
        "more plans from 20 on than below",
        THREE,
        paper="none below 20",
        cause=LIGHT,
    ),
    "With strategy 3 and more than 30 processors, Random finds fewer plans than BottomUpDFS": More(
        plans(H6, 31), plans(H2, 31), THREE
    ),
    **NO_REUSE_NO_PLAN,
    "TopDownBFS finds the most plans": More(plans(H3), best(plans, (H1, H2, H4, H5, H6)), cause=CLOSE),
    "TopDownDFS and BottomUpBFS follow shortly behind it": Between(
        plans(H3) - worst(plans, (H4, H5)),
        (-ONE_RUN, SLIGHT),
        what="behind it",
        paper="shortly; read as a tenth of the runs",
    ),
    "Strategies by plans found: 3 > 4 > 2 > 1": Ranking(
        {
            "biggest-card-remaining": plans(REUSERS).with_strategy(CARD_LEFT),
            "fastest-remaining": plans(REUSERS).with_strategy(FASTEST_LEFT),
            "biggest-card": plans(REUSERS).with_strategy(CARD),
            "fastest": plans(REUSERS).with_strategy(FASTEST),
        }
    ),
    "But the differences between strategies 3 and 1 are small": about_alike(
        plans(REUSERS).with_strategy(CARD_LEFT),
        plans(REUSERS).with_strategy(FASTEST),
        THREE,
        paper="small; read as a tenth of the runs",
        cause=LIGHT,
    ),
    "For as many plans found, performance differs clearly from strategy to strategy": SameSuccess(
        GOOD, paper="significantly; read as 0.1 or more"
    ),
    "With strategies 2, 3 and 4 TopDownDFS performs better than TopDownBFS": More(
        quality(H4), quality(H3), NOT_ONE, cause=GATHERS
    ),
    "With strategies 2, 3 and 4 TopDownBFS performs better than BottomUpBFS": More(
        quality(H3), quality(H5), NOT_ONE
    ),
    "With strategy 1 BottomUpBFS performs better than both TopDown heuristics": More(
        quality(H5), best(quality, (H3, H4)), (FASTEST,), cause=UNKNOWN
    ),
    "The performance of BottomUpDFS and of the random heuristics mirrors exactly their plans found": Mirrors(
        (H1, H2, H6), paper="exactly; read as a correlation of 0.95 or more over the numbers of processors"
    ),
    "TopDownBFS with strategy 3 is a solid combination (section 6.2.6)": Between(
        rivals(H3, CARD_LEFT) - quality(H3),
        (-1.0, SLIGHT),
        THREE,
        what="the best other pair's lead",
        paper="solid; read as a performance of no more than 0.1 below the best pair's",
    ),
    "A random approach is not feasible (section 6.2.6)": Between(
        plans(H2),
        (0.0, 0.5),
        direction=(plans(GOOD), plans(H2)),
        in_words="fewer plans than the three",
        paper="not feasible; read as plans in at most half of the runs, with every strategy",
        cause=LIGHT,
    ),
    "From below only BFS is competitive: BottomUpBFS finds clearly more plans than BottomUpDFS "
    "(section 6.2.6)": Between(
        plans(H5) - plans(H6),
        (SLIGHT, 1.0),
        direction=(plans(H5), plans(H6)),
        in_words="more",
        what="more plans",
        paper="clearly; read as a tenth of the runs or more, with every strategy",
        cause="Reuse from below works in most of these forests, whatever the order.",
    ),
}

WITHOUT_REUSE: dict[str, Rule] = {
    "Without reuse and with strategy 3, no plans below 35 processors": nothing(
        best(plans, EACH, 1, 34, NO_REUSE),
        best(plans, REUSERS, 1, 34),
        "fewer than with reuse",
        THREE,
        paper="none below 35",
        cause=LIGHT,
    ),
    "Without reuse and with strategy 2, no plans below 60 processors": nothing(
        best(plans, EACH, 1, 59, NO_REUSE),
        best(plans, REUSERS, 1, 59),
        "fewer than with reuse",
        TWO,
        paper="none below 60",
    ),
    "Without reuse both TopDown heuristics find more plans than all others": More(
        worst(plans, (H3, H4), reuse=NO_REUSE), best(plans, (H1, H2, H5, H6), reuse=NO_REUSE)
    ),
    "Without reuse both TopDown heuristics perform better than all others": More(
        worst(quality, (H3, H4), reuse=NO_REUSE), best(quality, (H1, H2, H5, H6), reuse=NO_REUSE)
    ),
    "Without reuse few plans are found": Between(
        plans(GOOD, reuse=NO_REUSE),
        (0.0, 0.5),
        direction=(plans(GOOD), plans(GOOD, reuse=NO_REUSE)),
        in_words="fewer than with reuse",
        paper="poor; read as in at most half of the runs",
        cause=LIGHT,
    ),
    "Without reuse performance is worse, too (section 6.2.6)": More(
        quality(GOOD), quality(GOOD, reuse=NO_REUSE)
    ),
}

SWEEP = Sweep(
    name="X4.1",
    title="number of processors",
    about="Many applications share operators, and six heuristics look for processors for all of them, with "
    "four strategies for choosing among processors. The number of processors is varied: the fewer, the rarer "
    "a plan.",
    figures="figures 3 and 4",
    varied="processors",
    axis="processors",
    values=(1, 3, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70),
    quick_forests=20,
    questions=WITH_REUSE | WITHOUT_REUSE,
    variants={
        "no one-port rule\n(E4.2)": {"one_port": False},
        "3 copies of\nan object": {"replicas": 3},
        "10 copies of\nan object": {"replicas": 10},
        "trees drawn\nindependently": {"alike": 0.0},
        "more alike\n(0.8)": {"alike": 0.8},
    },
    usual_value=30,
)
PROCESSORS = SWEEP.experiment()
