"""Solves in the background, and runs: what happens, and what to do about it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import FileResponse, Response

from berth.web.access import GuardedRoute, refuse_others
from berth.web.answers import answer
from berth.web.jobs import EVENTS, ID_PATTERN, State
from berth.web.requests import (
    Author,
    CurrentCaller,
    CurrentNoted,
    CurrentService,
    Decision,
    Id,
    NewFront,
    NewJob,
    failing,
)
from berth.web.routes.plans import ProblemId
from berth.web.security import REPORT_POLICY
from berth.web.streams import job_events, last_seen, run_events

jobs = APIRouter(route_class=GuardedRoute, tags=["jobs"])
runs = APIRouter(route_class=GuardedRoute, tags=["runs"])
FirstEvent = Annotated[int, Query(alias="from", ge=0, le=10**9)]
JobId = Annotated[str, Path(pattern=ID_PATTERN, description="A job's id")]


@jobs.get("/jobs", responses=failing(422))
def all_jobs(
    service: CurrentService,
    state: State | None = None,
    problem: ProblemId = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Jobs, the newest first."""
    return answer(service.jobs.list(state, problem, limit))


@jobs.post("/jobs", status_code=202, responses=failing(404, 422))
def new_job(service: CurrentService, request: NewJob, author: Author, noted: CurrentNoted) -> Response:
    """Solve a problem in the background."""
    noted.facts["problem"] = request.problem
    job = service.jobs.submit(request.document(), author, told_apart=not service.entrance.people.everybody)
    return answer(job, 202, {"Location": f"/api/v1/jobs/{job['id']}"})


@jobs.get("/jobs/{id}", responses=failing(404))
def one_job(service: CurrentService, id: JobId) -> Response:
    """How far a job is, or what came of it."""
    return answer(service.jobs.document(id))


@jobs.post("/jobs/{id}/cancel", status_code=202, responses=failing(404, 409))
def cancel_job(service: CurrentService, caller: CurrentCaller, id: JobId) -> Response:
    """End a job with the best plan so far; somebody else's only as an admin."""
    refuse_others(caller, service.jobs.job(id).author)
    return answer(service.jobs.cancel(id), 202)


@jobs.delete(
    "/jobs/{id}", responses=failing(404) | {202: {"description": "It runs: cancelled"}}, status_code=204
)
def delete_job(service: CurrentService, caller: CurrentCaller, id: JobId) -> Response:
    """Forget a job that is over; cancel one that isn't. Its plan stays. Somebody else's only as an admin."""
    refuse_others(caller, service.jobs.job(id).author)
    if service.jobs.remove(id):
        return Response(status_code=204)
    return answer(service.jobs.document(id), 202)


@jobs.get(
    "/jobs/{id}/events",
    responses=failing(404, 503) | {200: {"content": {"text/event-stream": {}}, "description": "Events"}},
)
def watch_job(
    service: CurrentService,
    request: Request,
    id: JobId,
    start: FirstEvent = 0,
) -> Response:
    """Server-sent events: `progress` and `state`, until it is over."""
    service.jobs.job(id)
    file = service.job_folder.place(id) / EVENTS
    seen = last_seen(request, start)
    return service.streams.response(job_events(file, seen, lambda: service.jobs.is_over(id)))


@jobs.post("/fronts", status_code=202, responses=failing(404, 422))
def new_front(service: CurrentService, request: NewFront, author: Author, noted: CurrentNoted) -> Response:
    """Find the plans between the best for one metric and the best for another, in the background."""
    noted.facts["problem"] = request.problem
    job = service.jobs.submit_front(
        request.model_dump(), author, told_apart=not service.entrance.people.everybody
    )
    return answer(job, 202, {"Location": f"/api/v1/jobs/{job['id']}"})


@jobs.get("/fronts/{id}", responses=failing(404, 409))
def one_front(service: CurrentService, id: JobId) -> Response:
    """The front that a job has found, each point with its plan."""
    return answer(service.jobs.front(id))


@runs.get("/runs", responses=failing())
def all_runs(service: CurrentService) -> Response:
    """Every folder that `berth run` or `berth watch` wrote."""
    return answer(service.runs.list())


@runs.get("/runs/{id}", responses=failing(404))
def one_run(service: CurrentService, id: Id) -> Response:
    """How a run is, or was."""
    return answer(service.runs.document(id))


@runs.get("/runs/{id}/history", responses=failing(404))
def history(
    service: CurrentService,
    id: Id,
    after: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> Response:
    """What happened in a watch."""
    return answer(service.runs.history(id, after, limit))


@runs.get("/runs/{id}/figures", responses=failing(404))
def figures(service: CurrentService, id: Id, most: Annotated[int, Query(ge=2, le=10_000)] = 600) -> Response:
    """Rate, latency and busy time over time."""
    return answer(service.runs.figures(id, most))


@runs.get("/runs/{id}/plans/{number}", responses=failing(404))
def run_plan(service: CurrentService, id: Id, number: Annotated[int, Path(ge=1, le=10**6)]) -> Response:
    """One of the plans of a watch."""
    return answer(service.runs.plan(id, number))


@runs.get("/runs/{id}/timeline.svg", responses=failing(404))
def timeline(service: CurrentService, id: Id) -> Response:
    """The picture of a watch that is over."""
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return FileResponse(service.runs.timeline(id), media_type="image/svg+xml", headers=headers)


@runs.get(
    "/runs/{id}/events",
    responses=failing(404, 503) | {200: {"content": {"text/event-stream": {}}, "description": "Events"}},
)
def watch_run(
    service: CurrentService,
    request: Request,
    id: Id,
    start: FirstEvent = 0,
) -> Response:
    """Server-sent events: `history`, `now`, `proposal` and `state`, as they change."""
    service.runs.entry(id)
    return service.streams.response(run_events(service.runs, id, last_seen(request, start)))


@runs.post("/runs/{id}/decision", status_code=202, responses=failing(404, 409, 422))
def decision(
    service: CurrentService, id: Id, request: Decision, author: Author, noted: CurrentNoted
) -> Response:
    """Approve or refuse a proposed migration."""
    noted.facts |= {"proposal": request.proposal, "approve": request.approve}
    service.runs.decide(id, request.proposal, request.approve, author)
    return answer({"proposal": request.proposal, "approve": request.approve}, 202)
