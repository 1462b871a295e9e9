"""Measured values in a problem's document: where they go, and what stays as it was."""

import copy
import json
from typing import Any

import pandas as pd
import pytest

from berth.files import problem_from
from berth.model import Problem
from berth.pipeline.feeds import TABLE_KEYS
from berth.pipeline.feeds.changes import Changes
from berth.pipeline.feeds.probes import pooled
from berth.pipeline.ingest import publish
from berth.pipeline.ingest.publish import Target
from berth.pipeline.ingest.tables import MEASURES
from tests.pipeline.telemetry import PROBLEM

Entry = dict[str, Any]


def measured(**rows: list[Entry]) -> dict[str, pd.DataFrame]:
    """Tables of newest values; a measure that a row doesn't name has none."""
    tables = {}
    for name, keys in TABLE_KEYS.items():
        columns = [*keys, *(f"smoothed_{measure}" for measure in MEASURES[name])]
        found = [
            {key if key in keys else f"smoothed_{key}": value for key, value in row.items()}
            for row in rows.get(name, [])
        ]
        table = pd.DataFrame(found, columns=columns)
        numbers = {column: float for column in columns if column not in keys}
        tables[name] = table.astype(numbers)
    return tables


def update(document: Entry, **rows: list[Entry]) -> Changes:
    """The update of a document by rows of the tables; the result is a problem again."""
    before = copy.deepcopy(document)
    problem = problem_from(document)
    updated = publish.updated(Target(document, problem), measured(**rows))
    assert document == before, "the document that came in is left alone"
    json.dumps(updated.document, allow_nan=False)
    problem_from(updated.document)
    return updated


def network(nodes: int = 3, **fields: Any) -> Entry:
    """A document with nodes a, b, c, ... and an operator for each."""
    names = "abcdefgh"[:nodes]
    return {
        "format": "berth/v1",
        "name": "small",
        "network": {"nodes": [{"name": name} for name in names], **fields},
        "applications": [{"name": "app", "operators": [{"name": "only"}]}],
    }


def link(start: str, end: str, delay: float, **fields: Any) -> Entry:
    return {"from": start, "to": end, "delay_ms": delay, **fields}


def delay(problem: Problem | Entry, start: str, end: str) -> float | None:
    """The delay between two nodes; None: there is no link."""
    problem = problem if isinstance(problem, Problem) else problem_from(problem)
    index = problem.network.index
    value = float(problem.network.table.delay_ms[index[start], index[end]])
    return value if problem.network.table.connected[index[start], index[end]] else None


def test_nothing_measured_changes_nothing() -> None:
    """The document stays as it is, and all of it is named as never measured."""
    updated = update(PROBLEM)
    assert updated.document == PROBLEM
    assert updated.unmeasured == {
        "availability of nodes": ["rome", "paris", "7", "kä%s+e", "silent"],
        "speed of nodes": ["rome", "paris", "7", "kä%s+e", "silent"],
        "run_queue of nodes": ["rome", "paris", "7", "kä%s+e", "silent"],
        "delay_ms of links": ["rome -> paris", "rome -> silent", "paris -> 7"],
        "work_ms of operators": [
            "app/source",
            "app/more",
            "app/split",
            "app/join",
            "app/sink",
            "app/log",
            "alone/only",
        ],
        "selectivity of operators": ["app/split", "app/join"],
        "bytes_per_s of streams": [
            "app/source -> split",
            "app/split -> join",
            "app/more -> join",
            "app/join -> sink",
            "app/join -> log",
        ],
        "tuple_bytes of streams": [
            "app/source -> split",
            "app/split -> join",
            "app/more -> join",
            "app/join -> sink",
            "app/join -> log",
        ],
    }


def test_nodes_take_what_was_measured_of_them() -> None:
    """A measure without a value keeps the problem's, beside others that have one."""
    updated = update(
        PROBLEM,
        nodes=[
            {"node": "paris", "availability": 0.5, "speed": 3.0, "run_queue": 0.0},
            {"node": "7", "availability": 0.0},
        ],
    )
    rome, paris, seven, *_ = updated.document["network"]["nodes"]
    assert rome == {"name": "rome"}
    assert paris == {"name": "paris", "speed": 3.0, "availability": 0.5, "run_queue": 0.0}
    assert seven == {"name": "7", "speed": 0.5, "availability": 0.0}
    assert updated.unmeasured["availability of nodes"] == ["rome", "kä%s+e", "silent"]
    assert updated.unmeasured["speed of nodes"] == ["rome", "7", "kä%s+e", "silent"]


def test_operators_and_streams() -> None:
    """What a source emits and the size of results follow the streams, where the problem gives them."""
    updated = update(
        PROBLEM,
        operators=[
            {"application": "app", "operator": "split", "work_ms": 1.5, "selectivity": 0.25},
            {"application": "app", "operator": "join", "selectivity": 2.0},
        ],
        streams=[
            {"application": "app", "from": "source", "to": "split", "bytes_per_s": 500.0, "tuple_bytes": 5.0},
            {"application": "app", "from": "more", "to": "join", "bytes_per_s": 60.0, "tuple_bytes": 12.0},
        ],
    )
    operators = {entry["name"]: entry for entry in updated.document["applications"][0]["operators"]}
    assert operators["source"] == {"name": "source", "emits_bytes_per_s": 500.0, "pinned": "rome"}
    assert operators["more"] == {"name": "more", "pinned": "paris", "output_bytes": 12.0}
    assert operators["split"] == {"name": "split", "parallelism": 3, "selectivity": 0.25, "work_ms": 1.5}
    assert operators["join"] == {"name": "join", "work_ms": 9, "selectivity": 2.0}
    streams = updated.document["applications"][0]["streams"]
    assert [entry.get("bytes_per_s") for entry in streams] == [500.0, None, 60.0, None, None]
    assert [entry.get("tuple_bytes") for entry in streams] == [5.0, None, 12.0, None, None]
    assert "selectivity of operators" not in updated.unmeasured


def test_a_source_with_two_streams_emits_their_mean() -> None:
    """Every outgoing stream carries the whole output."""
    document = network()
    document["applications"][0] = {
        "name": "app",
        "operators": [{"name": "source", "emits_bytes_per_s": 9}, {"name": "one"}, {"name": "two"}],
        "streams": [{"from": "source", "to": "one"}, {"from": "source", "to": "two"}],
    }
    rows = [
        {"application": "app", "from": "source", "to": to, "bytes_per_s": rate}
        for to, rate in (("one", 10.0), ("two", 20.0))
    ]
    updated = update(document, streams=rows)
    assert updated.document["applications"][0]["operators"][0]["emits_bytes_per_s"] == 15.0


def shared(**fields: Any) -> Entry:
    """Two applications whose operators `tag` are equal by type, and one whose isn't."""
    document = network(objects=None)
    del document["network"]["objects"]
    document["objects"] = [{"name": "film", "bytes": 1}]
    document["network"]["nodes"][0]["holds"] = ["film"]
    tag = {"name": "tag", "type": "tag", "reads": [{"object": "film", "per_s": 1}], **fields}
    document["applications"] = [
        {"name": "one", "operators": [dict(tag)]},
        {"name": "two", "operators": [dict(tag)]},
        {"name": "other", "operators": [{**tag, "type": "other"}]},
    ]
    return document


def test_operators_that_compute_the_same_keep_one_work() -> None:
    """The mean of what was measured of them; the contract has them agree."""
    rows = [
        {"application": name, "operator": "tag", "work_ms": work}
        for name, work in (("one", 2.0), ("two", 4.0), ("other", 9.0))
    ]
    updated = update(shared(work_ms=1), operators=rows)
    works = [application["operators"][0]["work_ms"] for application in updated.document["applications"]]
    assert works == [3.0, 3.0, 9.0]


@pytest.mark.parametrize("given", [{"work_ms": 1}, {}])
def test_one_of_two_equal_operators_measured(given: Entry) -> None:
    """Its value is that of both, given in the problem before or not."""
    rows = [{"application": "two", "operator": "tag", "work_ms": 4.0}]
    updated = update(shared(**given), operators=rows)
    works = [
        application["operators"][0].get("work_ms") for application in updated.document["applications"][:2]
    ]
    assert works == [4.0, 4.0]


def test_delays_go_to_the_entry_whatever_its_direction() -> None:
    """Pooled links: the entry's other fields stay."""
    document = network(links=[link("b", "a", 5, bandwidth_bytes_per_s=7), link("b", "c", 6)])
    updated = update(document, links=[{"from": "b", "to": "a", "delay_ms": 1.5}])
    assert updated.document["network"]["links"] == [
        link("b", "a", 1.5, bandwidth_bytes_per_s=7),
        link("b", "c", 6),
    ]
    assert updated.unmeasured["delay_ms of links"] == ["b -> c"]
    assert (updated.added_links, updated.unlinked) == (0, 0)


def test_entries_of_both_directions_are_both_updated() -> None:
    """Pooled: one measured value, two entries that agreed before."""
    document = network(nodes=2, links=[link("a", "b", 5), link("b", "a", 5, cost=3)])
    updated = update(document, links=[{"from": "a", "to": "b", "delay_ms": 2.0}])
    assert updated.document["network"]["links"] == [link("a", "b", 2.0), link("b", "a", 2.0, cost=3)]
    assert "delay_ms of links" not in updated.unmeasured


def test_a_measured_pair_without_a_link_becomes_one() -> None:
    """With direct routing the pair can exchange streams: it did."""
    updated = update(network(links=[link("a", "b", 5)]), links=[{"from": "a", "to": "c", "delay_ms": 8.0}])
    assert updated.document["network"]["links"] == [link("a", "b", 5), link("a", "c", 8.0)]
    assert updated.added_links == 1
    assert delay(updated.document, "c", "a") == 8.0


def test_one_direction_of_an_entry_for_both() -> None:
    """Where directions differ, the other direction of an entry that held both ways keeps its fields."""
    document = network(
        links=[link("a", "b", 5, bandwidth_bytes_per_s=7), link("b", "c", 1), link("c", "b", 2)]
    )
    updated = update(document, links=[{"from": "b", "to": "a", "delay_ms": 9.0}])
    assert delay(updated.document, "a", "b") == 5
    assert delay(updated.document, "b", "a") == 9.0
    assert updated.document["network"]["links"][-1] == link("b", "a", 9.0, bandwidth_bytes_per_s=7)
    assert updated.unmeasured["delay_ms of links"] == ["a -> b", "b -> c", "c -> b"]


def test_directed_network() -> None:
    """`symmetric: false`: the way back is another link."""
    document = network(symmetric=False, links=[link("a", "b", 5), link("b", "a", 6)])
    updated = update(document, links=[{"from": "b", "to": "a", "delay_ms": 9.0}])
    assert updated.document["network"]["links"] == [link("a", "b", 5), link("b", "a", 9.0)]
    assert updated.unmeasured["delay_ms of links"] == ["a -> b"]


def test_a_symmetric_matrix_is_updated_both_ways() -> None:
    """Other pairs, and pairs without a link, stay as they are."""
    document = network(delay_ms=[[0, 1, None], [1, 0, 3], [None, 3, 0]])
    updated = update(document, links=[{"from": "a", "to": "b", "delay_ms": 7.0}])
    assert updated.document["network"]["delay_ms"] == [[0, 7, None], [7, 0, 3], [None, 3, 0]]
    assert updated.unmeasured["delay_ms of links"] == ["b -> c"]


def test_a_matrix_with_two_directions_is_updated_one_way() -> None:
    """The way back has its own delay."""
    document = network(nodes=2, delay_ms=[[0, 1], [2, 0]])
    updated = update(document, links=[{"from": "a", "to": "b", "delay_ms": 7.0}])
    assert updated.document["network"]["delay_ms"] == [[0, 7], [2, 0]]


def test_an_entry_over_a_matrix_takes_the_value() -> None:
    """The matrix below it is not the delay that holds."""
    document = network(nodes=2, delay_ms=[[0, 5], [5, 0]], links=[{"from": "a", "to": "b", "cost": 2}])
    updated = update(document, links=[{"from": "a", "to": "b", "delay_ms": 7.0}])
    assert delay(updated.document, "a", "b") == 7.0
    assert delay(updated.document, "b", "a") == 7.0
    assert updated.document["network"]["links"][0]["cost"] == 2


def test_coordinates_hold_where_nothing_was_measured() -> None:
    """A measured pair has its delay, the others still have the distance."""
    document = network()
    for number, node in enumerate(document["network"]["nodes"]):
        node["coordinates"] = [10.0 * number]
    updated = update(document, links=[{"from": "a", "to": "b", "delay_ms": 4.0}])
    assert delay(updated.document, "a", "b") == 4.0
    assert delay(updated.document, "b", "a") == 4.0
    assert delay(updated.document, "a", "c") == 20.0
    assert delay(updated.document, "c", "b") == 10.0
    assert updated.added_links == 0
    assert updated.unmeasured["delay_ms of links"] == ["a -> c", "b -> c"]


@pytest.mark.parametrize("symmetric", [True, False])
def test_of_very_many_nodes_only_links_can_be_missing(
    symmetric: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without matrices nobody names all pairs that have coordinates; links are named as ever."""
    document = network(links=[link("b", "a", 7), link("c", "a", 9)], symmetric=symmetric)
    for number, node in enumerate(document["network"]["nodes"]):
        node["coordinates"] = [10.0 * number]
    measured_link = [{"from": "a" if symmetric else "b", "to": "b" if symmetric else "a", "delay_ms": 4.0}]
    with_matrices = update(document, links=measured_link)
    monkeypatch.setattr("berth.model.network.MOST_IN_MATRICES", 0)
    updated = update(document, links=measured_link)
    assert updated.document == with_matrices.document
    assert updated.added_links == with_matrices.added_links == 0
    assert updated.unmeasured["delay_ms of links"] == (["a -> c"] if symmetric else ["c -> a"])
    assert "b -> c" in with_matrices.unmeasured["delay_ms of links"]


def test_no_link_at_all_before() -> None:
    """Nodes without any link: what was measured is linked, nothing else."""
    updated = update(network(), links=[{"from": "a", "to": "c", "delay_ms": 4.0}])
    assert delay(updated.document, "a", "c") == 4.0
    assert delay(updated.document, "c", "a") == 4.0
    assert delay(updated.document, "a", "b") is None
    assert updated.added_links == 1


def test_physical_links_only() -> None:
    """With routing by paths a probe between nodes without a cable measures the path: not put in."""
    document = network(routing="shortest_path", links=[link("b", "a", 5), link("b", "c", 6)])
    rows = [{"from": "a", "to": "c", "delay_ms": 8.0}, {"from": "b", "to": "a", "delay_ms": 4.0}]
    updated = update(document, links=rows)
    assert updated.document["network"]["links"] == [link("b", "a", 4.0), link("b", "c", 6)]
    assert (updated.added_links, updated.unlinked) == (0, 1)
    assert updated.unmeasured["delay_ms of links"] == ["b -> c"]


def test_physical_links_in_a_matrix() -> None:
    """The same with a matrix: null is no cable."""
    document = network(routing="shortest_path", delay_ms=[[0, 5, None], [5, 0, 6], [None, 6, 0]])
    rows = [{"from": "a", "to": "c", "delay_ms": 8.0}, {"from": "a", "to": "b", "delay_ms": 4.0}]
    updated = update(document, links=rows)
    assert updated.document["network"]["delay_ms"] == [[0, 4, None], [4, 0, 6], [None, 6, 0]]
    assert (updated.added_links, updated.unlinked) == (0, 1)


def test_a_link_of_one_direction_is_not_given_the_other() -> None:
    """A matrix without the way back: probes of the way there don't invent it."""
    document = network(nodes=2, delay_ms=[[0, 5], [None, 0]])
    updated = update(document, links=[{"from": "a", "to": "b", "delay_ms": 4.0}])
    assert updated.document["network"]["delay_ms"] == [[0, 4], [None, 0]]


@pytest.mark.parametrize(
    ("fields", "together"),
    [
        ({"links": [link("a", "b", 1)]}, True),
        ({"links": [link("a", "b", 1), link("b", "a", 1)]}, True),
        ({"links": [link("a", "b", 1), link("b", "a", 2)]}, False),
        ({"links": [link("a", "b", 1)], "symmetric": False}, False),
        ({"delay_ms": [[0, 1], [1, 0]]}, True),
        ({"delay_ms": [[0, 1], [2, 0]]}, False),
        ({"delay_ms": [[0, 1], [None, 0]]}, False),
        ({"delay_ms": [[0, 1], [2, 0]], "links": [link("b", "a", 1)]}, True),
        ({}, True),
    ],
)
def test_which_networks_have_their_directions_pooled(
    fields: Entry, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A symmetric network whose delays say nothing else."""
    assert pooled(problem_from(network(nodes=2, **fields))) is together
    monkeypatch.setattr("berth.model.network.MOST_IN_MATRICES", 0)
    assert pooled(problem_from(network(nodes=2, **fields))) is together
