"""Solves in the background."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from berth.web.answers import answer
from berth.web.jobs import EVENTS, ID_PATTERN, State
from berth.web.parts import Author, Parts, failing
from berth.web.routes.plans import ProblemId
from berth.web.shapes import NewJob
from berth.web.streams import job_events, last_seen

router = APIRouter(tags=["jobs"])
JobId = Annotated[str, Path(pattern=ID_PATTERN, description="A job's id")]


@router.get("/jobs", responses=failing(422))
def all_jobs(
    service: Parts,
    state: State | None = None,
    problem: ProblemId = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Jobs, the newest first."""
    return answer(service.jobs.list(state, problem, limit))


@router.post("/jobs", status_code=202, responses=failing(404, 422, 429))
def new_job(service: Parts, asked: NewJob, author: Author) -> Response:
    """Solve a problem in the background."""
    job = service.jobs.submit(asked.document(), author)
    return answer(job, 202, {"Location": f"/api/v1/jobs/{job['id']}"})


@router.get("/jobs/{id}", responses=failing(404))
def one_job(service: Parts, id: JobId) -> Response:
    """How far a job is, or what came of it."""
    return answer(service.jobs.document(id))


@router.post("/jobs/{id}/cancel", status_code=202, responses=failing(404, 409))
def cancel_job(service: Parts, id: JobId) -> Response:
    """End a job with the best plan so far."""
    return answer(service.jobs.cancel(id), 202)


@router.delete(
    "/jobs/{id}", responses=failing(404) | {202: {"description": "It runs: cancelled"}}, status_code=204
)
def delete_job(service: Parts, id: JobId) -> Response:
    """Forget a job that is over; cancel one that isn't. Its plan stays."""
    if service.jobs.remove(id):
        return Response(status_code=204)
    return answer(service.jobs.document(id), 202)


@router.get(
    "/jobs/{id}/events",
    responses=failing(404, 503) | {200: {"content": {"text/event-stream": {}}, "description": "Events"}},
)
def watch_job(
    service: Parts,
    request: Request,
    id: JobId,
    start: Annotated[int, Query(alias="from", ge=0, le=10**9)] = 0,
) -> Response:
    """Server-sent events: `progress` and `state`, until it is over."""
    service.jobs.job(id)
    file = service.job_folder.place(id) / EVENTS

    def is_over() -> bool:
        return service.streams.ending or service.jobs.is_over(id)

    return service.streams.response(job_events(file, last_seen(request, start), is_over))
