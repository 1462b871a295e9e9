from hypothesis import given
from hypothesis import strategies as st

from berth.experiments.experiment import Run
from berth.experiments.framework.journal import Identity
from berth.experiments.framework.missing import (
    TASK_SECONDS,
    Missing,
    Task,
    remaining_tasks,
    sample_tasks,
    typical_seconds,
)

HERE = Identity(False, 0, "none", "code")


def missing(name: str, count: int) -> Missing:
    return Missing(
        name, f"m.{name}", HERE, [Run(f"{name}-{number}", {"n": number}) for number in range(count)]
    )


def keys(tasks: list[Task]) -> list[list[str]]:
    return [[run["key"] for run in task] for task in tasks]


def test_a_sample_is_the_first_and_the_middle_of_each_with_papers_in_turn() -> None:
    items = [missing("X0.1", 5), missing("X0.2", 1), missing("X3.1", 2), missing("X4.1", 0)]
    assert keys(sample_tasks(items)) == [["X0.1-0", "X0.1-2"], ["X3.1-0", "X3.1-1"], ["X0.2-0"]]


def test_the_longest_runs_come_first_and_short_ones_share_a_task() -> None:
    items = [missing("X0.1", 5), missing("X3.1", 2)]
    tasks = remaining_tasks(items, {"X0.1": TASK_SECONDS / 2, "X3.1": 60.0})
    assert keys(tasks) == [["X3.1-0"], ["X3.1-1"], ["X0.1-0", "X0.1-1"], ["X0.1-2", "X0.1-3"], ["X0.1-4"]]


@given(st.lists(st.integers(0, 30), max_size=5), st.lists(st.floats(0.0, 100.0), min_size=5, max_size=5))
def test_every_run_is_dealt_once(counts: list[int], seconds: list[float]) -> None:
    items = [missing(f"X{number}.1", count) for number, count in enumerate(counts)]
    known = {item.name: value for item, value in zip(items[1:], seconds, strict=False)}
    dealt = [key for task in keys(remaining_tasks(items, known)) for key in task]
    assert sorted(dealt) == sorted(run.key for item in items for run in item.runs)


def test_the_first_run_compiles_and_says_little() -> None:
    assert typical_seconds([20.0, 1.0]) == 1.0
    assert typical_seconds([3.0]) == 3.0
    assert typical_seconds([1.0, 2.0, 30.0, 3.0]) == 2.0


def test_a_task_is_plain_values() -> None:
    assert missing("X0.1", 1).task([Run("k", {"b": [1, 2], "a": "x"})]) == [
        {
            "experiment": "X0.1",
            "place": "m.X0.1",
            "code": "code",
            "key": "k",
            "parameters": '{"a": "x", "b": [1, 2]}',
        }
    ]
