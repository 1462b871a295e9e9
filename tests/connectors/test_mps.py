"""Problems as programs for solvers: what a solver makes of them is what `odp` proves."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ortools.linear_solver.python import model_builder_helper

import berth
from berth.connectors import load_any
from berth.connectors.mps import mps_of, solution_of
from berth.evaluation import METRIC_BY_NAME
from berth.files import problem_from
from berth.model import BadInput, Problem
from tests.cli.in_process import run_berth
from tests.exact.test_minimise import QUIET
from tests.oracle.enumerate import optimum
from tests.oracle.problems import solvable_problems

EXAMPLES = Path(__file__).parents[2] / "examples"
OBJECTIVES = [
    "response_time",
    "response_time_sum",
    "availability",
    "network_usage",
    "traffic",
    "nodes_used",
    "cost_per_hour",
    "placement_cost",
    "bandwidth_max",
    "utilisation_max",
]


def solved(text: str) -> tuple[float, str] | None:
    """The least cost by a solver of its own, and its solution as text; None: infeasible."""
    helper = model_builder_helper.ModelBuilderHelper()
    assert helper.import_from_mps_string(text)
    solver = model_builder_helper.ModelSolverHelper("scip")
    solver.solve(helper)
    if not solver.has_solution():
        return None
    lines = [f"{helper.var_name(k)} {value!r}" for k, value in enumerate(solver.variable_values().tolist())]
    return solver.objective_value(), "# a solution\n" + "\n".join(lines)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_solver_finds_the_optimum(objective: str) -> None:
    """Of random problems with all kinds of constraints; its plan is read back and breaks nothing."""

    @QUIET
    @given(st.data())
    def check(data: st.DataObject) -> None:
        document = {**data.draw(solvable_problems(objective)), "sharing": False}
        assume(not any("containers" in each for each in document["applications"]))
        assume(not any(o.get("reads") for each in document["applications"] for o in each["operators"]))
        metric = METRIC_BY_NAME[objective]
        best = optimum(document, metric.key, metric.maximise)
        problem = problem_from(document)
        found = solved(mps_of(problem))
        if best is None:
            assert found is None
            return
        assert found is not None
        cost, text = found
        value = math.exp(-cost) if objective == "availability" else cost
        assert value == pytest.approx(best, rel=1e-5, abs=1e-6)
        evaluation = berth.evaluate(problem, solution_of(problem, text))
        assert evaluation.violations == ()
        assert evaluation.metrics[metric.key] == pytest.approx(best, rel=1e-5, abs=1e-6)

    check()


def test_weighted_sums_have_their_constant() -> None:
    """A normalised sum of an example: the solver's objective is that of `odp`."""
    problem = replace(
        berth.load(EXAMPLES / "edge-cameras.yaml"), objective={"response_time": 1.0, "cost_per_hour": 1.0}
    )
    found = solved(mps_of(problem))
    assert found is not None
    plan = berth.solve(problem, "odp", time_limit=60)
    assert found[0] == pytest.approx(plan.objective, rel=1e-5, abs=1e-6)


def small(**more: Any) -> Problem:
    """Two operators on two nodes that have to share one."""
    return problem_from(
        {
            "format": "berth/v1",
            "name": "small",
            "network": {
                "nodes": [{"name": "a"}, {"name": "b", "speed": 2}],
                "delay_ms": [[0, 1], [1, 0]],
            },
            "applications": [
                {
                    "name": "x",
                    "operators": [{"name": "o", "work_ms": 1}, {"name": "p", "work_ms": 1, "parallelism": 2}],
                    "streams": [{"from": "o", "to": "p", "bytes_per_s": 1}],
                    "rules": [{"together": ["o", "p"]}],
                }
            ],
            **more,
        }
    )


def test_what_shares_a_node_has_one_column(tmp_path: Path) -> None:
    """Its solution places all of it, and is read by the commands like a plan."""
    (tmp_path / "small.sol").write_text("# Objective value = 1\nx/o@a 1e-9\nx/o@b 0.9999999\nc2 1\n")
    plan = load_any(small(), [tmp_path / "small.sol"]).plan
    assert plan.assignment == {"x/o": "b", "x/p#0": "b", "x/p#1": "b"}


def test_other_solutions_are_refused() -> None:
    """One of another problem's says nothing."""
    with pytest.raises(
        BadInput, match="no column of this problem is 1 in it; expected lines such as 'x/o@a 1'"
    ):
        solution_of(small(), "y/o@a 1\nx/o@a 0\n")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"survive": "node"}, "plans after losses are not in it"),
        (
            {"objective": {"availability": 1, "nodes_used": 1}, "objective_scale": "raw"},
            "objective.availability: is a product",
        ),
    ],
)
def test_what_is_not_linear_is_refused(more: dict[str, Any], words: str) -> None:
    """It says what it is."""
    with pytest.raises(BadInput, match=words):
        mps_of(small(**more))


def test_the_command(tmp_path: Path) -> None:
    """It writes the program without a plan, and wants one for other systems."""
    file = tmp_path / "model.mps"
    problem = str(EXAMPLES / "tag-and-count.yaml")
    done = run_berth("export", problem, "--to", "mps", "--out", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    found = solved(file.read_text())
    assert found is not None
    (tmp_path / "model.sol").write_text(found[1])
    done = run_berth("evaluate", problem, str(tmp_path / "model.sol"))
    assert done.returncode == 0
    assert "31.8 ms" in done.stdout
    done = run_berth("export", problem, "--to", "nomad", "--out", str(tmp_path))
    assert (done.returncode, done.stderr.strip()) == (
        2,
        "PLAN: is missing; only a program for solvers (--to mps) needs none",
    )
    done = run_berth("export", problem, "plan.json", "--to", "mps", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "--to mps: stands alone, without a plan" in done.stderr
