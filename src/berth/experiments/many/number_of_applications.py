"""X4.2: more and more applications (paper 004, experiment 2, figure 5).

As X4.1, with more and more applications on the same processors.
"""

from __future__ import annotations

from berth.experiments.many.heuristics import (
    BLOCKING,
    CARD,
    CARD_LEFT,
    FASTEST,
    FASTEST_LEFT,
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
    GATHERS,
    LIGHT,
    UNKNOWN,
    Between,
    More,
    Question,
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

MANY = 6
"""The paper doesn't say from where on strategies differ; its usual number is 5."""


QUESTIONS = (
    Question(
        "With 6 and more applications strategies 1 and 2 find fewer plans than 3 and 4",
        More(
            worst_of(*(with_strategy(s, plans(REUSERS, MANY)) for s in OPEN)),
            best_of(*(with_strategy(s, plans(REUSERS, MANY)) for s in BLOCKING)),
            (CARD_LEFT,),
        ),
    ),
    Question(
        "... and their relative performance is poorer, too",
        More(
            worst_of(*(with_strategy(s, quality(REUSERS, MANY)) for s in OPEN)),
            best_of(*(with_strategy(s, quality(REUSERS, MANY)) for s in BLOCKING)),
            (CARD_LEFT,),
        ),
    ),
    Question(
        "With strategies 2, 3 and 4 both TopDown heuristics perform better than BottomUpBFS",
        More(worst_of(quality(H3), quality(H4)), quality(H5), (CARD, FASTEST_LEFT, CARD_LEFT)),
    ),
    Question(
        "With strategy 1 both TopDown heuristics perform better than BottomUpBFS for many applications",
        More(worst_of(quality(H3, MANY), quality(H4, MANY)), quality(H5, MANY), (FASTEST,)),
        cause=UNKNOWN,
    ),
    Question(
        "With strategy 1 and up to 4 applications BottomUpBFS is not behind the TopDown heuristics",
        More(quality(H5, 1, 4), worst_of(quality(H3, 1, 4), quality(H4, 1, 4)), (FASTEST,)),
        cause=UNKNOWN,
    ),
    Question(
        "BottomUpDFS and both random heuristics perform poorly",
        Between(
            less(best_of(quality(H1), quality(H2), quality(H6)), quality(H3)),
            -1.0,
            -0.25,
            direction=More(quality(H3), best_of(quality(H1), quality(H2), quality(H6))),
            in_words="below TopDownBFS",
            what="best of them less TopDownBFS",
        ),
        "poorly; read as 0.25 or more below TopDownBFS",
        LIGHT,
    ),
    Question(
        "BottomUpDFS finds plans only with up to 4 applications",
        nothing(plans(H6, 5), plans(H6, 1, 4), "more with up to 4 applications than with more"),
        "none with 5 or more",
        LIGHT,
    ),
    Question(
        "With more than 10 applications TopDownBFS with strategy 3 performs best of all",
        More(quality(H3, 11), rivals(H3, CARD_LEFT, 11), (CARD_LEFT,)),
    ),
    Question(
        "With fewer than 10 applications TopDownDFS with strategy 3 performs best of all",
        More(quality(H4, 1, 9), rivals(H4, CARD_LEFT, 1, 9), (CARD_LEFT,)),
        cause=GATHERS,
    ),
)

EXPERIMENT = Sweep(
    name="X4.2",
    title="Heuristics for many applications: number of applications",
    figures="figure 5",
    varied="applications",
    axis="applications",
    values=(1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20),
    quick_forests=20,
    questions=QUESTIONS,
)
