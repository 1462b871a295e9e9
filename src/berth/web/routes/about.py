"""The service itself, and what there is to look at: tables and experiments."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query
from starlette.responses import FileResponse, Response

from berth import __version__
from berth.evaluation import METRICS
from berth.evaluation.metrics import words_of
from berth.files import PLAN, PROBLEM
from berth.policies.registry import policy_documents
from berth.web.access import GuardedRoute
from berth.web.answers import Refused, answer
from berth.web.requests import CurrentCaller, CurrentService, Id, Service, failing
from berth.web.results import MOST_ROWS
from berth.web.security import REPORT_POLICY
from berth.web.workspace import REPORT

router = APIRouter(route_class=GuardedRoute)


@router.get("/health", tags=["about"], responses=failing(503, 507))
async def health(service: CurrentService) -> Response:
    """Whether it is well, and what is going on."""
    return await run_sync(_health, service, limiter=service.health)


def _health(service: Service) -> Response:
    service.jobs.save_again()
    jobs = service.jobs.counts()
    dead = service.jobs.dead_threads()
    if dead:
        words = f"{dead} of the {service.settings.workers} threads for jobs ended; start the service again"
        raise Refused(503, words, status="failing", jobs=jobs)
    unwritable = service.workspace.unwritable()
    if unwritable is not None:
        raise Refused(*unwritable, status="failing", jobs=jobs)
    return answer({"status": "ok", "jobs": jobs})


@router.get("/version", tags=["about"], responses=failing())
def version(service: CurrentService) -> Response:
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
                "jobs_per_person": settings.jobs_per_person,
                "memory_bytes": settings.memory_bytes,
                "processor_s": settings.processor_s,
                "workspace_bytes": settings.workspace_bytes,
                "workspace_files": settings.workspace_files,
            },
        }
    )


@router.get("/me", tags=["about"], responses=failing())
def me(service: CurrentService, caller: CurrentCaller) -> Response:
    """Who asks, and with which role; whether that is known by a token."""
    return answer(
        {"name": caller.name, "role": caller.role, "by_token": not service.entrance.people.everybody}
    )


@router.get("/policies", tags=["about"], responses=failing())
def policies() -> Response:
    """Every policy, with its parameters."""
    return answer(known_policies())


@cache
def known_policies() -> list[dict[str, Any]]:
    """Every policy as data; the first time takes a while."""
    return policy_documents()


@router.get("/metrics", tags=["about"], responses=failing())
def metrics() -> Response:
    """Every metric: its key, what objectives call it, its unit, what it is, whether more is better."""
    return answer(
        [
            {
                "key": metric.key,
                "name": metric.name,
                "label": words_of(metric),
                "unit": metric.unit,
                "about": metric.about,
                "maximise": metric.maximise,
                "needs_previous": metric.needs_previous,
            }
            for metric in METRICS
        ]
    )


@router.get("/schema", tags=["about"], responses=failing())
def schema() -> Response:
    """The JSON schemas of problem and plan files."""
    return answer({"problem": PROBLEM.schema, "plan": PLAN.schema})


@router.get("/tables", tags=["tables"], responses=failing())
def all_tables(service: CurrentService) -> Response:
    """Every Parquet table in the workspace."""
    return answer(service.tables.list())


@router.get("/tables/{id}", tags=["tables"], responses=failing(404, 422))
def table(
    service: CurrentService,
    id: Id,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100,
) -> Response:
    """Some rows of a table."""
    return answer(service.tables.rows(id, offset, limit))


@router.get("/experiments", tags=["experiments"], responses=failing())
def all_experiments(service: CurrentService) -> Response:
    """What `berth reproduce` has left here."""
    return answer(service.experiments.list())


@router.get("/experiments/{id}", tags=["experiments"], responses=failing(404))
def experiment(service: CurrentService, id: Id) -> Response:
    """Its files, its data and its tables."""
    return answer(service.experiments.document(id))


@router.get("/experiments/{id}/report", tags=["experiments"], responses=failing(404))
def report(service: CurrentService, id: Id) -> Response:
    """The report, for a sandboxed frame: it can load and do nothing."""
    return _file(service, id, REPORT)


@router.get("/experiments/{id}/files/{name:path}", tags=["experiments"], responses=failing(404))
def experiment_file(service: CurrentService, id: Id, name: str) -> Response:
    """A picture or data file beside the report."""
    return _file(service, id, name)


def _file(service: CurrentService, identity: str, name: str) -> Response:
    file, kind = service.experiments.file(identity, name)
    return FileResponse(file, media_type=kind, headers={"Content-Security-Policy": REPORT_POLICY})
