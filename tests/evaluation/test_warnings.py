"""What breaks nothing and is worth knowing."""

from __future__ import annotations

from berth.evaluation.warnings import problem_warnings
from berth.model import (
    Apart,
    Application,
    Network,
    Node,
    Operator,
    Problem,
    Survive,
    Where,
)


def problem(*rules: Apart | Where, survive: Survive | None = None) -> Problem:
    """Two nodes in one zone."""
    nodes = tuple(Node(name, labels={"zone": "paris"}, coordinates=(0.0,)) for name in ("a", "b"))
    return Problem("p", Network(nodes), (Application("p", (Operator("o"),), rules=rules),), survive=survive)


def test_labels_that_no_node_has() -> None:
    """The nearest one is asked for; where none is near, the values that there are."""
    told = "application p: rule for o: no node has the label"
    assert problem_warnings(problem(Where({"zone": "pars"}, ("o",)))) == (
        f"{told} zone: pars; did you mean 'paris'?",
    )
    assert problem_warnings(problem(Where({"zone": "lon"}, ("o",)))) == (
        f"{told} zone: lon (there are paris)",
    )
    assert problem_warnings(problem(Where({"zoen": "paris"}, ("o",)))) == (
        f"{told} zoen: paris; did you mean 'zone'?",
    )
    assert problem_warnings(problem(Apart(("o",), "zoen"))) == (f"{told} zoen; did you mean 'zone'?",)
    assert problem_warnings(problem(survive=Survive("zonne"))) == (
        "survive: no node has the label zonne, so no loss is looked at; did you mean 'zone'?",
    )


def test_a_loss_that_takes_everything() -> None:
    """Nothing is asked of what is lost: whoever wants that survived should know."""
    assert problem_warnings(problem(survive=Survive())) == ()
    assert problem_warnings(problem(survive=Survive("zone"))) == (
        "survive: the loss of paris takes every node that hosts: nothing is left to survive",
    )
