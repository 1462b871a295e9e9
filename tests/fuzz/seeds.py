"""Files that are right, for others to be made of."""

from pathlib import Path
from typing import Any

from berth.files.document import read_document
from tests.files.documents import problem_document

EXAMPLES = Path(__file__).parents[2] / "examples"
SURVIVING: dict[str, Any] = {
    "format": "berth/v1",
    "name": "surviving",
    "survive": {"label": "zone"},
    "objective": [{"response_time": 1}, {"cost_per_hour": 1, "availability": 0.5}],
    "objective_within": [0.05],
    "network": {
        "max_utilisation": 0.8,
        "nodes": [
            {
                "name": name,
                "cores": 2,
                "labels": {"zone": name[0]},
                "cost_per_hour": number,
                "capacity": {"cpu": 2},
            }
            for number, name in enumerate(["a1", "a2", "b1"])
        ],
        "delay_ms": [[0, 1, 2], [1, 0, 2], [2, 2, 0]],
    },
    "applications": [
        {
            "name": "app",
            "operators": [
                {
                    "name": "read",
                    "emits_bytes_per_s": 100,
                    "work_ms": 1,
                    "parallelism": 2,
                    "candidates": ["a1", "b1"],
                },
                {"name": "work", "work_ms": 2, "parallelism": 2, "demand": {"cpu": 0.5}},
            ],
            "streams": [{"from": "read", "to": "work", "tuple_bytes": 10, "grouping": "forward"}],
        }
    ],
}
PROBLEMS: list[Any] = [
    SURVIVING,
    problem_document(),
    *(read_document(file) for file in sorted(EXAMPLES.glob("*.yaml"))),
]
PLANS: list[Any] = [
    {
        "format": "berth-plan/v1",
        "problem": "small",
        "policy": "odp",
        "status": "optimal",
        "objective": 1.0,
        "bound": 1.0,
        "gap": 0,
        "metrics": {"response_time_ms": 1.0},
        "violations": ["first/tag: no room"],
        "assignment": {
            "first/source": "rome",
            "first/tag#0": "rome",
            "first/tag#1": "paris",
            "first/count": "paris",
            "second/look": "rome",
            "second/show": "paris",
        },
        "containers": {"first/tag#0": "first/1"},
        "reuse": {"second/look": "first/tag"},
        "downloads": [{"object": "camera", "from": "store", "to": "rome"}],
        "failover": {"rome": {"first/count": "paris"}},
        "trace": {"method": "pipeline"},
    }
]
