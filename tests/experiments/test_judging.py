"""Rules for verdicts."""

import math

from berth.experiments.experiment import Verdict
from berth.experiments.judging import close_ratio, mean_of, order_verdict, same_effect, verdict, within


def test_means_have_errors() -> None:
    mean = mean_of([1.0, 2.0, 3.0])
    assert (mean.value, mean.draws) == (2.0, 3)
    assert math.isclose(mean.error, 1.0 / math.sqrt(3.0))
    assert mean.text(1) == "2.0 ± 0.6"
    assert mean.surely_positive
    assert not mean_of([-1.0, 2.0, 3.0]).surely_positive
    assert not mean_of([5.0]).surely_positive


def test_verdicts() -> None:
    assert verdict(close=True, ordered=True) is Verdict.REPRODUCED
    assert verdict(close=False, ordered=True) is Verdict.ORDERING_ONLY
    assert verdict(close=True, ordered=False) is Verdict.NOT_REPRODUCED
    assert order_verdict([1.0, 1.1, 0.9]) is Verdict.REPRODUCED
    assert order_verdict([1.0, -1.1, 0.9]) is Verdict.NOT_REPRODUCED
    assert order_verdict([-1.0, -1.1, -0.9]) is Verdict.NOT_REPRODUCED
    assert within(1.09, 1.0, 0.1)
    assert not within(0.89, 1.0, 0.1)


def test_an_effect_is_not_hidden_by_a_tolerance() -> None:
    assert within(1.05, 1.02, 0.1)
    assert not close_ratio(1.05, 1.02, 0.1)
    assert close_ratio(1.03, 1.02, 0.1)
    assert not close_ratio(1.0, 1.02, 0.1)
    assert not close_ratio(2.0, 1.8, 0.1)
    assert same_effect(-0.1, -0.15)
    assert not same_effect(0.1, -0.15)
