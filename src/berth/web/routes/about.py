"""About the service itself."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from berth import __version__
from berth.evaluation import METRICS
from berth.files import PLAN, PROBLEM
from berth.policies.listing import policy_documents
from berth.web.answers import answer
from berth.web.parts import Parts, failing

router = APIRouter(tags=["about"])


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
                "unit": metric.unit,
                "about": metric.about,
                "maximise": metric.maximise,
                "needs_previous": metric.needs_previous,
            }
            for metric in METRICS
        ]
    )


@router.get("/schema", responses=failing())
def schema() -> Response:
    """The JSON schemas of problem and plan files."""
    return answer({"problem": PROBLEM.schema, "plan": PLAN.schema})
