"""How requests are dealt to rounds and tasks."""

import pytest

from berth.pipeline.many.variants_to_solve import LONGEST_TASK, Round, next_round


def rounds(total: int, cores: int, seconds: float) -> list[Round]:
    """All rounds of a run in which every request takes the same time."""
    found: list[Round] = []
    start = 0
    while start < total:
        found.append(next_round(start, total, cores, len(found), seconds if found else None))
        start = found[-1].end
    return found


@pytest.mark.parametrize("cores", [1, 2, 200])
@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.2, 60.0])
@pytest.mark.parametrize("total", [1, 7, 100, 5_000, 1_000_000])
def test_every_request_is_in_one_round(total: int, seconds: float, cores: int) -> None:
    """Rounds follow each other, all have tasks, and no task is empty."""
    found = rounds(total, cores, seconds)
    assert [part.start for part in found] == [0, *(part.end for part in found[:-1])]
    assert found[-1].end == total
    assert all(part.start <= part.split <= part.end for part in found)
    assert all(0 < part.tasks <= part.end - part.start for part in found)


def test_small_problems_share_tasks() -> None:
    """A task of 5 ms problems is long against what Spark needs to start it, and short against the whole."""
    part = rounds(10_000, 2, 0.005)[1]
    assert 4 < 0.005 * part.large < 10
    assert 0.5 <= 0.005 * part.small < 1
    assert part.tasks < 40


def test_the_last_tasks_are_small() -> None:
    """Each processor has some of them, so that none waits long for another."""
    part = rounds(100, 2, 0.2)[-1]
    assert part.small < part.large / 4
    assert part.tasks - part.large_tasks >= 8


def test_large_problems_have_their_own() -> None:
    """Problems of a minute are dealt one by one: no processor waits for another's second one."""
    assert all(part.tasks == part.end - part.start for part in rounds(400, 200, 60.0))


def test_few_rounds_and_short_tasks() -> None:
    """A million problems take a handful of rounds, and a kill costs no more than seconds on a processor."""
    found = rounds(1_000_000, 8, 0.005)
    assert len(found) < 8
    assert all(0.005 * part.large <= LONGEST_TASK for part in found)
