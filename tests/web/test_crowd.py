"""Twenty people at once: everybody gets an answer, nobody's work is lost."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.testclient import TestClient

from berth.web.app import create_app
from berth.web.security import Settings
from tests.web.conftest import API, ASSIGNMENT, PROBLEM

PEOPLE = 20


def test_twenty_people(workspace: Path) -> None:
    """All add their line to one problem, starting over when somebody was first; and look around meanwhile."""
    settings = Settings(workspace=workspace, workers=1, most_waiting=PEOPLE)
    begin = threading.Barrier(PEOPLE)

    def person(number: int) -> tuple[int, list[int]]:
        begin.wait()
        statuses, conflicts = [], 0
        for path in ("problems", "policies", "metrics", "plans", "jobs", "problems/small.yaml/view"):
            statuses.append(client.get(f"{API}/{path}").status_code)
        moved = {"problem": "small.yaml", "assignment": ASSIGNMENT}
        statuses.append(client.post(f"{API}/evaluate", json=moved).status_code)
        statuses.append(client.post(f"{API}/plans", json=moved).status_code)
        job = {"problem": "small.yaml", "policy": "round-robin", "seed": number}
        statuses.append(client.post(f"{API}/jobs", json=job).status_code)
        while True:
            seen = client.get(f"{API}/problems/small.yaml")
            text = seen.json()["text"] + f"# {number}\n"
            stored = client.put(
                f"{API}/problems/small.yaml", content=text, headers={"If-Match": seen.headers["etag"]}
            )
            if stored.status_code == 200:
                return conflicts, statuses
            assert stored.status_code == 412
            conflicts += 1

    with (
        TestClient(create_app(settings), base_url="http://127.0.0.1") as client,
        ThreadPoolExecutor(PEOPLE) as pool,
    ):
        results = list(pool.map(person, range(PEOPLE)))
        for job in client.get(f"{API}/jobs").json():
            client.delete(f"{API}/jobs/{job['id']}")
    assert all(statuses == [200] * 7 + [201, 202] for _, statuses in results)
    written = (workspace / "small.yaml").read_text().removeprefix(PROBLEM).splitlines()
    assert sorted(written) == sorted(f"# {number}" for number in range(PEOPLE))
    plans = list(workspace.glob("small-by-hand*.json"))
    assert len(plans) == PEOPLE
