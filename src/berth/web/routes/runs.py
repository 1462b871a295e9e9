"""Runs, live and past."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import FileResponse, Response

from berth.web.answers import answer
from berth.web.parts import Author, Id, Parts, failing
from berth.web.security import REPORT_POLICY
from berth.web.shapes import Decision
from berth.web.streams import last_seen, run_events

router = APIRouter(tags=["runs"])


@router.get("/runs", responses=failing())
def all_runs(service: Parts) -> Response:
    """Every folder that `berth run` or `berth watch` wrote."""
    return answer(service.runs.list())


@router.get("/runs/{id}", responses=failing(404))
def one_run(service: Parts, id: Id) -> Response:
    """How a run is, or was."""
    return answer(service.runs.document(id))


@router.get("/runs/{id}/history", responses=failing(404))
def history(
    service: Parts,
    id: Id,
    after: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> Response:
    """What happened in a watch."""
    return answer(service.runs.history(id, after, limit))


@router.get("/runs/{id}/figures", responses=failing(404))
def figures(service: Parts, id: Id, most: Annotated[int, Query(ge=2, le=10_000)] = 600) -> Response:
    """Rate, latency and busy time over time."""
    return answer(service.runs.figures(id, most))


@router.get("/runs/{id}/plans/{number}", responses=failing(404))
def run_plan(service: Parts, id: Id, number: Annotated[int, Path(ge=1, le=10**6)]) -> Response:
    """One of the plans of a watch."""
    return answer(service.runs.plan(id, number))


@router.get("/runs/{id}/timeline.svg", responses=failing(404))
def timeline(service: Parts, id: Id) -> Response:
    """The picture of a watch that is over."""
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return FileResponse(service.runs.timeline(id), media_type="image/svg+xml", headers=headers)


@router.get(
    "/runs/{id}/events",
    responses=failing(404, 503) | {200: {"content": {"text/event-stream": {}}, "description": "Events"}},
)
def watch_run(
    service: Parts, request: Request, id: Id, start: Annotated[int, Query(alias="from", ge=0, le=10**9)] = 0
) -> Response:
    """Server-sent events: `history`, `now`, `proposal` and `state`, as they change."""
    service.runs.entry(id)
    return service.streams.response(run_events(service.runs, id, last_seen(request, start)))


@router.post("/runs/{id}/decision", status_code=202, responses=failing(404, 409, 422))
def decision(service: Parts, id: Id, asked: Decision, author: Author) -> Response:
    """Approve or refuse a proposed migration."""
    service.runs.decide(id, asked.proposal, asked.approve, author)
    return answer({"proposal": asked.proposal, "approve": asked.approve}, 202)
