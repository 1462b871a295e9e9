"""X4.2 to X4.5: more, larger, more talkative and more different applications (paper 004, figures 5 to 9)."""

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
    HEURISTICS,
    NO_REUSE,
    OPEN,
    REUSERS,
)
from berth.experiments.many.rules import (
    ALL,
    CLOSE,
    GATHERS,
    LIGHT,
    NO_REUSE_NO_PLAN,
    ONE_RUN,
    SCALE,
    SLIGHT,
    UNKNOWN,
    Between,
    Measure,
    More,
    Ranking,
    Rule,
    about_alike,
    best,
    best_of,
    nothing,
    plans,
    quality,
    rivals,
    worst,
)
from berth.experiments.many.sweep import COMMON, Sweep

ONE, TWO, THREE = (FASTEST,), (CARD,), (CARD_LEFT,)
NOT_THREE = tuple(strategy for strategy in ALL if strategy != CARD_LEFT)
EACH = range(len(HEURISTICS))
MANY = 6
"""The paper doesn't say from where on strategies differ; its usual number is 5."""

OF_NUMBERS: dict[str, Rule] = {
    "With 6 and more applications strategies 1 and 2 find fewer plans than 3 and 4": More(
        plans(REUSERS, MANY).worst_with(OPEN), plans(REUSERS, MANY).best_with(BLOCKING), THREE
    ),
    "... and their relative performance is poorer, too": More(
        quality(REUSERS, MANY).worst_with(OPEN), quality(REUSERS, MANY).best_with(BLOCKING), THREE
    ),
    "With strategies 2, 3 and 4 both TopDown heuristics perform better than BottomUpBFS": More(
        worst(quality, (H3, H4)), quality(H5), (CARD, FASTEST_LEFT, CARD_LEFT)
    ),
    "With strategy 1 both TopDown heuristics perform better than BottomUpBFS for many applications": More(
        worst(quality, (H3, H4), MANY), quality(H5, MANY), ONE, cause=UNKNOWN
    ),
    "With strategy 1 and up to 4 applications BottomUpBFS is not behind the TopDown heuristics": More(
        quality(H5, 1, 4), worst(quality, (H3, H4), 1, 4), ONE, cause=UNKNOWN
    ),
    "BottomUpDFS and both random heuristics perform poorly": Between(
        best(quality, (H1, H2, H6)) - quality(H3),
        (-1.0, -0.25),
        direction=(quality(H3), best(quality, (H1, H2, H6))),
        in_words="below TopDownBFS",
        what="best of them less TopDownBFS",
        paper="poorly; read as 0.25 or more below TopDownBFS",
        cause=LIGHT,
    ),
    "BottomUpDFS finds plans only with up to 4 applications": nothing(
        plans(H6, 5),
        plans(H6, 1, 4),
        "more with up to 4 applications than with more",
        paper="none with 5 or more",
        cause=LIGHT,
    ),
    "With more than 10 applications TopDownBFS with strategy 3 performs best of all": More(
        quality(H3, 11), rivals(H3, CARD_LEFT, 11), THREE
    ),
    "With fewer than 10 applications TopDownDFS with strategy 3 performs best of all": More(
        quality(H4, 1, 9), rivals(H4, CARD_LEFT, 1, 9), THREE, cause=GATHERS
    ),
}

OF_SIZES: dict[str, Rule] = {
    "Above 40 operators strategy 3 finds the most plans": More(
        plans(REUSERS, 41), plans(REUSERS, 41).best_with(NOT_THREE), THREE
    ),
    "Up to 40 operators the other strategies are competitive": Between(
        plans(REUSERS, high=40) - plans(REUSERS, high=40).worst_with(NOT_THREE),
        (-1.0, SLIGHT),
        THREE,
        what="lead of strategy 3 over the weakest",
        paper="competitive; read as at most a tenth of the runs behind strategy 3",
    ),
    "Above 40 operators TopDownBFS, TopDownDFS and BottomUpBFS find the most plans": More(
        worst(plans, GOOD, 41), best(plans, (H1, H2, H6), 41)
    ),
    "... and have the best relative performance": More(
        worst(quality, GOOD, 41), best(quality, (H1, H2, H6), 41)
    ),
    "TopDownBFS finds more plans than TopDownDFS, whatever the strategy": More(
        plans(H3), plans(H4), cause=CLOSE
    ),
    "TopDownDFS finds more plans than BottomUpBFS, whatever the strategy": More(
        plans(H4), plans(H5), cause=CLOSE
    ),
    "RandomNoReuse finds plans only for fewer than 20 operators": nothing(
        plans(H1, 20),
        plans(H1, high=19),
        "more below 20 operators than from there on",
        paper="none from 20 operators on",
        cause=LIGHT,
    ),
    "BottomUpDFS finds plans only up to 40 operators (the paper prints BottomUpBFS here: E4.12)": nothing(
        plans(H6, 41),
        plans(H6, high=40),
        "more up to 40 operators than above",
        paper="none above 40 operators",
        cause=LIGHT,
    ),
    "Random finds plans only up to 50 operators": nothing(
        plans(H2, 51),
        plans(H2, high=50),
        "more up to 50 operators than above",
        paper="none above 50 operators",
        cause=LIGHT,
    ),
    "With 20 to 50 operators Random finds few plans": Between(
        plans(H2, 20, 50),
        (0.0, 0.25),
        direction=(plans(H3, 20, 50), plans(H2, 20, 50)),
        in_words="fewer than TopDownBFS",
        paper="a poor number; read as at most a quarter of the runs",
        cause=LIGHT,
    ),
    "Above 20 operators the TopDown heuristics with strategy 3 perform best of all": More(
        best(quality, (H3, H4), 21),
        best_of(
            *(quality(h, 21).with_strategy(s) for s in (*BLOCKING, *OPEN) for h in (H1, H2, H5, H6)),
            *(quality(h, 21).with_strategy(s) for s in NOT_THREE for h in (H3, H4)),
        ),
        THREE,
    ),
    "With strategy 1 and fewer than 40 operators BottomUpBFS is competitive "
    "(the paper prints BottomUpDFS here: E4.12)": Between(
        best_of(quality(H3, high=39), quality(H4, high=39)) - quality(H5, high=39),
        (-1.0, SLIGHT),
        ONE,
        what="behind by",
        paper="competitive; read as a performance of at most 0.1 below the better TopDown heuristic",
        cause=UNKNOWN,
    ),
    "Without reuse no plans above 40 operators": nothing(
        best(plans, EACH, 41, reuse=NO_REUSE),
        best(plans, EACH, 0, 40, reuse=NO_REUSE),
        "more up to 40 operators than above",
        paper="none above 40 operators",
        cause=LIGHT,
    ),
    "Without reuse the TopDown heuristics perform better than all others": More(
        worst(quality, (H3, H4), reuse=NO_REUSE), best(quality, (H1, H2, H5, H6), reuse=NO_REUSE)
    ),
    "Without reuse the best strategy is one of those that don't block": More(
        quality(GOOD, reuse=NO_REUSE).best_with(OPEN),
        quality(GOOD, reuse=NO_REUSE).best_with(BLOCKING),
        THREE,
    ),
}


def _lead(low: float = 0, high: float = 180) -> Measure:
    """By how much TopDownBFS performs better than the better one of the other two."""
    return quality(H3, low, high) - best(quality, (H4, H5), low, high)


OF_COMMUNICATION: dict[str, Rule] = {
    "With strategies 3 and 4 TopDownBFS, TopDownDFS, BottomUpBFS always find plans up to a ratio "
    "of 60": Between(
        worst(plans, GOOD, 0, 60),
        (1.0 - ONE_RUN, 1.0),
        OPEN,
        (plans(GOOD, high=60), plans(GOOD, 61)),
        "more plans up to 60 than above",
        paper="50 of 50",
        cause=SCALE,
    ),
    "With strategies 3 and 4 all three find no plan at a ratio of 180": nothing(
        best(plans, GOOD, 180),
        worst(plans, GOOD, 60, 60),
        "fewer plans than at 60",
        OPEN,
        paper="0 of 50",
        cause=f"{SCALE} {GATHERS}",
    ),
    "With strategy 2 TopDownBFS still finds 32 plans at 180": Between(
        plans(H3, 180, 180),
        (0.54, 0.74),
        TWO,
        (plans(H3, 180), plans(H3, 180).with_strategy(FASTEST)),
        "more than with strategy 1",
        paper="32 of 50 (64 %; read as up to 10 points more or less)",
        cause=SCALE,
    ),
    "BottomUpDFS is largely outperformed by Random": More(
        plans(H2), plans(H6), cause=f"{LIGHT} Reuse from below works in most of these forests, too."
    ),
    **NO_REUSE_NO_PLAN,
    "Strategy 2 finds the most plans": More(
        plans(GOOD), plans(GOOD).best_with((FASTEST, *OPEN)), TWO, cause=GATHERS
    ),
    "Above a ratio of 120 the blocking strategies find more plans than the others (section 6.2.6)": More(
        plans(GOOD, 121).best_with(BLOCKING), plans(GOOD, 121).best_with(OPEN), TWO, cause=GATHERS
    ),
    "TopDownBFS finds the most plans with strategy 2": More(
        plans(H3), best(plans, (H4, H5)), TWO, cause=CLOSE
    ),
    "Below 120 BottomUpBFS is second with strategy 2": More(
        plans(H5, high=119), plans(H4, high=119), TWO, cause=UNKNOWN
    ),
    "Above 120 TopDownDFS is second with strategy 2": More(plans(H4, 121), plans(H5, 121), TWO),
    "BottomUpBFS finds fewer plans with strategy 1 than with 2": More(
        plans(H5), plans(H5).with_strategy(FASTEST), TWO, cause=CLOSE
    ),
    "... but below a ratio of 80 it performs better with strategy 1 than with 2": More(
        quality(H5, high=79), quality(H5, high=79).with_strategy(CARD), ONE, cause=CLOSE
    ),
    "With strategy 1 TopDownBFS always finds the most plans": More(
        plans(H3), best(plans, (H1, H2, H4, H5, H6)), ONE, cause=CLOSE
    ),
    "... and performs best above a ratio of 120": More(
        quality(H3, 121), best(quality, (H4, H5), 121), ONE, cause=CLOSE
    ),
    "... but only there: up to 120 another one performs best": Between(
        _lead(high=120),
        (-1.0, 0.0),
        ONE,
        (_lead(121), _lead(high=120)),
        "its lead is larger above 120",
        "lead",
        paper="no lead over TopDownDFS and BottomUpBFS up to 120",
        cause=CLOSE,
    ),
    "With strategy 2 and a ratio of 30 TopDownDFS finds fewer plans than TopDownBFS and BottomUpBFS": More(
        worst(plans, (H3, H5), 30, 30),
        plans(H4, 30, 30),
        TWO,
        cause="Here all three find a plan in nearly every run at that ratio.",
    ),
    "... but its performance is the best there": More(
        quality(H4, 30, 30), best(quality, (H3, H5), 30, 30), TWO, cause=CLOSE
    ),
}

LOST = plans(REUSERS, 0, 0) - plans(REUSERS, 50, 50)
"""Plans lost when applications come to differ in all operators."""

OF_SIMILARITY: dict[str, Rule] = {
    "Strategies 1 and 2 lose more plans than 3 and 4 when applications differ in all operators": More(
        LOST.worst_with(BLOCKING), LOST.best_with(OPEN), TWO
    ),
    "Strategies by plans found: 3 > 4 > 1 and 2": Ranking(
        {
            "biggest-card-remaining": plans(REUSERS).with_strategy(CARD_LEFT),
            "fastest-remaining": plans(REUSERS).with_strategy(FASTEST_LEFT),
            "the better of fastest and biggest-card": plans(REUSERS).best_with((FASTEST, CARD)),
        }
    ),
    "Strategies 1 and 2 find about as many plans as each other": about_alike(
        plans(REUSERS).with_strategy(FASTEST),
        plans(REUSERS).with_strategy(CARD),
        TWO,
        paper="similar; read as within a tenth of the runs",
    ),
    "TopDownBFS finds the most plans with every strategy": More(
        plans(H3), best(plans, (H1, H2, H4, H5, H6)), cause=CLOSE
    ),
    "TopDownDFS finds more plans than BottomUpBFS": More(plans(H4), plans(H5), cause=CLOSE),
    "TopDownDFS finds slightly fewer plans than TopDownBFS": Between(
        plans(H3) - plans(H4),
        (-ONE_RUN, SLIGHT),
        what="fewer by",
        paper="slightly; read as at most a tenth of the runs",
    ),
    "BottomUpDFS and Random find fewer plans than the three before them": More(
        worst(plans, GOOD), best(plans, (H2, H6)), cause=CLOSE
    ),
    "BottomUpDFS and Random share the fourth place": about_alike(
        plans(H6),
        plans(H2),
        paper="the same place; read as within a tenth of the runs",
        cause="With blocking strategies what Random can't put beside a relative takes a processor of its "
        "own.",
    ),
    **NO_REUSE_NO_PLAN,
    "With blocking strategies TopDownBFS performs best": More(
        quality(H3), best(quality, (H1, H2, H4, H5, H6)), BLOCKING, cause=CLOSE
    ),
    "With strategies that don't block TopDownDFS performs best": More(
        quality(H4), best(quality, (H1, H2, H3, H5, H6)), OPEN, cause=GATHERS
    ),
    "BottomUpBFS is always third in performance: behind both TopDown heuristics": More(
        worst(quality, (H3, H4)), quality(H5), cause=CLOSE
    ),
    "... and before BottomUpDFS and both random heuristics": More(
        quality(H5), best(quality, (H1, H2, H6)), cause=LIGHT
    ),
}

SWEEPS = (
    Sweep(
        name="X4.2",
        title="number of applications",
        about="As X4.1, with more and more applications on the same processors.",
        figures="figure 5",
        varied="applications",
        axis="applications",
        values=(1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20),
        quick_forests=20,
        questions=OF_NUMBERS,
    ),
    Sweep(
        name="X4.3",
        title="size of the applications",
        about="As X4.1, with larger and larger applications.",
        figures="figure 6",
        varied="most_operators",
        axis="operators of the largest application",
        values=(5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80),
        quick_forests=30,
        questions=OF_SIZES,
    ),
    Sweep(
        name="X4.4",
        title="communication-to-computation ratio",
        about="As X4.1, with more and more communication for the same computation.",
        figures="figures 7 and 8",
        varied="ccr",
        axis="communication-to-computation ratio, MB / Mop",
        values=(1, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150, 165, 180),
        quick_forests=30,
        questions=OF_COMMUNICATION,
        calibrations=(
            *COMMON,
            Calibration(
                "mean work of an operator where the ratio is given (E4.13)",
                "0.05 Mop ± 50 %, of 0.05, 0.1 and 0.2",
                "success of 100 % up to a ratio of 60",
            ),
        ),
    ),
    Sweep(
        name="X4.5",
        title="how much two applications differ",
        about="As X4.1, with two applications only, which have fewer and fewer operators in common.",
        figures="figure 9",
        varied="differing",
        axis="operators of the second application that differ",
        values=(0, 1, 2, 5, 10, 15, 20, 30, 40, 50),
        quick_forests=50,
        questions=OF_SIMILARITY,
        fixed={"applications": 2, "processors": 10},
        calibrations=(
            *COMMON[:1],
            *COMMON[2:],
            Calibration(
                "how applications come to differ",
                "the second tree is the first one with so many operators of its own, from the root down: "
                "what lies above a difference differs, too",
            ),
        ),
    ),
)
APPLICATIONS, SIZES, COMMUNICATION, SIMILARITY = (sweep.experiment() for sweep in SWEEPS)
