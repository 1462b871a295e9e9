"""From what policies did to standings: ratios, failures told apart, their order."""

import math

import pandas as pd
import pytest
from matplotlib.figure import Figure

from berth.experiments.experiment import Setting
from berth.experiments.league.experiment import LEAGUE
from berth.experiments.league.fixtures import MANY, SMALL
from berth.experiments.league.page import page
from berth.experiments.league.solving import BROKEN, CRASHED, NO_PLAN, NOT_MADE, PLAN
from berth.experiments.league.standings import is_proved, standings, with_ratios

Did = tuple[str, str, str, str, float | None, float | None]


def table_of(*did: Did, maximise: bool = False) -> pd.DataFrame:
    """Rows of (group, problem, policy, outcome, value, bound)."""
    rows = [
        (problem, group, policy, 0, 5, 3, "traffic", maximise, outcome, value, bound, False, 0.5, None)
        for group, problem, policy, outcome, value, bound in did
    ]
    return pd.DataFrame(rows, columns=LEAGUE.schema.names)


TABLE = table_of(
    (SMALL, "a", "odp", PLAN, 10.0, 10.0),
    (SMALL, "a", "mopa", PLAN, 20.0, None),
    (SMALL, "a", "ffd", NOT_MADE, None, None),
    (SMALL, "b", "odp", PLAN, 8.0, 3.5),
    (SMALL, "b", "mopa", PLAN, 4.0, None),
    (SMALL, "b", "ffd", NOT_MADE, None, None),
    (SMALL, "c", "odp", PLAN, 3.0, 3.0),
    (SMALL, "c", "mopa", BROKEN, None, None),
    (SMALL, "c", "ffd", NOT_MADE, None, None),
    (MANY, "d", "odp", NO_PLAN, None, None),
    (MANY, "d", "mopa", CRASHED, None, None),
    (MANY, "d", "ffd", PLAN, 1.0, None),
)


def test_ratios_and_failures() -> None:
    """Geometric means of what has a plan; everything else is counted by what it is."""
    odp, mopa, ffd = standings(with_ratios(TABLE), SMALL)
    assert (odp.policy, odp.near, odp.plans, odp.made_for) == ("odp", 2, 3, 3)
    assert odp.ratio == pytest.approx(2.0 ** (1 / 3))
    assert (mopa.policy, mopa.near, mopa.plans, mopa.broken, mopa.made_for) == ("mopa", 1, 2, 1, 3)
    assert mopa.ratio == pytest.approx(math.sqrt(2.0))
    assert (ffd.not_made, ffd.made_for) == (3, 0)
    assert math.isnan(ffd.ratio)
    first, *others = standings(with_ratios(TABLE), MANY)
    assert first.policy == "ffd"
    assert [item.without for item in others] == [1, 1]


def test_more_is_better_where_it_is() -> None:
    table = table_of(
        (SMALL, "a", "odp", PLAN, 0.9, 0.95), (SMALL, "a", "mopa", PLAN, 0.6, None), maximise=True
    )
    told = with_ratios(table).set_index("policy")
    assert told.loc["odp", "ratio"] == 1.0
    assert told.loc["mopa", "ratio"] == pytest.approx(1.5)
    assert told.loc["mopa", "proved"] == 0.95


def test_a_best_of_nothing() -> None:
    """Above 0 there is no ratio to 0, and it is not called near."""
    table = table_of((SMALL, "a", "odp", PLAN, 0.0, None), (SMALL, "a", "mopa", PLAN, 5.0, None))
    found = {item.policy: item for item in standings(with_ratios(table), SMALL)}
    assert found["odp"].near == 1
    assert found["mopa"].near == 0


def test_proofs() -> None:
    assert is_proved(10.0, 10.0)
    assert not is_proved(10.0, 9.9)


def test_the_page() -> None:
    """Advice, a table for each group, those not made for it, and which best values are proved."""
    text = page(TABLE, 2.0, quick=True)
    assert "berth reproduce league --quick --out league" in text
    assert "[odp](policies/odp.md) (1.26 times the best known, 0.50 s, plans for 3 of 3)" in text
    assert "| [mopa](policies/mopa.md) | 1.41 | 1 of 3 | 2 | 1 |  | 0.50 |" in text
    assert "Not made for any of these: [ffd](policies/ffd.md)." in text
    assert "| a | 5 | 3 | traffic | 10 | odp | yes |" in text
    assert "| b | 5 | 3 | traffic | 4 | mopa | bound 3.5 |" in text
    assert "| d | 5 | 3 | traffic | 1 | ffd | no |" in text


def test_the_quick_one_shares_the_goal_and_saves_time() -> None:
    values = {"auto": 10.0, "odp": 10.0, "mopa": 12.0, "sbon": 10.5, "search": 11.0}
    table = table_of(*((SMALL, "a", name, PLAN, value, None) for name, value in values.items()))
    table = table.assign(seconds=[0.0, 2.0, 0.5, 0.001, 1.5], own_goal=table["policy"] == "sbon")
    text = page(table, 2.0, quick=True)
    assert "dozen operators**: [odp](policies/odp.md) (1.00 times the best known, 2.0 s" in text
    assert "quicker and near: [mopa](policies/mopa.md) (1.20 times" in text
    assert "[sbon](policies/sbon.md) † | 1.05 | 0 of 1 | 1 |  |  | < 0.01 |" in text
    assert "quicker" not in page(table.assign(seconds=1.9), 2.0, quick=True)
    assert "has a goal of its own)" in page(table.assign(own_goal=True), 2.0, quick=True)


def test_the_figure() -> None:
    assert "4 problems, 2 s" in LEAGUE.draw(TABLE, Figure(), Setting(quick=True))
    assert not LEAGUE.claims(TABLE, Setting(quick=True))
