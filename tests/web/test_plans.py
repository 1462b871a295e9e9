"""Plans over REST, and what the judge says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import berth
from berth.explanation import document as explanation_document
from berth.explanation import explain
from tests.web.conftest import API, ASSIGNMENT

PLAN = {"format": "berth-plan/v1", "problem": "small", "policy": "mine", "assignment": ASSIGNMENT}


@pytest.fixture
def plan(workspace: Path) -> str:
    (workspace / "p.json").write_text(json.dumps(PLAN))
    return "p.json"


def test_listed(client: TestClient, workspace: Path, plan: str) -> None:
    """Those of one problem, or all; a file that only says that it is a plan is none."""
    (workspace / "other.json").write_text(json.dumps({**PLAN, "problem": "other"}))
    (workspace / "none.json").write_text(json.dumps({"format": "berth-plan/v1", "assignment": 7}))
    assert [each["id"] for each in client.get(f"{API}/plans").json()] == ["other.json", "p.json"]
    (one,) = client.get(f"{API}/plans", params={"problem": "small.yaml"}).json()
    assert (one["id"], one["policy"], one["instances"], one["violations"]) == ("p.json", "mine", 3, 0)
    assert client.get(f"{API}/plans", params={"problem": "gone.yaml"}).status_code == 404
    assert client.get(f"{API}/plans/none.json").status_code == 422


def test_lists_stay_short(client: TestClient, workspace: Path) -> None:
    """Plans of others may say anything at any length: they are taken, and one of them tells all of it."""
    long = {
        "problem": "p" * 5000,
        "policy": "q" * 5000,
        "reason": "r" * 5000,
        "goal": {f"g{number}" + "g" * 500: 1.0 for number in range(500)},
        "metrics": {f"m{number}" + "m" * 500: 1.0 for number in range(500)},
        "violations": ["v" * 500] * 500,
    }
    content = json.dumps(PLAN | long)
    assert (
        client.post(f"{API}/plans/upload", params={"name": "long.json"}, content=content).status_code == 201
    )
    listed = client.get(f"{API}/plans")
    assert len(listed.content) < 60_000
    (one,) = listed.json()
    assert one["problem"] == "p" * 197 + "..."
    assert one["policy"] == "q" * 197 + "..."
    assert one["reason"] == "r" * 997 + "..."
    assert (len(one["goal"]), len(one["metrics"]), one["violations"]) == (100, 100, 500)
    whole = client.get(f"{API}/plans/long.json").json()["plan"]
    assert {name: whole[name] for name in long} == long
    compared = client.post(f"{API}/compare", json={"problem": "small.yaml", "plans": ["long.json"]})
    assert len(compared.content) < 60_000
    (row,) = compared.json()["plans"]
    assert (row["policy"], row["mistakes"]) == ("q" * 197 + "...", [])


def test_one(client: TestClient, plan: str) -> None:
    """The file and what is in it."""
    answer = client.get(f"{API}/plans/{plan}")
    assert answer.json()["plan"]["assignment"] == ASSIGNMENT
    assert client.get(f"{API}/plans/{plan}/file").json() == PLAN
    assert client.get(f"{API}/plans/small.yaml").status_code == 404
    assert client.get(f"{API}/problems/{plan}").status_code == 404


def test_by_hand(client: TestClient, workspace: Path) -> None:
    """Judged and stored; commands read it."""
    answer = client.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": ASSIGNMENT})
    assert answer.status_code == 201
    stored = berth.load_plan(workspace / answer.json()["path"])
    judged = berth.evaluate(berth.load(workspace / "small.yaml"), stored)
    assert (stored.policy, stored.status, dict(stored.metrics)) == ("by-hand", "feasible", judged.metrics)
    assert stored.objective == judged.metrics["response_time_ms"] == 10 + 5 + 4
    again = client.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": ASSIGNMENT})
    assert again.json()["path"] != answer.json()["path"]


def test_by_hand_what_breaks_constraints(client: TestClient) -> None:
    """Is stored with what it breaks; names that nobody knows are mistakes."""
    broken = {**ASSIGNMENT, "app/sink": "rome", "app/work": "rome"}
    answer = client.post(
        f"{API}/plans", json={"problem": "small.yaml", "assignment": broken, "name": "b.json"}
    )
    assert answer.status_code == 201
    assert answer.json()["status"] == "unknown"
    assert any("cpu 3 needed, 2 there" in line for line in answer.json()["violations"])
    unknown = client.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": {"app/wrok": "rome"}})
    assert unknown.status_code == 422
    assert unknown.json()["mistakes"][0]["path"] == "assignment.app/wrok"
    taken = client.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": {}, "name": "b.json"})
    assert taken.status_code == 409


def test_other_parts_of_a_plan_are_kept(client: TestClient, workspace: Path) -> None:
    """Of the base; each may be given instead."""
    base = {**PLAN, "containers": {"app/work": "app/c0"}, "skipped": []}
    (workspace / "base.json").write_text(json.dumps(base))
    request = {"problem": "small.yaml", "assignment": ASSIGNMENT, "base": "base.json"}
    kept = client.post(f"{API}/plans", json=request).json()["plan"]
    assert kept["containers"] == {"app/work": "app/c0"}
    given = client.post(f"{API}/plans", json={**request, "containers": {}}).json()["plan"]
    assert "containers" not in given


def test_uploads_and_changes(client: TestClient, workspace: Path) -> None:
    """As they are; not over what has changed."""
    new = client.post(f"{API}/plans/upload", params={"name": "u.json"}, json=PLAN)
    assert new.status_code == 201
    assert json.loads((workspace / "u.json").read_text()) == PLAN
    place, etag = f"{API}/plans/u.json", new.headers["etag"]
    changed = {**PLAN, "policy": "ann"}
    assert client.put(place, json=changed).status_code == 428
    assert client.put(place, json=changed, headers={"If-Match": etag}).status_code == 200
    assert client.put(place, json=PLAN, headers={"If-Match": etag}).status_code == 412
    assert client.delete(place, headers={"If-Match": etag}).status_code == 412
    assert client.put(place, json={"assignment": 7}, headers={"If-Match": "*"}).status_code == 412
    etag = client.get(place).headers["etag"]
    assert client.put(place, json={"assignment": 7}, headers={"If-Match": etag}).status_code == 422
    assert client.put(place, json={"assignment": {}}, headers={"If-Match": etag}).status_code == 422
    assert client.delete(place, headers={"If-Match": etag}).status_code == 204
    nonsense = client.post(f"{API}/plans/upload", content="{")
    assert nonsense.status_code == 422


def evaluated(client: TestClient, **request: Any) -> Any:
    return client.post(f"{API}/evaluate", json={"problem": "small.yaml", **request})


def test_judged_as_the_command_judges(client: TestClient, workspace: Path, plan: str) -> None:
    """Metrics and violations are the judge's; loads and traffic belong to nodes and links."""
    found = evaluated(client, plan=plan).json()
    judged = berth.evaluate(berth.load(workspace / "small.yaml"), berth.load_plan(workspace / "p.json"))
    assert (found["metrics"], found["violations"]) == (judged.metrics, [])
    assert found["objective"] == 19.0
    assert [(node["index"], node["share"]) for node in found["nodes"]] == [(0, 0.5), (1, 0.5), (2, 0.25)]
    assert [(link["from"], link["to"], link["bytes_per_s"], link["share"]) for link in found["links"]] == [
        (0, 1, 100.0, 0.1),
        (1, 2, 100.0, 0.1),
    ]
    path = found["critical_path"]
    assert (path["total_ms"], [step["index"] for step in path["steps"]]) == (19.0, [0, 1, 2])
    assert found["bottleneck"]["share"] == 0.5


def test_processors_that_do_not_keep_up(client: TestClient, workspace: Path, plan: str) -> None:
    """Loads and cores are in the picture; what is too much is a warning wherever the plan is judged."""
    text = (workspace / "small.yaml").read_text()
    text = text.replace("{from: source, to: work}", "{from: source, to: work, tuple_bytes: 0.1}")
    text = text.replace("{name: paris,", "{name: paris, cores: 2,")
    (workspace / "small.yaml").write_text(text)
    view = client.get(f"{API}/problems/small.yaml/view").json()
    assert [node["cores"] for node in view["nodes"]] == [1.0, 2.0, 1.0]
    load = view["applications"][0]["operators"][1]["load"]
    found = client.post(f"{API}/evaluate", json={"problem": "small.yaml", "plan": plan}).json()
    (busy,) = (use for node in found["nodes"] for use in node["uses"] if use["label"] == "busy")
    assert (busy["used"], busy["limit"], busy["share"]) == (load, 2.0, load / 2)
    assert found["violations"] == []
    assert [line.partition(":")[0] for line in found["warnings"]] == ["node paris", "app/work"]
    (row,) = client.post(f"{API}/compare", json={"problem": "small.yaml", "plans": [plan]}).json()["plans"]
    assert row["warnings"] == found["warnings"]
    stored = client.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": ASSIGNMENT}).json()
    assert stored["plan"]["warnings"] == found["warnings"]


def test_a_plan_with_changes(client: TestClient, plan: str) -> None:
    """One operator elsewhere, one taken away; against the plan before."""
    moved = evaluated(client, plan=plan, assignment={"app/work": "oslo"}, previous=plan).json()
    assert moved["metrics"]["response_time_ms"] == 30 + 2
    assert moved["metrics"]["moved_instances"] == 1
    away = evaluated(client, plan=plan, assignment={"app/work": None}).json()
    assert not away["complete"]
    assert away["critical_path"] is None
    assert [line for line in away["violations"] if "app/work" in line]
    assert "app/work" not in away["assignment"]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({}, 422),
        ({"plan": "gone.json"}, 404),
        ({"assignment": {"app/work": "roma"}}, 422),
        ({"assignment": {"app/work": 7}}, 422),
        ({"assignment": [], "x": 1}, 422),
        ({"problem": "gone.yaml", "assignment": {}}, 404),
    ],
)
def test_what_can_not_be_judged(client: TestClient, request_: dict[str, Any], status: int) -> None:
    """Says why."""
    answer = evaluated(client, **request_)
    assert answer.status_code == status
    assert answer.json()["error"]


def test_normalised_sums_have_no_value_without_bounds(client: TestClient, workspace: Path, plan: str) -> None:
    """Unless the plan's solver wrote them down."""
    text = (workspace / "small.yaml").read_text() + "objective: {response_time: 1, traffic: 1}\n"
    (workspace / "two.yaml").write_text(text)
    assert evaluated(client, problem="two.yaml", plan=plan).json()["objective"] is None
    bounds = {"response_time": [9, 29], "traffic": [100, 300]}
    (workspace / "b.json").write_text(json.dumps({**PLAN, "trace": {"objective_bounds": bounds}}))
    assert evaluated(client, problem="two.yaml", plan="b.json").json()["objective"] == pytest.approx(1.0)


def test_explained_as_the_command_explains(client: TestClient, workspace: Path, plan: str) -> None:
    """In a process of its own, the same."""
    answer = client.post(f"{API}/explain", json={"problem": "small.yaml", "plan": plan})
    problem, placed = berth.load(workspace / "small.yaml"), berth.load_plan(workspace / "p.json")
    assert answer.json() == explanation_document(explain(problem, placed, what_if="none"))
    nobody = client.post(
        f"{API}/explain", json={"problem": "small.yaml", "plan": plan, "operators": ["wrok"]}
    )
    assert nobody.status_code == 422
    assert nobody.json()["mistakes"][0]["path"] == "operator"
    unknown = client.post(f"{API}/explain", json={"problem": "small.yaml", "assignment": {"x": "y"}})
    assert unknown.status_code == 422


def test_differences(client: TestClient, workspace: Path, plan: str) -> None:
    """What moved, and the metrics where the problem is given."""
    (workspace / "q.json").write_text(json.dumps({**PLAN, "assignment": {**ASSIGNMENT, "app/work": "oslo"}}))
    plain = client.post(f"{API}/diff", json={"before": plan, "after": "q.json"}).json()
    assert plain["moved"] == {"app/work": {"from": "paris", "to": "oslo"}}
    assert plain["metrics"] == {}
    judged = client.post(
        f"{API}/diff", json={"before": plan, "after": "q.json", "problem": "small.yaml"}
    ).json()
    assert judged["metrics"]["response_time_ms"] == {"before": 19.0, "after": 32.0, "change": 13.0}
    assert plain["judged_by"] is None
    assert judged["judged_by"]["problem"] == "small"


def versions(client: TestClient, problem: str) -> dict[str, str]:
    listed = client.get(f"{API}/plans", params={"problem": problem}).json()
    return {each["id"]: each["version"] for each in listed}


def test_plans_belong_to_a_problem_by_its_content(client: TestClient, workspace: Path, plan: str) -> None:
    """Not by its name: that leads only to plans which are said to be of another version, or of none."""
    made = client.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": ASSIGNMENT}).json()["id"]
    assert versions(client, "small.yaml") == {plan: "unknown", made: "this"}
    text = (workspace / "small.yaml").read_text()
    slower = text.replace("delay_ms: 10", "delay_ms: 11", 1)
    (workspace / "renamed.yaml").write_text(text.replace("name: small", "name: large", 1))
    (workspace / "slower.yaml").write_text(slower)
    (workspace / "other.yaml").write_text(slower.replace("name: small", "name: large", 1))
    (workspace / "draft.yaml").write_text("format: berth/v1\nname: small\n")
    assert versions(client, "renamed.yaml") == {made: "this"}
    assert versions(client, "slower.yaml") == {plan: "unknown", made: "another"}
    assert versions(client, "other.yaml") == {}
    assert versions(client, "draft.yaml") == {plan: "unknown", made: "unknown"}


def test_all_are_judged_by_the_problem_that_is_shown(client: TestClient, workspace: Path) -> None:
    """Also those that recorded other figures under another version; what was proved there is gone."""
    problem = berth.load(workspace / "small.yaml")
    berth.save_plan(berth.solve(problem, "odp"), workspace / "old.json")
    text = (workspace / "small.yaml").read_text().replace("delay_ms: 10", "delay_ms: 11", 1)
    (workspace / "small.yaml").write_text(text)
    changed = berth.load(workspace / "small.yaml")
    berth.save_plan(berth.solve(changed, "odp"), workspace / "new.json")
    (workspace / "odd.json").write_text(json.dumps({**PLAN, "assignment": {"app/work": "atlantis"}}))
    question = {"problem": "small.yaml", "plans": ["old.json", "new.json", "odd.json"]}
    answer = client.post(f"{API}/compare", json=question).json()
    assert answer["judged_by"] == {"problem": "small", "fingerprint": changed.fingerprint}
    assert answer["goal"] == {"response_time": 1.0}
    old, new, odd = answer["plans"]
    assert (old["version"], old["status"], old["bound"]) == ("another", "feasible", None)
    assert old["metrics"] == berth.evaluate(changed, berth.load_plan(workspace / "old.json")).metrics
    assert old["problem_objective"] == old["metrics"]["response_time_ms"]
    assert (new["version"], new["status"], new["gap"]) == ("this", "optimal", 0.0)
    assert "no node named 'atlantis'" in odd["mistakes"][0]["message"]
    assert (odd["metrics"], odd["problem_objective"]) == ({}, None)
    assert client.post(f"{API}/compare", json={**question, "plans": ["gone.json"]}).status_code == 404
    assert client.post(f"{API}/compare", json={**question, "plans": []}).status_code == 422


def test_sums_are_compared_on_one_scale(client: TestClient, workspace: Path) -> None:
    """By the bounds that a plan of this version has recorded, for those without any, too."""
    weights = "objective: {response_time: 1, availability: 1}\n"
    (workspace / "small.yaml").write_text((workspace / "small.yaml").read_text() + weights)
    berth.save_plan(berth.solve(berth.load(workspace / "small.yaml"), "odp"), workspace / "a.json")
    (workspace / "b.json").write_text(json.dumps({"format": "berth-plan/v1", "assignment": ASSIGNMENT}))
    one, other = (
        client.post(f"{API}/compare", json={"problem": "small.yaml", "plans": plans}).json()["plans"]
        for plans in (["b.json"], ["b.json", "a.json"])
    )
    assert one[0]["problem_objective"] is None
    assert other[0]["problem_objective"] >= other[1]["problem_objective"]
    assert other[1]["problem_objective"] == pytest.approx(other[1]["objective"])
