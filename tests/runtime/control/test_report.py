from __future__ import annotations

import pytest

from berth.drawing.timeline_picture import Loss, Stay
from berth.runtime.control.history import Event
from berth.runtime.control.report import MOST_INSTANCES, timeline_of

from .situations import chain, work_on

PARIS, OSLO = dict(work_on("paris").assignment), dict(work_on("oslo").assignment)
EVENTS = [
    Event(500.0, "started", assignment=OSLO),
    Event(600.0, "finished", assignment=OSLO),
    Event(1000.0, "started", assignment=PARIS, value_achieved=23.0, source_bytes_per_s=1000.0),
    Event(1030.0, "looked", assignment=PARIS, value_achieved=24.0, source_bytes_per_s=2000.0),
    Event(1040.0, "node lost", node="paris", assignment=PARIS),
    Event(1050.0, "migrated", assignment=OSLO, value_promised=20.0, gain=0.25, pause_s=5.0),
    Event(1070.0, "node back", node="paris", assignment=OSLO),
    Event(1080.0, "rolled back", assignment=PARIS, gain=0.1, pause_s=2.0),
    Event(1100.0, "finished", assignment=PARIS),
]


def test_the_last_watch_is_drawn() -> None:
    """Times count from its start; pauses are gaps, and only in the lanes that moved."""
    timeline = timeline_of(EVENTS, chain(), "app")
    assert timeline.length == 100.0
    assert [lane.name for lane in timeline.lanes] == ["source", "work", "sink"]
    assert timeline.lanes[0].stays == (Stay(0.0, 100.0, ("rome",)),)
    assert timeline.lanes[1].stays == (
        Stay(0.0, 45.0, ("paris",)),
        Stay(50.0, 78.0, ("oslo",)),
        Stay(80.0, 100.0, ("paris",)),
    )
    assert [(move.time, move.pause, move.label, move.back) for move in timeline.moves] == [
        (50.0, 5.0, "+25 % · 5.0 s", False),
        (80.0, 2.0, "back · +10 % · 2.0 s", True),
    ]
    assert timeline.losses == (Loss("paris", 40.0, 70.0),)
    assert timeline.achieved == ((0.0, 23.0), (30.0, 24.0))
    assert timeline.promised == ((50.0, 20.0),)
    assert timeline.rates == ((0.0, 1000.0), (30.0, 2000.0))
    assert timeline.line == (
        "1970-01-01 00:16:40 UTC · 1:40 min watched · 2 migrations with 7.0 s of pauses · 1 node lost · "
        "response time 23 ms at first, 24 ms at last"
    )


@pytest.mark.parametrize(
    ("instances", "lanes"), [(MOST_INSTANCES - 2, MOST_INSTANCES), (MOST_INSTANCES - 1, 3)]
)
def test_many_instances_share_a_lane(instances: int, lanes: int) -> None:
    """A lane for each operator then, with a node for each of its instances."""
    problem = chain(work={"parallelism": instances})
    events = [Event(0.0, "started", assignment=work_on("paris", problem).assignment), Event(9.0, "finished")]
    timeline = timeline_of(events, problem, "app")
    assert len(timeline.lanes) == lanes
    assert sum(len(lane.stays[0].nodes) for lane in timeline.lanes) == instances + 2


def test_other_applications_have_no_lanes() -> None:
    """They are not what is watched."""
    events = [Event(0.0, "started", assignment={**PARIS, "other/thing": "rome"})]
    assert len(timeline_of(events, chain(), "app").lanes) == 3


def test_nothing_has_happened_yet() -> None:
    """An empty record is an empty timeline."""
    timeline = timeline_of([], chain(), "app")
    assert (timeline.lanes, timeline.length, timeline.line) == ((), 0.0, "nothing has happened yet")
