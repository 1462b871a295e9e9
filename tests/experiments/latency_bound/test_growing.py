"""X2.1 to X2.3: latency, usage and messages while graphs are deployed."""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

import berth
from berth.experiments.experiment import Experiment, Run, Setting, Verdict
from berth.experiments.latency_bound.effort import MESSAGES, USAGE
from berth.experiments.latency_bound.growing import LABELS, LATE, PRESENT, SCHEMA, _problem, growing_rows
from berth.experiments.latency_bound.latency import LATENCY
from berth.experiments.networks import SYNTHETIC

QUICK = Setting(quick=True, seed=5)


def run_of(candidates: str, stale: float = PRESENT) -> Run:
    parameters = {"network": SYNTHETIC, "draw": 0, "stale": stale, "candidates": candidates, "counts": [3, 6]}
    return Run("a", parameters)


def test_rows() -> None:
    """The same graphs for every way, the same rows for a seed."""
    rows = list(growing_rows(run_of("cknn"), QUICK))
    assert [row["operators"] for row in rows] == [6, 12]
    assert all(set(row) == set(SCHEMA.names) for row in rows)
    assert all(row["latencies"] == row["graphs"] for row in rows)
    assert rows == list(growing_rows(run_of("cknn"), QUICK))
    assert rows != list(growing_rows(run_of("cknn"), replace(QUICK, seed=6)))
    asked = {way: list(growing_rows(run_of(way), QUICK))[1]["messages"] for way in ("knn", "krand", "el")}
    assert asked["knn"] <= 10
    assert asked["krand"] <= 10
    assert asked["el"] > 100


def test_the_first_graphs_are_as_if_no_others_came() -> None:
    """What is read off the first graphs of a plan is what solving them alone gives."""
    first, _ = growing_rows(run_of("krand"), QUICK)
    alone = berth.solve(
        _problem(QUICK, SYNTHETIC, 0, 3),
        "latency-bound",
        bound_ms=0,
        candidates="krand",
        refine=False,
        neighbours=False,
    )
    latencies = alone.trace["latency_ms"].values()
    assert first["latency_ms"] == pytest.approx(sum(latencies) / 3)
    assert first["usage_kb"] == pytest.approx(alone.metrics["network_usage_bytes"] / 3000.0)


def test_runs() -> None:
    """Every way, with present and late loads, up to 240 operators."""
    for experiment in (LATENCY, USAGE, MESSAGES):
        runs = list(experiment.runs(Setting()))
        assert len({run.key for run in runs}) == len(runs)
        assert all(max(run.parameters["counts"]) == 120 for run in runs)
        assert {(run.parameters["candidates"], run.parameters["stale"]) for run in runs} == {
            (way, stale) for way in LABELS for stale in (PRESENT, LATE)
        }


def table_of(values: Mapping[float, Mapping[str, tuple[float, float]]], column: str) -> pd.DataFrame:
    """Values with few operators and with many, of three draws that differ a little."""
    rows = []
    for stale, ways in values.items():
        for way, pair in ways.items():
            for draw in range(3):
                for graphs, value in zip((10, 120), pair, strict=True):
                    entry = {"latency_ms": 1.0, "usage_kb": 1.0, "messages": 1.0}
                    entry[column] = value * (1.0 + 0.001 * draw)
                    rows.append((SYNTHETIC, draw, stale, way, 2 * graphs, graphs, graphs, *entry.values()))
    return pd.DataFrame(rows, columns=SCHEMA.names)


def both(**ways: tuple[float, float]) -> dict[float, dict[str, tuple[float, float]]]:
    return {PRESENT: ways, LATE: ways}


def verdicts(experiment: Experiment, table: pd.DataFrame) -> list[Verdict]:
    return [claim.verdict for claim in experiment.claims(table, QUICK)]


def test_claims_on_latency() -> None:
    papers = both(knn=(100, 400), krand=(101, 600), el=(100, 410), cknn=(100, 290))
    assert verdicts(LATENCY, table_of(papers, "latency_ms")) == [Verdict.REPRODUCED] * 7
    wrong = both(knn=(100, 40), krand=(200, 30), el=(100, 20), cknn=(100, 90))
    assert verdicts(LATENCY, table_of(wrong, "latency_ms")) == [Verdict.NOT_REPRODUCED] * 7
    closer = both(knn=(100, 300), krand=(101, 600), el=(100, 310), cknn=(100, 290))
    assert verdicts(LATENCY, table_of(closer, "latency_ms"))[3] is Verdict.ORDERING_ONLY


def test_claims_on_usage() -> None:
    papers = both(knn=(1, 1), krand=(1, 1), el=(3, 3), cknn=(2, 2))
    assert verdicts(USAGE, table_of(papers, "usage_kb")) == [Verdict.REPRODUCED] * 4
    wrong = both(knn=(3, 3), krand=(3, 3), el=(1, 1), cknn=(2, 2))
    assert verdicts(USAGE, table_of(wrong, "usage_kb")) == [Verdict.NOT_REPRODUCED] * 4


def test_claims_on_messages() -> None:
    papers = both(knn=(10, 10), krand=(10, 10), el=(288, 288), cknn=(18, 18))
    assert verdicts(MESSAGES, table_of(papers, "messages")) == [Verdict.REPRODUCED] * 6
    more = both(knn=(14, 14), krand=(14, 14), el=(388, 388), cknn=(28, 28))
    assert verdicts(MESSAGES, table_of(more, "messages")) == [Verdict.ORDERING_ONLY] * 6
    wrong = both(knn=(10, 10), krand=(10, 10), el=(9, 9), cknn=(18, 18))
    assert set(verdicts(MESSAGES, table_of(wrong, "messages"))[:4]) == {Verdict.NOT_REPRODUCED}


@pytest.mark.parametrize("experiment", [LATENCY, USAGE, MESSAGES])
def test_figures(experiment: Experiment) -> None:
    """Deployments without a latency are told in the caption."""
    table = table_of(both(knn=(1, 1), krand=(1, 1), el=(3, 3), cknn=(2, 2)), "usage_kb")
    table.loc[0, "latencies"] = 0
    assert "1 of 48 deployments failed" in experiment.draw(table, Figure(), QUICK)
