"""Plans, and what can be said of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from berth.evaluation import evaluate as evaluate_plan
from berth.evaluation.evaluate import change_between
from berth.model import Download, Plan
from berth.web.answers import answer
from berth.web.errors import unprocessable
from berth.web.judging import judged
from berth.web.mistakes import Mistake
from berth.web.names import ID_PATTERN
from berth.web.parts import PLAN_BODY, Author, Body, FileName, Id, IfMatch, Parts, Service, failing
from berth.web.plans import by_hand, changed
from berth.web.shapes import Diff, Evaluate, Explain, NewPlan
from berth.web.workspace import Content

router = APIRouter(tags=["plans"])
ProblemId = Annotated[str | None, Query(pattern=ID_PATTERN, max_length=2400, description="A problem's id")]


@router.get("/plans", responses=failing(404, 422))
def all_plans(service: Parts, problem: ProblemId = None) -> Response:
    """Every plan file in the workspace, or those for one problem."""
    name = None if problem is None else service.problems.reading(problem)[1].summary()["name"]
    return answer(service.plans.list(name))


@router.post("/plans", status_code=201, responses=failing(404, 409, 422))
def new_plan(service: Parts, asked: NewPlan, author: Author) -> Response:
    """Store an assignment as a plan of its own."""
    problem = service.problems.problem(asked.problem)
    base = None if asked.base is None else replace(service.plans.plan(asked.base), assignment={})
    plan = by_hand(problem, _with_parts(changed(base, asked.assignment), asked))
    return _about(service, service.plans.create(plan, asked.name, author), 201)


def _with_parts(plan: Plan, asked: NewPlan) -> Plan:
    """A plan with what was given beside the assignment."""
    if asked.containers is not None:
        plan = replace(plan, containers=asked.containers)
    if asked.downloads is not None:
        downloads = tuple(Download(each.object, each.from_, each.to) for each in asked.downloads)
        plan = replace(plan, downloads=downloads)
    if asked.reuse is not None:
        plan = replace(plan, reuse=asked.reuse)
    return plan if asked.skipped is None else replace(plan, skipped=tuple(asked.skipped))


@router.post("/plans/upload", status_code=201, responses=failing(409, 422), openapi_extra=PLAN_BODY)
def upload_plan(service: Parts, body: Body, author: Author, name: FileName = None) -> Response:
    """Store a plan file; the body is the file."""
    return _about(service, service.plans.upload(name, body, author), 201)


@router.get("/plans/{id}", responses=failing(404, 422))
def one_plan(service: Parts, id: Id) -> Response:
    """A plan file."""
    return _about(service, service.plans.content(id))


@router.get("/plans/{id}/file", responses=failing(404))
def plan_file(service: Parts, id: Id) -> Response:
    """A plan file as it is."""
    content = service.plans.content(id)
    return Response(content.data, headers=_tagged(content), media_type="application/json")


@router.put("/plans/{id}", responses=failing(404, 412, 422, 428), openapi_extra=PLAN_BODY)
def put_plan(service: Parts, id: Id, body: Body, author: Author, if_match: IfMatch = None) -> Response:
    """Store a plan file anew, if nobody has changed it meanwhile."""
    return _about(service, service.plans.replace(id, if_match, body, author))


@router.delete("/plans/{id}", status_code=204, responses=failing(404, 412, 428))
def delete_plan(service: Parts, id: Id, if_match: IfMatch = None) -> Response:
    """Take a plan file away, if nobody has changed it meanwhile."""
    service.plans.delete(id, if_match)
    return Response(status_code=204)


@router.post("/evaluate", tags=["judging"], responses=failing(404, 422))
def evaluate(service: Parts, asked: Evaluate) -> Response:
    """Metrics, violations, loads, traffic and the slowest path of a plan."""
    problem = service.problems.problem(asked.problem)
    previous = None if asked.previous is None else service.plans.plan(asked.previous)
    return answer(judged(problem, _plan(service, asked), previous))


@router.post("/explain", tags=["judging"], responses=failing(404, 422, 503))
def explain(service: Parts, asked: Explain) -> Response:
    """Why a plan is as it is, what binds, and what would help."""
    content, reading = service.problems.reading(asked.problem)
    plan = _plan(service, asked)
    evaluate_plan(reading.ready, plan)  # unknown names are told at once
    found = service.explaining.explain(content, plan, asked.operators, asked.what_if, asked.time_limit)
    return answer(found)


@router.post("/diff", tags=["judging"], responses=failing(404, 422))
def diff(service: Parts, asked: Diff) -> Response:
    """What moved between two plans, and every metric before and after."""
    before, after = service.plans.plan(asked.before), service.plans.plan(asked.after)
    if asked.problem is not None:
        problem = service.problems.problem(asked.problem)
        results = [evaluate_plan(problem, plan) for plan in (before, after)]
        before, after = (
            replace(plan, metrics=result.metrics, violations=result.violations)
            for plan, result in zip((before, after), results, strict=True)
        )
    return answer(change_between(before, after).document())


def _plan(service: Service, asked: Evaluate | Explain) -> Plan:
    if asked.plan is None and asked.assignment is None:
        raise unprocessable([Mistake("plan", "a plan or an assignment is needed")])
    base = None if asked.plan is None else service.plans.plan(asked.plan)
    return changed(base, asked.assignment)


def _about(service: Service, content: Content, status: int = 200) -> Response:
    where = {"Location": f"/api/v1/plans/{content.entry.id}"} if status == 201 else {}
    return answer(service.plans.document_of(content), status, _tagged(content) | where)


def _tagged(content: Content) -> dict[str, str]:
    return {"ETag": f'"{content.etag}"'}
