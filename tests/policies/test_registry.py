"""Finding policies, berth's own and others', and giving them parameters."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, Literal

import numpy as np
import pytest

import berth
from berth.model import BadInput
from berth.policies import About, Answer, NoParameters, Task, find_policy, policy_names, registry
from berth.policies.policy import parameters_from
from tests.exact.instances import paper_instance


class AllOnOne:
    """A policy that a user might write: everything on the first node."""

    about = About("all-on-one", "none", "nothing", "nothing")
    parameters = NoParameters

    def solve(self, task: Task) -> Answer:
        return Answer("feasible", np.zeros(len(task.problem.instances), dtype=np.intp))


def test_every_policy_describes_itself() -> None:
    """Each name of the registry leads to a policy of that name."""
    for name in policy_names():
        assert find_policy(name).about.name == name


def test_unknown_policy() -> None:
    """A wrong name is bad input, with the nearest right one."""
    with pytest.raises(BadInput, match="did you mean 'odp'"):
        berth.solve(paper_instance("sequential", 2, 2), "opd")


def test_a_policy_object_works() -> None:
    """A user's policy needs no registration to be tried; the judge lists what it breaks."""
    plan = berth.solve(paper_instance("sequential", 6, 3), AllOnOne())
    assert plan.policy == "all-on-one"
    assert plan.violations == ("node n0: cpu 6 needed, 4 there",)


def test_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package's entry point adds its policy to the list and to `solve`."""
    point = EntryPoint("all-on-one", f"{__name__}:AllOnOne", registry.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: AllOnOne)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    assert "all-on-one" in policy_names()
    assert berth.solve(paper_instance("sequential", 3, 3), "all-on-one").status == "feasible"


def test_broken_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that can't be loaded is one line, not a traceback."""
    point = EntryPoint("broken", "no_such_module:Policy", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    with pytest.raises(BadInput, match="broken can't be loaded"):
        find_policy("broken")


@dataclass(frozen=True)
class Parameters:
    share: float = 0.5
    count: int = 1
    fast: bool = False
    kind: Literal["a", "b"] = "a"
    limit: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError(f"share: {self.share} is not from 0 to 1")


def test_parameters_from_text() -> None:
    """Values are converted to the kind of their field."""
    given = {"share": "0.25", "count": "3", "fast": "true", "kind": "b", "limit": "none"}
    assert parameters_from(Parameters, given, "p") == Parameters(0.25, 3, True, "b", None)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"shar": "1"}, "--set shar: policy p has no parameter named 'shar'; did you mean 'share'?"),
        ({"share": "x"}, "--set share: expected a number, found 'x'"),
        ({"count": "1.5"}, "--set count: expected a whole number, found '1.5'"),
        ({"fast": "maybe"}, "--set fast: expected true or false, found 'maybe'"),
        ({"kind": "c"}, "--set kind: expected 'a' or 'b', found 'c'"),
        ({"share": "2"}, "--set share: 2.0 is not from 0 to 1"),
    ],
)
def test_wrong_parameters(given: dict[str, Any], line: str) -> None:
    """Each mistake names the parameter, the value and what was expected."""
    with pytest.raises(BadInput) as caught:
        parameters_from(Parameters, given, "p")
    assert caught.value.mistakes == (line,)
