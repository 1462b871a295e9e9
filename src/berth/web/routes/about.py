"""About the service itself."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from berth import __version__
from berth.evaluation import METRICS
from berth.evaluation.metrics import AdditiveMetric
from berth.files import PLAN_SCHEMA, PROBLEM_SCHEMA
from berth.policies.listing import policy_documents
from berth.web.answers import answer
from berth.web.parts import Parts, failing

router = APIRouter(tags=["about"])
_ENDS = (("_ms", "ms"), ("_bytes_per_s", "bytes/s"), ("_bytes", "bytes"))
_UNITS = {
    "availability": "share",
    "bandwidth_max_ratio": "share",
    "elastic_energy": "B·s",
    "nodes_used": "nodes",
    "cost_per_hour": "/h",
    "containers_used": "containers",
    "processing_power": "processors",
    "moved_instances": "instances",
}
_ABOUT = {
    "response_time_ms": "work and delay along the slowest path from a source to the end",
    "loaded_response_time_ms": "the same, with nodes slowed down by their load",
    "availability": "the chance that all nodes and links in use are there at once",
    "traffic_bytes_per_s": "data that goes from node to node",
    "network_usage_bytes": "data under way between nodes: rate times delay",
    "elastic_energy": "rate times squared delay, as if streams were springs",
    "communication_cost": "rate times the cost of each link in use",
    "placement_cost": "what the instances cost at their nodes, by the problem's own figures",
    "nodes_used": "nodes that host anything",
    "enrolled_speed": "the speeds of these nodes, added up; 1 is the speed of a usual node",
    "enrolled_card_bytes_per_s": "the network cards of these nodes, added up",
    "cost_per_hour": "money for these nodes and for the data between them, in the currency of the problem",
    "containers_used": "containers that are not empty",
    "container_traffic_bytes_per_s": "data between instances in different containers",
    "processing_power": "processors that are kept busy",
    "bandwidth_sum_bytes_per_s": "all that crosses between nodes, downloads included",
    "bandwidth_max_ratio": "the fullest link or network card",
    "moved_instances": "instances that are elsewhere than in the previous plan",
    "moved_state_bytes": "state that has to move with them",
}


@router.get("/health", responses=failing())
def health(service: Parts) -> Response:
    """Whether it is there, and what is going on."""
    return answer({"status": "ok", "jobs": service.jobs.counts()})


@router.get("/version", responses=failing())
def version(service: Parts) -> Response:
    """What it is, and what it allows."""
    settings = service.settings
    return answer(
        {
            "version": __version__,
            "api": "v1",
            "workspace": service.workspace.root.name,
            "limits": {
                "upload_bytes": settings.upload_bytes,
                "time_limit_s": settings.longest_solve_s,
                "waiting": settings.most_waiting,
                "workers": settings.workers,
            },
        }
    )


@router.get("/policies", responses=failing())
def policies() -> Response:
    """Every policy, with its parameters."""
    return answer(known_policies())


@cache
def known_policies() -> list[dict[str, Any]]:
    """Every policy as data; the first time takes a while."""
    return policy_documents()


@router.get("/metrics", responses=failing())
def metrics() -> Response:
    """Every metric: its key, what objectives call it, its unit, what it is, whether more is better."""
    return answer(
        [
            {
                "key": metric.key,
                "name": metric.name,
                "label": metric.name.replace("_", " "),
                "unit": _unit(metric.key),
                "about": _ABOUT[metric.key],
                "maximise": metric.maximise,
                "needs_previous": isinstance(metric, AdditiveMetric) and metric.needs_previous,
            }
            for metric in METRICS
        ]
    )


@router.get("/schema", responses=failing())
def schema() -> Response:
    """The JSON schemas of problem and plan files."""
    return answer({"problem": PROBLEM_SCHEMA, "plan": PLAN_SCHEMA})


def _unit(key: str) -> str:
    """What a metric is counted in: its key's end says so, for most."""
    return _UNITS.get(key) or next((unit for end, unit in _ENDS if key.endswith(end)), "")
