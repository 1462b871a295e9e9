"""X3.2 and X3.3: messages and migrations when rates change."""

from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from berth.experiments.experiment import Experiment, Run, Setting, Verdict
from berth.experiments.mopa.adapting import CHANGES, MESSAGES, MIGRATIONS, WAYS
from berth.experiments.networks import SYNTHETIC

QUICK = Setting(quick=True, seed=5)
RUN = Run("synthetic/0", {"network": SYNTHETIC, "draw": 0, "graphs": 2})


def table_of(experiment: Experiment, values: dict[str, list[int]]) -> pd.DataFrame:
    """The same values for three draws and both changes."""
    rows = [
        (SYNTHETIC, draw, graph, change, policy, value, False)
        for change in CHANGES
        for policy, numbers in values.items()
        for draw in range(3)
        for graph, value in enumerate(numbers)
    ]
    return pd.DataFrame(rows, columns=experiment.schema.names)


@pytest.mark.parametrize("experiment", [MESSAGES, MIGRATIONS])
def test_rows(experiment: Experiment) -> None:
    """Both ways to read the change; the same seed gives the same rows; runs have the paper's 2000 graphs."""
    rows = list(experiment.rows(RUN, QUICK))
    assert all(set(row) == set(experiment.schema.names) for row in rows)
    assert {row["change"] for row in rows} == set(CHANGES)
    assert not any(row["failed"] for row in rows)
    assert rows == list(experiment.rows(RUN, QUICK))
    assert rows != list(experiment.rows(RUN, replace(QUICK, seed=6)))
    assert sum(run.parameters["graphs"] for run in experiment.runs(Setting())) == 2000


def test_eager_never_migrates_less_than_lazy() -> None:
    rows = list(MIGRATIONS.rows(RUN, QUICK))
    counts = {(row["graph"], row["change"], row["policy"]): row["migrations"] for row in rows}
    for (graph, change, way), count in counts.items():
        if way.endswith("lazy"):
            assert count <= counts[graph, change, way.replace("lazy", "eager")]


def verdicts(experiment: Experiment, values: dict[str, list[int]]) -> list[Verdict]:
    return [claim.verdict for claim in experiment.claims(table_of(experiment, values), QUICK)]


def test_claims_on_messages() -> None:
    experiment = MESSAGES
    papers = {"MOPA": [0, 4, 5, 28], "SBON": [64, 300, 400, 365]}
    assert verdicts(experiment, papers) == [Verdict.REPRODUCED] * 8
    more = {"MOPA": [9, 40, 50, 200], "SBON": [64, 300, 400, 5000]}
    assert verdicts(experiment, more) == ([Verdict.REPRODUCED] + [Verdict.ORDERING_ONLY] * 3) * 2
    wrong = {"MOPA": [64, 300, 400, 365], "SBON": [0, 4, 5, 28]}
    assert verdicts(experiment, wrong) == [Verdict.NOT_REPRODUCED] * 8


def test_claims_on_migrations() -> None:
    experiment = MIGRATIONS
    fewer, many = [7] * 9 + [10], [10] * 9 + [9]
    same = {"MOPA, eager": fewer, "MOPA, lazy": fewer, "SBON, eager": many, "SBON, lazy": many}
    assert verdicts(experiment, same) == [Verdict.REPRODUCED] * 8
    far = {"MOPA, eager": [1] * 10, "MOPA, lazy": [1] * 10, "SBON, eager": many, "SBON, lazy": many}
    assert verdicts(experiment, far) == [Verdict.ORDERING_ONLY, Verdict.REPRODUCED] * 4
    wrong = {"MOPA, eager": many, "MOPA, lazy": many, "SBON, eager": fewer, "SBON, lazy": fewer}
    assert verdicts(experiment, wrong) == [Verdict.NOT_REPRODUCED] * 8


def test_figures() -> None:
    """They say how many graphs there are, and what failed."""
    table = table_of(MESSAGES, {"MOPA": [0, 4], "SBON": [64, 300]})
    table.loc[0, "failed"] = True
    caption = MESSAGES.draw(table, Figure(), QUICK)
    assert "6 graphs" in caption
    assert "1 of 24 plans failed" in caption
    ways = {way: [1, 2] for way in WAYS}
    figure = Figure()
    MIGRATIONS.draw(table_of(MIGRATIONS, ways), figure, QUICK)
    assert [axes.get_xlabel() for axes in figure.axes] == ["migrations"] * 2
