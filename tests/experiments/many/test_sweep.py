from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import berth
from berth.experiments.experiment import Setting, Verdict
from berth.experiments.many import loads, processors
from berth.experiments.many.heuristics import H1, H2, H3, HEURISTICS, REUSE, USUAL, costs, forest, outcome_of
from berth.generators.forest import Forest
from berth.policies.sharing.heuristics import STRATEGIES
from tests.experiments.many.outcomes import made

SWEEPS = [processors.SWEEP, *loads.SWEEPS]
QUICK = Setting(quick=True, seed=3)


def table_of(sweep, setting, most_runs=None):
    runs = list(sweep.runs(setting))[:most_runs]
    return pd.DataFrame([row for run in runs for row in sweep.rows(run, setting)])


def small(sweep):
    """The same with few forests, and with the first and last values."""
    values = (*sweep.values[:2], sweep.values[-1])
    return replace(sweep, values=values, usual_value=values[0], quick_forests=2)


def test_costs_are_those_of_the_policies_and_the_judge():
    problem = forest(5, Forest(applications=2, processors=10, most_operators=15, **USUAL))
    cost = costs(problem, 5)
    for place, strategy in enumerate(STRATEGIES):
        for number, heuristic in enumerate(HEURISTICS.values()):
            plan = berth.solve(problem, heuristic.about.name, seed=5, processors=strategy)
            found = plan.metrics.get("enrolled_speed", np.inf)
            assert cost[REUSE, place, number] == pytest.approx(found)


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda item: item.name)
def test_quick_runs_are_few_and_full_ones_are_the_papers(sweep):
    forests = dict.fromkeys(sweep.values, 0)
    for run in sweep.runs(Setting()):
        if run.parameters["variant"] == "as usual":
            forests[run.parameters["value"]] += run.parameters["forests"]
    assert set(forests.values()) == {50}
    keys = [run.key for run in sweep.runs(QUICK)]
    assert len(keys) == len(set(keys)) <= len(list(sweep.runs(Setting())))


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda item: item.name)
def test_rows_follow_the_schema_and_the_seed(sweep):
    tiny = replace(sweep, values=sweep.values[:1], quick_forests=2)
    table = table_of(tiny, QUICK, 1)
    assert list(table.columns) == sweep.experiment().schema.fieldNames()
    assert table.equals(table_of(tiny, QUICK, 1))
    assert not table.equals(table_of(tiny, Setting(quick=True, seed=4), 1))
    assert table["enrolled_speed"].notna().equals(table["found"])


def test_claims_and_figure_of_a_small_run():
    sweep = small(processors.SWEEP)
    table = table_of(sweep, QUICK)
    figure = Figure()
    caption = sweep.draw(table, figure, QUICK)
    assert "2 random forests" in caption
    assert len(figure.axes) == 13
    shuffled = table.sample(frac=1.0, random_state=1)
    one, other = (outcome_of(part[part["variant"] == "as usual"]) for part in (table, shuffled))
    assert np.array_equal(one.found, other.found)
    assert np.array_equal(one.quality, other.quality)
    assert one.quality.max() == 1.0
    assert (one.quality[one.found == 0] == 0).all()


def verdicts(sweep, outcome):
    return {text: rule.claim(text, outcome).verdict for text, rule in sweep.questions.items()}


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda item: item.name)
def test_the_papers_world_and_its_opposite(sweep):
    values = tuple(float(value) for value in sweep.values)
    as_told = verdicts(sweep, made(values, {H3: 1.0}))
    opposite = verdicts(sweep, made(values, {H1: 1.0, H2: 1.0}))
    assert sum(verdict is Verdict.REPRODUCED for verdict in as_told.values()) > sum(
        verdict is Verdict.REPRODUCED for verdict in opposite.values()
    )
    assert all(
        opposite[text] is Verdict.NOT_REPRODUCED for text in opposite if text.startswith("RandomNoReuse")
    )
