"""What X0.1 runs on Spark: the application and the model's word; the run itself is `--on-spark`."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from berth.experiments.experiment import Setting, Verdict
from berth.experiments.odp.on_spark import QUICK_BATCHES, TIMES, emulated_ms
from berth.experiments.odp.sentences import WORK, survives, tag_and_count, write_sentences
from berth.experiments.odp.setups import short_cut
from berth.experiments.odp.user_metrics import (
    FASTEST,
    MOST_AVAILABLE,
    ON_SPARK,
    USER_METRICS,
    plans_of,
    spark_claims,
)
from berth.runtime.placement import placement_of


def test_a_sentence_is_tagged_counted_and_ranked() -> None:
    text = " Big #Rome and #dublin, #rome #x "
    for work in WORK.values():
        text = work(text)
    assert text == "#rome:2 #dublin:1"


def test_the_plans_are_plans_for_the_application(tmp_path: Path) -> None:
    problem, _ = short_cut(Setting(seed=1), 0)
    app = tag_and_count(tmp_path / "sentences", tmp_path / "ranks", {}, 0)
    for plan in plans_of(problem).values():
        placement = placement_of(app, problem, plan)
        assert placement.nodes["parse"] == tuple(plan.assignment[f"tag-and-count/parse#{k}"] for k in (0, 1))


def test_rows_are_lost_as_often_as_said() -> None:
    fates = [survives(7, "tag", row, 0.9) for row in range(20_000)]
    assert np.mean(fates) == pytest.approx(0.9, abs=0.01)
    assert fates != [survives(8, "tag", row, 0.9) for row in range(20_000)]
    assert all(survives(7, "tag", row, 1.0) for row in range(1000))
    assert not any(survives(7, "tag", row, 0.0) for row in range(1000))


def test_sentences_have_ids_of_their_own(tmp_path: Path) -> None:
    write_sentences(tmp_path / "in", 2, 3)
    files = sorted((tmp_path / "in").iterdir())
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert [row["id"] for row in rows] == [0, 1, 2, 3, 4, 5]


def test_the_models_word_is_the_longest_way() -> None:
    problem, _ = short_cut(Setting(seed=1), 0)
    plan = plans_of(problem)[FASTEST]
    # every operator's executors are together in the fastest plan: there is one way
    steps = ["source", *(f"{name}#0" for name in WORK), "consumer"]
    nodes = [problem.network.index[plan.assignment[f"tag-and-count/{name}"]] for name in steps]
    ways = (problem.network.table.delay_ms[here, there] for here, there in pairwise(nodes) if here != there)
    assert emulated_ms(problem, plan) == pytest.approx(TIMES * sum(ways))


def test_only_where_it_is_asked_for() -> None:
    keys = {
        asked: [run.key for run in USER_METRICS.runs(Setting(quick=True, on_spark=asked))]
        for asked in (True, False)
    }
    assert set(keys[True]) - set(keys[False]) == {"on-spark"}
    last = list(USER_METRICS.runs(Setting(quick=True, on_spark=True)))[-1]
    assert last.in_driver
    assert last.parameters["batches"] == QUICK_BATCHES


@pytest.mark.parametrize(
    ("fast", "slow", "lost", "verdicts"),
    [
        (5.0, 9.0, 0.035, [Verdict.REPRODUCED] * 3),
        (8.0, 10.0, 0.01, [Verdict.ORDERING_ONLY] * 3),
        (9.0, 5.0, 0.0, [Verdict.NOT_REPRODUCED] * 3),
    ],
)
def test_claims(fast: float, slow: float, lost: float, verdicts: list[Verdict]) -> None:
    rows = [
        {
            "method": method + ON_SPARK,
            "sample": None,
            "latency_ms": 1000.0 * seconds + batch,
            "goal": goal,
            "lost_share": share * (1 + 0.01 * batch),
            "availability": 0.99**8,
        }
        for method, seconds, goal, share in (
            (FASTEST, fast, 4000.0, lost),
            (MOST_AVAILABLE, slow, 8000.0, 0.0),
        )
        for batch in range(4)
    ]
    assert [claim.verdict for claim in spark_claims(pd.DataFrame(rows))] == verdicts
