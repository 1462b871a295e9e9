"""FFD: the paper's text and Heron's own way."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from berth.files import problem_from
from berth.model import BadInput
from tests.policies.two_stage.cases import case, packed, solve

some = settings(
    max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
ROOMY = ({"cpu": 9000, "memory": 9000, "gpu": 9000},)


def ffd(operators: dict[str, Any], containers: Any, **parameters: Any) -> list[str]:
    """What FFD puts into each container; nothing flows."""
    plan = solve(problem_from(case(operators, {}, containers, ROOMY)), "ffd", **parameters)
    assert not plan.violations
    return packed(plan)


def test_the_paper_takes_the_emptiest_container_heron_the_first() -> None:
    """6 and 5 open two containers of 10; the 1 goes where 5 are free, or where 4 are."""
    sizes = {"x": 6, "y": 5, "z": 1}
    assert ffd(sizes, (3, 10)) == ["x", "y z"]
    assert ffd(sizes, (3, 10), variant="heron") == ["x z", "y"]


def test_only_heron_sorts() -> None:
    """4, 5, 6, 5 in containers of 10: as they come three containers, by size two."""
    sizes = {"w": 4, "x": 5, "y": 6, "z": 5}
    assert ffd(sizes, (4, 10)) == ["w x", "y", "z"]
    assert ffd(sizes, (4, 10), variant="heron") == ["w y", "x z"]


def test_heron_sorts_by_memory_first() -> None:
    """Then by processor, then by the rest; whatever the order in the file."""
    demands = {
        "v": {"gpu": 5, "cpu": 9, "memory": 1},
        "w": {"gpu": 0, "cpu": 8, "memory": 2},
        "x": {"gpu": 0, "cpu": 9, "memory": 2},
        "y": {"gpu": 1, "cpu": 8, "memory": 2},
    }
    operators = {name: {"demand": demand} for name, demand in demands.items()}
    capacity = {"gpu": 9, "cpu": 10, "memory": 10}
    assert ffd(operators, (4, capacity), variant="heron") == ["x", "y", "w", "v"]
    assert ffd(operators, (4, capacity)) == ["v", "w", "x", "y"]


def test_free_resources_count_as_shares() -> None:
    """9 of 10 and 200 of 1000 free are more than 5 of 10 and 500 of 1000; ties go to the first."""
    small = {"demand": {"cpu": 1, "memory": 1}}

    def third(first: dict[str, float], second: dict[str, float]) -> list[str]:
        operators = {"x": {"demand": first}, "y": {"demand": second}, "z": small}
        return ffd(operators, (3, {"cpu": 10, "memory": 1000}))

    assert third({"cpu": 5, "memory": 500}, {"cpu": 1, "memory": 800}) == ["x", "y z"]
    assert third({"cpu": 7, "memory": 900}, {"cpu": 9, "memory": 700}) == ["x z", "y"]


def test_heron_s_padding_and_limit() -> None:
    """A tenth stays free, or only so many instances share a container; neither is the paper's."""
    two = {"x": {"parallelism": 2, "demand": {"cpu": 5}}}
    assert ffd(two, (2, 10), variant="heron") == ["x#0 x#1"]
    assert ffd(two, (2, 10), variant="heron", padding=0.1) == ["x#0", "x#1"]
    assert ffd(two, (2, 10), padding=0.1) == ["x#0 x#1"]
    many = {"x": {"parallelism": 12, "demand": {"cpu": 0.1}}}
    assert [len(each.split()) for each in ffd(many, (2, 10), variant="heron")] == [10, 2]
    three = ffd(many, (6, 10), variant="heron", instances_per_container=5)
    assert [len(each.split()) for each in three] == [5, 5, 2]
    assert len(ffd(many, (2, 10), variant="heron", instances_per_container="none")) == 1
    assert len(ffd(many, (2, 10))) == 1


@pytest.mark.parametrize(
    ("containers", "parameters", "reason"),
    [
        ((2, 4), {}, "stuck at a/x#2: none of the 2 containers has room left; more or larger ones may help"),
        ((2, 2), {}, "stuck at a/x#0: it fits no container: cpu 3 needed, a container has 2"),
        (
            (3, 3),
            {"variant": "heron", "padding": 0.5},
            "stuck at a/x#0: it fits no container: cpu 3 needed, a container has 3 less 0.5 of it as padding",
        ),
        (
            (2, 9),
            {"variant": "heron", "instances_per_container": 1},
            "stuck at a/x#2: none of the 2 containers has room left (at most 1 instances in each); "
            "more or larger ones may help",
        ),
    ],
)
def test_stuck_says_where(containers: Any, parameters: dict[str, Any], reason: str) -> None:
    """Which instance fits no container, and why."""
    raw = case({"x": {"parallelism": 3, "demand": {"cpu": 3}}}, {}, containers, ROOMY)
    plan = solve(problem_from(raw), "ffd", **parameters)
    assert (plan.status, plan.found) == ("unknown", False)
    assert plan.reason == f"first stage, ffd: {reason}"


def test_rates_may_be_unknown() -> None:
    """Sizes are enough; T and W are left out."""
    raw = case({"x": 1, "y": 1}, {"xy": 5})
    del raw["applications"][0]["streams"][0]["bytes_per_s"]
    plan = solve(problem_from(raw), "ffd")
    assert plan.objective == plan.trace["U"] == 1
    assert dict(plan.goal) == {"containers_used": 1.0}
    assert not {"T", "W"} & set(plan.trace)


@given(strategies.lists(strategies.integers(1, 9), min_size=1, max_size=12), strategies.booleans())
@some
def test_against_a_plain_packing(sizes: list[int], heron: bool) -> None:
    """The same containers as a packing written down step by step."""
    numbers = list(range(len(sizes)))
    contents: list[list[int]] = []
    for number in sorted(numbers, key=lambda k: -sizes[k]) if heron else numbers:
        free = [10 - sum(sizes[k] for k in content) for content in contents]
        fitting = [c for c in range(len(contents)) if free[c] >= sizes[number]]
        if not fitting:
            contents.append([number])
        else:
            contents[fitting[0] if heron else max(fitting, key=lambda c: free[c])].append(number)
    operators = {f"x{number}": size for number, size in enumerate(sizes)}
    variant = "heron" if heron else "paper"
    found = ffd(operators, (12, 10), variant=variant, instances_per_container="none")
    assert found == [" ".join(f"x{number}" for number in sorted(content)) for content in contents]


@pytest.mark.parametrize(
    ("name", "value"),
    [("padding", 1.0), ("padding", -0.5), ("padding", "nan"), ("instances_per_container", 0)],
)
def test_parameters_out_of_range(name: str, value: Any) -> None:
    """The line names field and value."""
    with pytest.raises(BadInput, match=f"--set {name}: {value}"):
        ffd({"x": 1}, (1, 1), variant="heron", **{name: value})
