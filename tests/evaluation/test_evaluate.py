"""The judge on plans that are wrong in ways of their own."""

import math
from itertools import pairwise
from typing import Any

import pytest

from berth.evaluation import Evaluation, evaluate
from berth.evaluation.limits import exceeds
from berth.files import plan_from, problem_from
from berth.model import BadInput

Entry = dict[str, Any]


def chain(*operators: Entry, **fields: Any) -> Entry:
    """An application whose operators send to each other in turn, 100 bytes a second."""
    names = [operator["name"] for operator in operators]
    streams = [{"from": start, "to": end, "bytes_per_s": 100} for start, end in pairwise(names)]
    return {"name": "app", "operators": list(operators), "streams": streams, **fields}


def judge(
    application: Entry, assignment: dict[str, str], network: Entry | None = None, **plan: Any
) -> Evaluation:
    """Evaluate a plan for one application, on the nodes u and v unless said."""
    nodes = [{"name": "u", "capacity": {"cpu": 4}}, {"name": "v"}]
    links = [{"from": "u", "to": "v", "delay_ms": 10}]
    problem = {
        "format": "berth/v1",
        "name": "test",
        "network": {"nodes": nodes, "links": links, **(network or {})},
        "applications": [application],
    }
    placed = {f"app/{name}": node for name, node in assignment.items()}
    return evaluate(problem_from(problem), plan_from({"assignment": placed, **plan}))


A, B = {"name": "a"}, {"name": "b"}


def test_amounts_in_a_violation() -> None:
    """What is needed and what is there are both named."""
    found = judge(chain({"name": "a", "demand": {"cpu": 5}}), {"a": "u"})
    assert found.violations == ("node u: cpu 5 needed, 4 there",)


def test_a_resource_that_is_not_there() -> None:
    """A resource that a node doesn't name has capacity 0; a demand of 0 fits all the same."""
    assert judge(chain({"name": "a", "demand": {"gpu": 1}}), {"a": "u"}).violations
    assert not judge(chain({"name": "a", "demand": {"gpu": 0}}), {"a": "u"}).violations


def test_not_placed() -> None:
    """An instance without a node is a violation, and there are no metrics."""
    found = judge(chain(A, B), {"a": "u"})
    assert found.violations == ("instance app/b: not placed",)
    assert found.metrics == {}


def test_a_missing_link() -> None:
    """Without a link there is no delay; traffic, which needs none, stays."""
    found = judge(chain(A, B), {"a": "u", "b": "v"}, {"links": []})
    assert found.violations == ("nodes u, v have no link to any other node: needed for a stream u -> v",)
    assert found.metrics["traffic_bytes_per_s"] == 100
    assert found.metrics.keys().isdisjoint({"response_time_ms", "availability", "bandwidth_sum_bytes_per_s"})


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        (
            {"assignment": {"x": "u"}},
            "assignment.app/x: no instance named 'app/x'; did you mean ",
        ),
        ({"assignment": {"a": "w"}}, "assignment.app/a: no node named 'w'"),
        ({"reuse": {"app/a": "app/bb"}}, "reuse.app/a: no operator named 'app/bb'; did you mean 'app/b'?"),
        ({"skipped": ["b"]}, "skipped[0]: no operator named 'b'"),
        ({"containers": {"app/c": "app/c0"}}, "containers.app/c: no instance named 'app/c'"),
        (
            {"downloads": [{"object": "o", "from": "u", "to": "v"}]},
            "downloads[0].object: no object named 'o'",
        ),
    ],
)
def test_unknown_names_are_bad_input(plan: Entry, line: str) -> None:
    """A plan that names what the problem doesn't have is refused with the path."""
    with pytest.raises(BadInput) as caught:
        judge(chain(A, B), **{"assignment": {}, **plan})
    assert caught.value.mistakes[0].startswith(line)


def test_what_was_meant_is_looked_for_only_where_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of unknown names took minutes, and nobody was told more than twenty of them."""
    looked_for = []

    def meant(name: str, *_: Any, **__: Any) -> list[str]:
        looked_for.append(name)
        return []

    monkeypatch.setattr("berth.model.errors.get_close_matches", meant)
    nowhere = {f"app/x{number}": "u" for number in range(1000)}
    parts = {"assignment": nowhere, "containers": nowhere, "skipped": list(nowhere)}
    with pytest.raises(BadInput) as caught:
        judge(chain(A, B), **parts)
    assert (len(looked_for), caught.value.count) == (20, 3000)


def test_both_ends_of_a_download_are_checked() -> None:
    """Two unknown nodes are two mistakes."""
    with pytest.raises(BadInput) as caught:
        judge(chain(A), {}, downloads=[{"object": "o", "from": "w", "to": "x"}])
    assert [line.split(":")[0] for line in caught.value.mistakes] == [
        "downloads[0].object",
        "downloads[0].from",
        "downloads[0].to",
    ]


def test_metrics_beyond_all_numbers_are_left_out() -> None:
    """A card of 0 bytes a second never sends: the time that would take is no metric."""
    cards = {"nodes": [{"name": "u", "nic_bytes_per_s": 0}, {"name": "v"}]}
    found = judge(chain({**A, "output_bytes": 1}, B), {"a": "u", "b": "v"}, cards)
    assert "loaded_response_time_ms" not in found.metrics
    assert found.violations


@pytest.mark.parametrize("reuse", [{"app/a": "app/b"}, {"app/b": "app/a"}, {"app/a": "app/a"}])
def test_reuse_that_makes_no_sense(reuse: dict[str, str]) -> None:
    """Taking the result of an operator that is not equal, even in a circle, leaves no metrics."""
    found = judge(chain(A, B), {"a": "u", "b": "u"}, reuse=reuse)
    assert any("does not compute the same" in line for line in found.violations)
    assert found.metrics == {}


def test_containers_by_the_million() -> None:
    """How many containers there could be costs nothing, and names are taken exactly."""
    application = chain({**A, "demand": {"cpu": 1}}, containers={"count": 10**12, "capacity": {"cpu": 2}})
    for name in ("app/c0", "app/c999999999999"):
        assert not judge(application, {"a": "u"}, containers={"app/a": name}).violations
    for name in ("app/c1000000000000", "app/c01", "app/c-1", "app/c", "c0", "app/c²", "app/c" + "9" * 5000):
        (line,) = judge(application, {"a": "u"}, containers={"app/a": name}).violations
        assert line.startswith(f"instance app/a: no container {name} (app has 1000000000000)")


def test_apart_by_a_label_called_node() -> None:
    """The value of a label is no node's name, whatever the label is called."""
    nodes = {"nodes": [{"name": "u"}, {"name": "v", "labels": {"node": "u"}}]}
    application = chain(A, B, rules=[{"apart": ["a", "b"], "by": "node"}])
    assert not judge(application, {"a": "u", "b": "v"}, nodes).violations
    assert judge(application, {"a": "v", "b": "v"}, nodes).violations


def test_tolerance() -> None:
    """Amounts are compared with a relative tolerance of 1e-9, and infinity is more than anything."""
    assert not exceeds(1 + 0.9e-9, 1)
    assert exceeds(1 + 1.1e-9, 1)
    assert not exceeds(0.1 + 0.2, 0.3)
    assert exceeds(1e-300, 0)
    assert not exceeds(0, 0)
    assert exceeds(math.inf, 1)
    assert not exceeds(math.inf, math.inf)
    assert not exceeds(1, math.inf)
