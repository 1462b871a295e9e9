from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from berth.experiments.experiment import Run, Setting, Verdict
from berth.experiments.judging import Mean
from berth.experiments.mips.comparison import (
    AS_USUAL,
    COMPARISON,
    FB,
    FURTHER,
    MB,
    MM_BOTH,
    MM_TRAFFIC,
    MM_UTIL,
    RB,
    SCHEMES,
    TB,
    VARIANTS,
)
from berth.experiments.mips.schemes import FAT_TREE, JELLYFISH, TOPOLOGIES, placed, reduction, requested
from berth.model import Containers

QUICK = Setting(quick=True, seed=2)
PAPERS = {  # traffic, containers and cost between servers that keep to the paper's prose
    MM_TRAFFIC: (88, 8, 200),
    MM_BOTH: (89.5, 7, 205),
    MM_UTIL: (92, 6.7, 210),
    FB: (101, 8, 505),
    TB: (92, 10, 300),
    RB: (100, 8, 500),
}


def table_of(figures, repeats=6, topologies=TOPOLOGIES):
    """Repeats that differ a little, with the same differences between schemes."""
    further = dict.fromkeys(FURTHER, figures[TB]) | {MB: (88, 8, 250)}
    rows = [
        (
            AS_USUAL,
            topology,
            repeat,
            scheme,
            False,
            *(value * (1 + repeat / 100) for value in values),
            200.0,
            18,
        )
        for topology in topologies
        for repeat in range(repeats)
        for scheme, values in {**figures, **further}.items()
    ]
    return pd.DataFrame(rows, columns=COMPARISON.schema.fieldNames())


def verdicts(table):
    return [claim.verdict for claim in COMPARISON.claims(table, QUICK)]


def test_numbers_like_the_papers_are_reproduced():
    claims = COMPARISON.claims(table_of(PAPERS), QUICK)
    failed = [claim for claim in claims if claim.verdict is not Verdict.REPRODUCED]
    assert [claim.text for claim in failed] == []


def test_a_baseline_that_is_better_is_told():
    better = verdicts(table_of(PAPERS | {FB: (50, 6, 100), TB: (50, 6, 100), RB: (50, 6, 100)}))
    assert better[1:7] == [Verdict.NOT_REPRODUCED] * 6


def test_the_order_alone_is_told():
    claims = COMPARISON.claims(table_of(PAPERS | {FB: (150, 8, 2000)}), QUICK)
    assert claims[1].verdict is Verdict.ORDERING_ONLY
    assert claims[1].ours.startswith("39.2 ")


def test_failed_repeats_are_counted_and_left_out():
    table = table_of(PAPERS)
    table.loc[0, ["traffic", "containers", "server_cost"]] = None
    table.loc[0, "failed"] = True
    claims = COMPARISON.claims(table, QUICK)
    assert "over 5 repeats" in claims[1].ours
    assert any("1 of" in claim.reason for claim in claims)
    assert "1 of" in COMPARISON.draw(table, Figure(), QUICK)


def test_a_first_stage_that_depends_on_the_topology_is_told():
    table = table_of(PAPERS)
    table.loc[(table["topology"] == JELLYFISH) & (table["scheme"] == FB), "traffic"] += 1
    assert verdicts(table)[0] is Verdict.NOT_REPRODUCED


def test_a_run_has_all_schemes_and_its_seed_decides():
    run = next(iter(COMPARISON.runs(QUICK)))
    rows = list(COMPARISON.rows(run, QUICK))
    assert len(rows) == 2 * len(SCHEMES) + len(FURTHER)
    assert {*rows[0]} == {*COMPARISON.schema.fieldNames()}
    assert rows == list(COMPARISON.rows(run, QUICK))
    assert rows != list(COMPARISON.rows(run, replace(QUICK, seed=3)))
    both = [
        [(row["traffic"], row["containers"]) for row in rows if row["topology"] == name]
        for name in TOPOLOGIES
    ]
    assert both[0][: len(SCHEMES)] == both[1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_have_rows_too(variant):
    rows = list(COMPARISON.rows(Run(f"{variant}/0", {"variant": variant, "repeat": 0}), QUICK))
    assert [row["scheme"] for row in rows] == list(SCHEMES)
    assert all(row["failed"] == (row["traffic"] is None) for row in rows)


def test_a_request_is_the_same_under_both_topologies():
    one, other = (requested(name, 1, 2) for name in TOPOLOGIES)
    assert one.applications == other.applications
    assert requested(FAT_TREE, 1, 3).applications != one.applications


def test_a_scheme_without_room_fails():
    problem = requested(FAT_TREE, 0, 0)
    tight = replace(problem.applications[0], containers=Containers(1, {"cpu": 2, "memory": 1e9}))
    assert placed(replace(problem, applications=(tight,)), "ffd", {}, 0)["failed"]


def test_a_reduction_is_one_of_means_with_its_error():
    assert reduction([80, 160], [100, 200]) == Mean(pytest.approx(20.0), pytest.approx(0.0, abs=1e-9), 2)
    assert reduction([80, 120], [100, 100]).error > 10
