"""What is fullest, and by how much limits are exceeded."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from typer.testing import CliRunner

from berth.cli.app import app
from berth.evaluation import Setting, Situation, evaluate
from berth.evaluation.limits import bottleneck, exceeded, uses
from berth.files import plan_from, problem_from
from tests.evaluation.test_against_oracle import cases, some
from tests.oracle import constraints
from tests.oracle.problems import sharing_problems
from tests.oracle.situation import Model

Entry = dict[str, Any]
PLAN: Entry = {"format": "berth-plan/v1", "assignment": {"a/parse": "rome", "a/count": "paris"}}


def problem(**node: Any) -> Entry:
    """Two operators, and two nodes with a link of 1000 bytes/s, a fifth of which is in use."""
    network = {
        "nodes": [{"name": "rome", "capacity": {"cpu": 10}, **node}, {"name": "paris"}],
        "links": [{"from": "rome", "to": "paris", "delay_ms": 1, "bandwidth_bytes_per_s": 1000}],
    }
    operators = [
        {"name": "parse", "work_ms": 100, "output_bytes": 100, "demand": {"cpu": 1}},
        {"name": "count"},
    ]
    application = {"name": "a", "throughput_per_s": 2, "operators": operators}
    application["streams"] = [{"from": "parse", "to": "count"}]
    return {"format": "berth/v1", "name": "p", "network": network, "applications": [application]}


def situation_of(document: Entry, plan: Entry | None = None) -> Situation:
    """A plan in its setting."""
    return Situation(Setting(problem_from(document)), plan_from(plan or PLAN))


@pytest.mark.parametrize(
    ("node", "kind", "name", "used", "limit"),
    [
        ({"speed": 0.5}, "processor", "rome", 0.2, 0.5),
        ({"capacity": {"cpu": 2}}, "capacity", "rome cpu", 1.0, 2.0),
        ({"nic_bytes_per_s": 250}, "card", "rome", 200.0, 250.0),
    ],
)
def test_kinds(node: Entry, kind: str, name: str, used: float, limit: float) -> None:
    """Each kind is the bottleneck where it is the fullest."""
    found = bottleneck(situation_of(problem(**node)))
    assert found is not None
    assert (found.kind, found.name) == (kind, name)
    assert (found.needed, found.limit) == pytest.approx((used, limit))
    assert not found.exceeded
    assert "more would fit" in found.advice


def test_links_and_ports() -> None:
    """Both directions of a link in half duplex; with one port, ports are as full as their only link."""
    document = problem(speed=10)
    document["network"] |= {"one_port": True, "duplex": "half"}
    shares = {(use.kind, use.name): use.share for use in uses(situation_of(document))}
    assert shares["link", "rome <-> paris"] == pytest.approx(0.2)
    assert shares["sending port", "rome"] == pytest.approx(0.2)
    assert shares["receiving port", "paris"] == pytest.approx(0.2)


def test_nothing_is_limited() -> None:
    """Without limits there is no bottleneck."""
    document = problem()
    del document["network"]["links"][0]["bandwidth_bytes_per_s"]
    document["applications"][0]["operators"][0] = {"name": "parse"}
    assert bottleneck(situation_of(document)) is None


def test_processors_where_nobody_asks() -> None:
    """The bottleneck may be what breaks nothing; a node with an unknown load counts what is asked for."""
    document = problem(cores=4)
    del document["applications"][0]["throughput_per_s"]
    document["applications"][0]["operators"][0]["emits_bytes_per_s"] = 12_000
    document["network"]["links"][0]["bandwidth_bytes_per_s"] = 1e9
    found = bottleneck(situation_of(document))
    assert found is not None
    assert (found.kind, found.name, found.share) == ("core", "a/parse on rome", pytest.approx(12.0))
    assert exceeded(situation_of(document)) == []
    shares = {use.kind: use.share for use in uses(situation_of(document))}
    assert shares["processor"] == pytest.approx(3.0)
    unknown = {"name": "b", "operators": [{"name": "who", "work_ms": 1}]}
    asked = problem(cores=4)
    asked["applications"].append(unknown)
    plan = {"assignment": {**PLAN["assignment"], "b/who": "rome"}}
    assert {use.kind: use.share for use in uses(situation_of(asked, plan))}["processor"] == pytest.approx(
        0.05
    )


def test_a_card_through_which_nothing_goes() -> None:
    """Where there is nothing the share is beyond all numbers: null in JSON."""
    found = bottleneck(situation_of(problem(nic_bytes_per_s=0)))
    assert found is not None
    assert found.exceeded
    assert math.isinf(found.share)
    assert found.document()["share"] is None


@settings(some, max_examples=40)
@given(cases(sharing_problems()))
def test_exceeded_is_what_the_oracle_finds_broken(case: tuple[Entry, Entry, Entry | None]) -> None:
    """A resource, processor, card, port, link or requirement is exceeded exactly where the oracle says so."""
    document, plan, previous = case
    over = exceeded(situation_of(document, plan))
    found = {use.kind for use in over}
    assert len(over) <= len(evaluate(problem_from(document), plan_from(plan)).violations)
    situation = Model(document).situation(plan, previous)
    checks = {
        "capacity": constraints.check_capacity,
        "processor": constraints.check_throughput,
        "card": constraints.check_cards,
        "link": constraints.check_bandwidth,
    }
    for kind, check in checks.items():
        assert (kind in found) == (next(check(situation), None) is not None), kind
    ports = next(constraints.check_one_port(situation), None) is not None
    assert bool(found & {"sending port", "receiving port"}) == ports


def test_command(tmp_path: Path) -> None:
    """`berth evaluate` says it in a line, and as JSON."""
    (tmp_path / "p.json").write_text(json.dumps(problem(nic_bytes_per_s=160)))
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    arguments = ["evaluate", str(tmp_path / "p.json"), str(tmp_path / "plan.json")]
    text = CliRunner().invoke(app, arguments)
    assert text.exit_code == 5
    line = "bottleneck: card rome: 125 % used, 40 B/s too much; a card of 200 B/s instead of 160 B/s"
    assert line in text.stdout
    found = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert found["bottleneck"] == found["exceeded"][0]
    assert found["bottleneck"]["slack"] == pytest.approx(-40)
    assert set(found) == {"metrics", "violations", "warnings", "bottleneck", "exceeded"}


def test_what_rounding_leaves_is_nothing() -> None:
    """Three times 0.1 are a little more than 0.3: the node is full, and nothing is missing."""
    raw = problem(capacity={"cpu": 0.3})
    raw["applications"][0]["operators"] = [
        {"name": f"o{number}", "pinned": "rome", "demand": {"cpu": 0.1}} for number in range(3)
    ]
    raw["applications"][0]["streams"] = []
    plan = plan_from(
        {"format": "berth-plan/v1", "assignment": {f"a/o{number}": "rome" for number in range(3)}}
    )
    (use,) = uses(Situation(Setting(problem_from(raw)), plan))
    assert use.needed > use.limit
    assert use.slack == 0.0
    assert not use.exceeded
