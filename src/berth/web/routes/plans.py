"""Plans, and what can be said of them."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from berth.evaluation import evaluate as evaluate_plan
from berth.evaluation.evaluate import change_between, judge_document, with_verdict
from berth.files.mistakes import Mistake
from berth.model import Download, Plan
from berth.web.access import GuardedRoute
from berth.web.answers import answer, unprocessable
from berth.web.losses import loss_of
from berth.web.plans import by_hand, changed, compared, judged, with_new_failover
from berth.web.requests import (
    PLAN_BODY,
    Author,
    Body,
    Compare,
    CurrentNoted,
    CurrentService,
    Diff,
    Evaluate,
    Explain,
    FileName,
    Id,
    IfMatch,
    Lose,
    NewPlan,
    Service,
    etag_header,
    failing,
    file_answer,
)
from berth.web.workspace import ID_PATTERN, Content

router = APIRouter(route_class=GuardedRoute, tags=["plans"])
ProblemId = Annotated[str | None, Query(pattern=ID_PATTERN, max_length=2400, description="A problem's id")]


@router.get("/plans", responses=failing(404, 422))
def all_plans(service: CurrentService, problem: ProblemId = None) -> Response:
    """Every plan file in the workspace, or those for one problem."""
    if problem is None:
        return answer(service.plans.list())
    about = service.problems.reading(problem)[1].summary()
    return answer(service.plans.list_for(about["name"], about["fingerprint"]))


@router.post("/plans", status_code=201, responses=failing(404, 409, 422, 503, 507))
async def new_plan(
    service: CurrentService, request: NewPlan, author: Author, noted: CurrentNoted, http: Request
) -> Response:
    """Store an assignment as a plan of its own."""
    noted.file(request.name)

    def stored(_: Event) -> Response:
        problem = service.problems.problem(request.problem)
        base = None if request.base is None else replace(service.plans.plan(request.base), assignment={})
        plan = by_hand(problem, _with_parts(changed(base, request.assignment), request))
        return _about(service, service.plans.create(plan, request.name, author), 201)

    return await service.long_answers.run(http, stored)


def _with_parts(plan: Plan, request: NewPlan) -> Plan:
    """A plan with what was given beside the assignment."""
    if request.containers is not None:
        plan = replace(plan, containers=request.containers)
    if request.downloads is not None:
        downloads = tuple(Download(each.object, each.from_, each.to) for each in request.downloads)
        plan = replace(plan, downloads=downloads)
    if request.reuse is not None:
        plan = replace(plan, reuse=request.reuse)
    return plan if request.skipped is None else replace(plan, skipped=tuple(request.skipped))


@router.post("/plans/upload", status_code=201, responses=failing(409, 422, 503, 507), openapi_extra=PLAN_BODY)
async def upload_plan(
    service: CurrentService,
    body: Body,
    author: Author,
    noted: CurrentNoted,
    http: Request,
    name: FileName = None,
) -> Response:
    """Store a plan file; the body is the file."""
    noted.file(name)

    def stored(_: Event) -> Response:
        return _about(service, service.plans.upload(name, body, author), 201)

    return await service.long_answers.run(http, stored)


@router.get("/plans/{id}", responses=failing(404, 422))
def one_plan(service: CurrentService, id: Id) -> Response:
    """A plan file."""
    return _about(service, service.plans.content(id))


@router.get("/plans/{id}/file", responses=failing(404))
def plan_file(service: CurrentService, id: Id) -> Response:
    """A plan file as it is."""
    content = service.plans.content(id)
    return Response(content.data, headers=etag_header(content), media_type="application/json")


@router.put("/plans/{id}", responses=failing(404, 412, 422, 428, 503, 507), openapi_extra=PLAN_BODY)
async def put_plan(
    service: CurrentService, id: Id, body: Body, author: Author, http: Request, if_match: IfMatch = None
) -> Response:
    """Store a plan file anew, if nobody has changed it meanwhile."""

    def stored(_: Event) -> Response:
        return _about(service, service.plans.replace(id, if_match, body, author))

    return await service.long_answers.run(http, stored)


@router.delete("/plans/{id}", status_code=204, responses=failing(404, 412, 428))
def delete_plan(service: CurrentService, id: Id, if_match: IfMatch = None) -> Response:
    """Take a plan file away, if nobody has changed it meanwhile."""
    service.plans.delete(id, if_match)
    return Response(status_code=204)


@router.post("/evaluate", tags=["judging"], responses=failing(404, 422, 503))
async def evaluate(service: CurrentService, request: Evaluate, http: Request) -> Response:
    """Metrics, violations, loads, traffic and the slowest path of a plan."""

    def evaluated(_: Event) -> Response:
        problem = service.problems.problem(request.problem)
        previous = None if request.previous is None else service.plans.plan(request.previous)
        plan = _plan(service, request)
        complete = with_new_failover(problem, plan) if request.assignment else plan
        return answer(judged(problem, complete, previous))

    return await service.long_answers.run(http, evaluated)


@router.post("/loss", tags=["judging"], responses=failing(404, 422, 503))
async def lose(service: CurrentService, request: Lose, http: Request) -> Response:
    """What becomes of a plan when a node goes, or its zone."""

    def lost(_: Event) -> Response:
        problem = service.problems.problem(request.problem)
        return answer(loss_of(problem, _plan(service, request), request.node))

    return await service.long_answers.run(http, lost)


@router.post("/explain", tags=["judging"], responses=failing(404, 422, 503))
async def explain(service: CurrentService, request: Explain, http: Request) -> Response:
    """Why a plan is as it is, what binds, and what would help."""

    def explained(gone: Event) -> Response:
        content, reading = service.problems.reading(request.problem)
        plan = _plan(service, request)
        evaluate_plan(reading.ready, plan)  # unknown names are told at once
        asked = request.operators, request.what_if, request.time_limit
        return answer(service.explaining.explain(content, plan, *asked, gone))

    return await service.explanations.run(http, explained)


@router.post("/diff", tags=["judging"], responses=failing(404, 422, 503))
async def diff(service: CurrentService, request: Diff, http: Request) -> Response:
    """What moved between two plans, and every metric before and after."""

    def told_apart(_: Event) -> Response:
        plans = [service.plans.plan(identity) for identity in (request.before, request.after)]
        judge = None
        if request.problem is not None:
            problem = service.problems.problem(request.problem)
            plans = [with_verdict(problem, plan, evaluate_plan(problem, plan)) for plan in plans]
            judge = judge_document(problem)
        return answer({"judged_by": judge, **change_between(*plans).document()})

    return await service.long_answers.run(http, told_apart)


@router.post("/compare", tags=["judging"], responses=failing(404, 422, 503))
async def compare(service: CurrentService, request: Compare, http: Request) -> Response:
    """Plans side by side, all judged by one problem."""

    def side_by_side(_: Event) -> Response:
        problem = service.problems.problem(request.problem)
        plans = {identity: service.plans.plan(identity) for identity in request.plans}
        return answer(compared(problem, plans))

    return await service.long_answers.run(http, side_by_side)


def _plan(service: Service, request: Evaluate | Explain | Lose) -> Plan:
    if request.plan is None and request.assignment is None:
        raise unprocessable([Mistake("plan", "a plan or an assignment is needed")])
    base = None if request.plan is None else service.plans.plan(request.plan)
    return changed(base, request.assignment)


def _about(service: Service, content: Content, status: int = 200) -> Response:
    return file_answer("plans", content, service.plans.document_of(content), status)
