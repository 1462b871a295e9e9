"""From the words of tasks to what instances and streams did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from berth.runtime.measures import BatchMeasures, InstanceMeasures, StreamMeasures, measured
from tests.runtime.words import CHAIN, FAN, batch, chain, chain_reports, fan, report


def by_instance(measures: BatchMeasures) -> dict[str, InstanceMeasures]:
    return {each.instance: each for each in measures.instances}


def test_rows_and_nodes_of_instances() -> None:
    """A source counts what it gives, a function over batches what it makes, an aggregation what comes out."""
    measures = measured(batch(chain_reports(), CHAIN), chain())
    rows = {each.instance: (each.node, each.rows_in, each.rows_out) for each in measures.instances}
    assert rows == {
        "posts": ("rome", 100, 100),
        "tag#0": ("paris", 75, 220),
        "tag#1": ("tokyo", 25, 30),
        "count": ("tokyo", 250, 40),
        "store": ("rome", 40, 0),
    }
    assert measures.rows == 100
    assert measures.latency_ms == 1000
    assert measures.verified_tasks == 8
    assert measures.differences == ()


def test_streams_as_their_receivers_counted_them() -> None:
    """All instances of a receiver together; rows on their way through a split count nowhere."""
    measures = measured(batch(chain_reports(), CHAIN), chain())
    assert measures.streams == (
        StreamMeasures("posts", "tag", 100, 10_000),
        StreamMeasures("tag", "count", 250, 2_500),
        StreamMeasures("count", "store", 40, 400),
    )


def test_output_without_a_count_of_its_own_is_what_the_fullest_consumer_saw() -> None:
    """Its instances share it in proportion to what came in, in whole rows that add up."""
    words = [
        report("readings", "out", "readings", "rome", 1, 1000),
        report("clean", "in", "readings", "rome", 2, 600),
        report("clean", "in", "readings", "rome", 2, 300, instance=1),
        report("clean", "in", "readings", "paris", 3, 100, instance=2, partition=0),
        report("store", "in", "clean", "paris", 4, 101),
        report("alarm", "in", "clean", "rome", 5, 50),
    ]
    measures = measured(batch(words, FAN), fan())
    out = [each.rows_out for each in measures.instances if each.operator == "clean"]
    assert out == [60, 30, 11]
    assert [each.rows for each in measures.streams] == [1000, 101, 50]


def test_what_did_not_run_is_there_with_nothing() -> None:
    """Spark leaves out stages behind an empty source: the streams were empty, and that is a measurement."""
    words = [report("posts", "out", "posts", "rome", 1, 0)]
    measures = measured(batch(words, CHAIN, {1: 5.0}), chain())
    idle = InstanceMeasures("tag", "tag#1", "tokyo", 0, 0, 0.0)
    assert by_instance(measures)["tag#1"] == idle
    assert [(each.rows, each.bytes) for each in measures.streams] == [(0, 0)] * 3


def test_rows_from_nothing() -> None:
    """An operator that gets no rows and gives some: they are shared evenly."""
    words = [report("store", "in", "clean", "paris", 4, 7)]
    out = [each.rows_out for each in measured(batch(words, FAN), fan()).instances if each.operator == "clean"]
    assert sum(out) == 7
    assert max(out) - min(out) <= 1


def test_a_stage_that_was_computed_twice_counts_its_rows_once() -> None:
    """A sink that asks for the number of rows and then writes them has read them twice, and worked twice."""
    again = replace(chain_reports()[-1], stage=9)
    part = replace(chain_reports()[-1], stage=10, rows_in=5, bytes_in=50)
    times = {8: 20.0, 9: 30.0, 10: 1.0}
    measures = measured(batch([*chain_reports(), again, part], CHAIN, times), chain())
    store = by_instance(measures)["store"]
    assert store.rows_in == 40
    assert store.busy_ms == pytest.approx(51.0)
    assert measures.streams[-1] == StreamMeasures("count", "store", 40, 400)


def test_many_tasks_of_one_stage_add_up() -> None:
    """A source with more files than instances reads them in several tasks."""
    words = [report("posts", "out", "posts", "rome", 1, 10 + part, partition=part) for part in range(4)]
    measures = measured(batch(words, CHAIN), chain())
    assert by_instance(measures)["posts"].rows_in == 46
    assert measures.verified_tasks == 4


def test_busy_time_is_that_of_the_stages() -> None:
    """Splits at the sender's node are the sender's work; stages that are nobody's count for nobody."""
    times = {1: 40.0, 2: 7.0, 3: 8.0, 4: 100.0, 5: 50.0, 6: 30.0, 7: 20.0, 8: 10.0, 99: 5000.0}
    busy = {
        each.instance: each.busy_ms
        for each in measured(batch(chain_reports(), CHAIN, times), chain()).instances
    }
    assert busy == pytest.approx({"posts": 55, "tag#0": 100, "tag#1": 50, "count": 50, "store": 10})


def test_tasks_share_the_time_of_their_stage() -> None:
    """In proportion to the time that each took."""
    words = [
        report("clean", "in", "readings", "rome", 2, 600, took=30),
        report("clean", "in", "readings", "rome", 2, 300, instance=1, took=10),
    ]
    measures = by_instance(measured(batch(words, FAN, {2: 80.0}), fan()))
    assert (measures["clean#0"].busy_ms, measures["clean#1"].busy_ms) == pytest.approx((60, 20))


def test_waits_of_an_emulated_network_are_no_work() -> None:
    """Who waited for late rows gets no larger share of what is left."""
    words = [
        report("clean", "in", "readings", "rome", 2, 1, took=210, waited=200),
        report("clean", "in", "readings", "rome", 2, 1, instance=1, took=10),
    ]
    measures = by_instance(measured(batch(words, FAN, {2: 240.0}), fan()))
    assert (measures["clean#0"].busy_ms, measures["clean#1"].busy_ms) == pytest.approx((20, 20))


def test_two_posts_of_one_task_are_one_time() -> None:
    """Where rows come in and are split in one stage, the task's time counts once."""
    words = [
        report("clean", "in", "readings", "rome", 2, 10, began=0, took=30),
        report("clean", "split", "clean", "rome", 2, 10, began=2, took=30),
        report("clean", "in", "readings", "rome", 2, 10, instance=1, began=0, took=32),
    ]
    known = by_instance(measured(batch(words, FAN, {2: 64.0}), fan()))
    unknown = by_instance(measured(batch(words, FAN), fan()))
    for measures in (known, unknown):
        assert (measures["clean#0"].busy_ms, measures["clean#1"].busy_ms) == pytest.approx((32, 32))


def test_a_stage_without_a_time_took_what_its_tasks_say() -> None:
    """The word of the tasks is all there is then, less their waits."""
    words = [report("clean", "in", "readings", "rome", 2, 1, took=210, waited=200)]
    assert by_instance(measured(batch(words, FAN), fan()))["clean#0"].busy_ms == pytest.approx(10)


def test_starting_python_workers_is_nobodys_work() -> None:
    """The first batch counts the time in the workers, not the seconds until they were there."""
    words = [report("clean", "in", "readings", "rome", 2, 1, took=40)]
    first = measured(batch(words, FAN, {2: 3000.0}), fan(), warming_up=True)
    assert by_instance(first)["clean#0"].busy_ms == pytest.approx(40)


def test_an_instant_stage() -> None:
    """A clock that saw no time pass shares the stage's time evenly."""
    words = [report("clean", "in", "readings", "rome", 2, 1, instance=n, took=0) for n in (0, 1)]
    measures = by_instance(measured(batch(words, FAN, {2: 6.0}), fan()))
    assert (measures["clean#0"].busy_ms, measures["clean#1"].busy_ms) == pytest.approx((3, 3))


def test_differences_from_the_plan() -> None:
    """Each is a line, once, with both nodes."""
    words = [replace(each, node="oslo") for each in chain_reports() if each.operator == "count"]
    measures = measured(batch(words, CHAIN, number=7), chain())
    assert measures.differences == ("batch 7: count ran on oslo, planned on tokyo",)
    assert by_instance(measures)["count"].node == "oslo"
