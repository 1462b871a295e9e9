"""Problems and examples."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from berth.files.mistakes import Mistake
from berth.web.access import GuardedRoute
from berth.web.answers import answer, unprocessable
from berth.web.problems import example, example_list, reading_in
from berth.web.readers import SMALL_BYTES
from berth.web.requests import (
    Author,
    Body,
    CurrentNoted,
    CurrentService,
    FileName,
    Id,
    IfMatch,
    Service,
    etag_header,
    failing,
    file_answer,
    file_body,
    sends_json,
)
from berth.web.workspace import PROBLEM_ENDS, Content, new_name

router = APIRouter(route_class=GuardedRoute, tags=["problems"])
_KINDS = ("application/yaml", "application/json", "text/plain")


@router.get("/problems", responses=failing())
def all_problems(service: CurrentService) -> Response:
    """Every problem file in the workspace."""
    return answer(service.problems.list())


@router.post(
    "/problems", status_code=201, responses=failing(409, 422, 503, 507), openapi_extra=file_body(*_KINDS)
)
def new_problem(
    request: Request,
    service: CurrentService,
    body: Body,
    author: Author,
    noted: CurrentNoted,
    name: FileName = None,
    draft: bool = False,
) -> Response:
    """Store a problem file; the body is the file."""
    noted.file(name)
    content = service.problems.create(name, body, author, draft=draft, as_json=sends_json(request))
    return _about(service, content, 201)


@router.post("/problems/check", responses=failing(422, 503), openapi_extra=file_body(*_KINDS))
def check(request: Request, body: Body, name: FileName = None) -> Response:
    """What is wrong with a problem file; nothing is stored."""
    if not body:
        raise unprocessable([Mistake("", "the body is empty: it should be the file")])
    usual = "problem.json" if sends_json(request) else "problem"
    reading = reading_in(body, str(new_name(name, PROBLEM_ENDS)) if name else usual)
    return answer(
        {
            "ok": reading.problem is not None,
            "mistakes": reading.mistakes,
            "summary": reading.summary() if reading.problem is not None else None,
        }
    )


@router.get("/problems/{id}", responses=failing(404, 503))
async def one_problem(service: CurrentService, id: Id, http: Request) -> Response:
    """A problem file: its text, its data, its mistakes."""
    return await _in_turn(service, http, id, lambda: _about(service, service.problems.content(id)))


@router.get("/problems/{id}/file", responses=failing(404, 503))
async def problem_file(service: CurrentService, id: Id, http: Request) -> Response:
    """A problem file as it is."""

    def as_it_is() -> Response:
        content = service.problems.content(id)
        kind = "application/json" if content.entry.path.suffix.lower() == ".json" else "application/yaml"
        return Response(content.data, headers=etag_header(content), media_type=kind)

    return await _in_turn(service, http, id, as_it_is)


async def _in_turn(service: Service, http: Request, id: str, work: Callable[[], Response]) -> Response:
    """Answer at once, or with a large file when it is its turn: many of them would take all memory."""
    if await run_in_threadpool(service.problems.size, id) <= SMALL_BYTES:
        return await run_in_threadpool(work)
    return await service.large_files.run(http, lambda _: work())


@router.get("/problems/{id}/view", responses=failing(404, 422, 503))
async def problem_view(service: CurrentService, id: Id, http: Request) -> Response:
    """What a picture of a problem needs."""

    def viewed(_: Event) -> Response:
        content, view = service.problems.view(id)
        return answer(view, headers=etag_header(content))

    return await service.long_answers.run(http, viewed)


@router.put(
    "/problems/{id}", responses=failing(404, 412, 422, 428, 503, 507), openapi_extra=file_body(*_KINDS)
)
def put_problem(
    service: CurrentService, id: Id, body: Body, author: Author, if_match: IfMatch = None, draft: bool = False
) -> Response:
    """Store a problem file anew, if nobody has changed it meanwhile."""
    return _about(service, service.problems.replace(id, if_match, body, author, draft=draft))


@router.delete("/problems/{id}", status_code=204, responses=failing(404, 412, 428))
def delete_problem(service: CurrentService, id: Id, if_match: IfMatch = None) -> Response:
    """Take a problem file away, if nobody has changed it meanwhile."""
    service.problems.delete(id, if_match)
    return Response(status_code=204)


@router.get("/examples", tags=["examples"], responses=failing())
def all_examples() -> Response:
    """Problems to begin with."""
    return answer(example_list())


@router.post("/examples/{name}", status_code=201, tags=["examples"], responses=failing(404, 409, 507))
def take_example(service: CurrentService, name: str, author: Author) -> Response:
    """Copy an example into the workspace."""
    content = service.problems.create(f"{name}.yaml", example(name), author, draft=False, as_json=False)
    return _about(service, content, 201)


def _about(service: Service, content: Content, status: int = 200) -> Response:
    return file_answer("problems", content, service.problems.json_of(content), status)
