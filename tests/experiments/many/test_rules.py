from dataclasses import replace

import numpy as np
import pytest

from berth.experiments.experiment import Verdict
from berth.experiments.many.heuristics import CARD_LEFT, FASTEST, H1, H3, H4, H5, REUSE
from berth.experiments.many.rules import (
    CLOSE,
    UNKNOWN,
    Between,
    Mirrors,
    More,
    Ranking,
    SameSuccess,
    about_alike,
    best_of,
    nothing,
    plans,
    quality,
    rivals,
    worst_of,
)
from tests.experiments.many.outcomes import made

YES, PARTLY, NO = Verdict.REPRODUCED, Verdict.ORDERING_ONLY, Verdict.NOT_REPRODUCED


def test_more_asks_for_every_strategy_and_for_more_than_chance():
    outcome = made((1, 2), {H3: 0.9, H4: 0.5})
    rule = More(plans(H3), plans(H4))
    assert rule.judged(outcome).verdict is YES
    assert More(plans(H4), plans(H3)).judged(outcome).verdict is NO
    assert More(plans(H3), plans(H3)).judged(outcome).verdict is NO

    outcome.found[:, :, REUSE, FASTEST, H3] = 0.4
    assert rule.judged(outcome).verdict is PARTLY  # ahead on the whole, behind with one strategy

    lucky = made((1,), {H3: 0.5, H4: 0.5})
    lucky.found[:, :1, REUSE, :, H3] = 1.0
    assert rule.judged(lucky).verdict is NO  # one run of ten is chance


def test_between_falls_back_on_a_clear_direction():
    none = nothing(plans(H1), plans(H3), "fewer than TopDownBFS")
    assert none.judged(made((1,), {H1: 0.0, H3: 1.0})).verdict is YES
    assert none.judged(made((1,), {H1: 0.5, H3: 1.0})).verdict is PARTLY
    assert none.judged(made((1,), {H1: 0.96, H3: 1.0})).verdict is NO
    assert Between(plans(H1), (0.5, 1.0)).judged(made((1,), {H1: 0.49})).verdict is NO
    assert about_alike(plans(H3), plans(H4)).judged(made((1,), {H3: 0.5, H4: 0.59})).verdict is YES
    assert about_alike(plans(H3), plans(H4)).judged(made((1,), {H3: 0.5, H4: 0.61})).verdict is NO


def test_a_ranking_needs_its_neighbours_in_order():
    rule = Ranking({"a": plans(H3), "b": plans(H4), "c": plans(H5)})
    assert rule.judged(made((1,), {H3: 0.9, H4: 0.8, H5: 0.7})).verdict is YES
    assert rule.judged(made((1,), {H3: 0.8, H4: 0.9, H5: 0.7})).verdict is PARTLY
    assert rule.judged(made((1,), {H3: 0.7, H4: 0.8, H5: 0.9})).verdict is NO


def test_measures_choose_by_the_mean():
    outcome = made((1, 5), {H3: 0.9, H4: 0.5}, {H3: 0.2, H4: 0.6})
    outcome.found[1, :, REUSE, :, H3] = 0.1
    assert np.allclose(plans(H3, high=1).of(outcome), 0.9)
    assert np.allclose(plans((H3, H4)).of(outcome), 0.5)
    assert np.allclose(best_of(plans(H3, 5), plans(H4, 5)).of(outcome), 0.5)
    assert np.allclose(worst_of(plans(H3, 5), plans(H4, 5)).of(outcome), 0.1)
    assert np.allclose((quality(H4) - quality(H3)).of(outcome), 0.4)
    outcome.quality[:, :, REUSE, CARD_LEFT, H4] = 0.7
    assert np.allclose(quality(H4).with_strategy(CARD_LEFT).of(outcome), 0.7)
    assert np.allclose(rivals(H4, CARD_LEFT).of(outcome), 0.6)
    assert np.allclose(rivals(H3, CARD_LEFT).of(outcome), 0.7)


def test_performance_that_mirrors_success():
    outcome = made((1, 2, 3), {})
    for place, share in enumerate((0.2, 0.5, 0.9)):
        outcome.found[place, :, REUSE, :, H1] = share
        outcome.quality[place, :, REUSE, :, H1] = share / 2
    assert Mirrors((H1,)).judged(outcome).verdict is YES
    assert Mirrors((H1,)).judged(replace(outcome, quality=1 - outcome.quality)).verdict is NO
    assert SameSuccess((H1,)).judged(outcome).verdict is NO
    outcome.quality[:, :, REUSE, FASTEST, H1] += 0.4
    assert SameSuccess((H1,)).judged(outcome).verdict is YES


def test_a_question_tells_the_cause_only_where_it_fails():
    rule = More(plans(H3), plans(H4), cause="Because of the moon.")
    assert "moon" in rule.claim("more", made((1,), {H4: 1.0})).reason
    assert "moon" not in rule.claim("more", made((1,), {H3: 1.0})).reason
    assert "10 forests" in rule.claim("more", made((1,), {H3: 1.0})).ours


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_nothing_at_all_is_no_error(share):
    outcome = made((1, 2), dict.fromkeys(range(6), share))
    assert Mirrors((H1,)).judged(outcome).verdict is YES
    assert SameSuccess((H1,)).judged(outcome).verdict is NO


def test_what_fails_has_a_cause() -> None:
    """Two that are close are called so, and only these."""
    rule = More(plans(H4), plans(H3), cause=CLOSE)
    near, far = made((1,), {H3: 0.9, H4: 0.85}), made((1,), {H3: 0.9, H4: 0.5})
    assert rule.claim("H4 finds more", near).reason.endswith(CLOSE)
    assert rule.claim("H4 finds more", far).reason.endswith(UNKNOWN)
    holds = More(plans(H3), plans(H4)).claim("H3 finds more", far)
    assert holds.reason.endswith("of 50; the order: only the former.")
