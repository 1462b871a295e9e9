"""X1.2 and X1.3: one parameter of MIPS is varied."""

from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from berth.experiments.experiment import Setting, Verdict
from berth.experiments.mips.parameters import ALPHA, EXPLORATION, QUICK_VALUES, SAMPLES, TRADEOFF
from berth.experiments.mips.schemes import FORMS

QUICK = Setting(quick=True, seed=2)


def swept(levels):
    """For every value the three figures times a level, for repeats that differ."""
    rows = [
        (
            varied,
            form,
            value,
            repeat,
            False,
            *(level * figure * (1 + repeat / 50) for figure in (90.0, 8.0, 250.0)),
        )
        for varied, values in QUICK_VALUES.items()
        for form in FORMS
        for value in values
        for repeat in range(5)
        for level in [levels(varied, value)]
    ]
    return pd.DataFrame(rows, columns=TRADEOFF.schema.fieldNames())


def explored(spread):
    """Repeats around the same mean, as far as told for a weight."""
    rows = [
        (
            form,
            weight,
            request,
            repeat,
            False,
            *(figure * (1 + sign * spread(weight) / 100) for figure in (90, 8, 250)),
        )
        for form in FORMS
        for weight in (0.0, 1.0, 5.0, 20.0)
        for request in range(4)
        for repeat, sign in enumerate((-1, 1))
    ]
    return pd.DataFrame(rows, columns=EXPLORATION.schema.fieldNames())


def test_a_fall_with_samples_that_ends():
    steep = {1: 1.4, 50: 1.1, 500: 1.0, 1000: 0.999, 1500: 0.999}
    table = swept(lambda varied, value: 1.0 if varied == ALPHA else steep[value])
    verdicts = [claim.verdict for claim in TRADEOFF.claims(table, QUICK)]
    assert verdicts[:6] == [Verdict.NOT_REPRODUCED] * 6  # alpha changes nothing
    assert verdicts[6:] == [Verdict.REPRODUCED] * 8


def test_a_fall_with_alpha():
    table = swept(lambda varied, value: 1.0 if varied == SAMPLES else 1.0 - 0.1 * value)
    verdicts = [claim.verdict for claim in TRADEOFF.claims(table, QUICK)]
    assert verdicts[:3] == [Verdict.NOT_REPRODUCED, Verdict.REPRODUCED, Verdict.REPRODUCED]
    assert verdicts[6:9] == [Verdict.NOT_REPRODUCED] * 3  # samples change nothing
    slow = TRADEOFF.claims(swept(lambda _, value: 1.0 - 0.01 * min(value, 1.0)), QUICK)
    assert slow[1].verdict is Verdict.ORDERING_ONLY


def test_samples_that_never_suffice():
    table = swept(lambda varied, value: 1.0 if varied == ALPHA else 2.0 - value / 1500)
    verdicts = [claim.verdict for claim in TRADEOFF.claims(table, QUICK)]
    assert verdicts[8:10] == [Verdict.NOT_REPRODUCED] * 2


def test_spread_at_both_ends():
    wide = [
        claim.verdict for claim in EXPLORATION.claims(explored(lambda w: 3 if w in (0, 20) else 1), QUICK)
    ]
    assert wide == [Verdict.REPRODUCED] * 6
    narrow = [
        claim.verdict for claim in EXPLORATION.claims(explored(lambda w: 1 if w in (0, 20) else 3), QUICK)
    ]
    assert narrow == [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.NOT_REPRODUCED] * 2


def test_means_that_are_not_flat():
    table = explored(lambda _: 1)
    table.loc[table["exploration"] == 20, "server_cost"] *= 1.3
    assert EXPLORATION.claims(table, QUICK)[0].verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize("experiment", [TRADEOFF, EXPLORATION], ids=lambda item: item.name)
def test_rows_follow_the_schema_and_the_seed(experiment):
    run = next(
        run for run in experiment.runs(QUICK) if run.key.startswith(("samples/corrected/1/", "corrected"))
    )
    rows = list(experiment.rows(run, QUICK))
    assert {*rows[0]} == {*experiment.schema.fieldNames()}
    assert rows == list(experiment.rows(run, QUICK))
    assert rows != list(experiment.rows(run, replace(QUICK, seed=3)))
    keys = [run.key for run in experiment.runs(Setting())]
    assert len(keys) == len(set(keys)) > len(list(experiment.runs(QUICK)))


def test_figures_and_captions():
    assert "5 repeats" in TRADEOFF.draw(swept(lambda *_: 1.0), Figure(), QUICK)
    assert "4 requests" in EXPLORATION.draw(explored(lambda _: 1), Figure(), QUICK)


def test_full_runs_have_the_papers_repeats():
    alphas = [run for run in TRADEOFF.runs(Setting()) if run.key.startswith("alpha/corrected/0.5/")]
    assert len(alphas) == 10  # of ten requests each
    assert len([run for run in EXPLORATION.runs(Setting()) if run.key.startswith("corrected/20/")]) == 10
