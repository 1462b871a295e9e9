"""Tables and experiments, to look at."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import FileResponse, Response

from berth.web.answers import answer
from berth.web.experiments import REPORT
from berth.web.parts import Id, Parts, failing
from berth.web.security import REPORT_POLICY
from berth.web.tables import MOST_ROWS

router = APIRouter()


@router.get("/tables", tags=["tables"], responses=failing())
def all_tables(service: Parts) -> Response:
    """Every Parquet table in the workspace."""
    return answer(service.tables.list())


@router.get("/tables/{id}", tags=["tables"], responses=failing(404, 422))
def table(
    service: Parts,
    id: Id,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100,
) -> Response:
    """Some rows of a table."""
    return answer(service.tables.rows(id, offset, limit))


@router.get("/experiments", tags=["experiments"], responses=failing())
def all_experiments(service: Parts) -> Response:
    """What `berth reproduce` has left here."""
    return answer(service.experiments.list())


@router.get("/experiments/{id}", tags=["experiments"], responses=failing(404))
def experiment(service: Parts, id: Id) -> Response:
    """Its files, its data and its tables."""
    return answer(service.experiments.document(id))


@router.get("/experiments/{id}/report", tags=["experiments"], responses=failing(404))
def report(service: Parts, id: Id) -> Response:
    """The report, for a sandboxed frame: it can load and do nothing."""
    return _file(service, id, REPORT)


@router.get("/experiments/{id}/files/{name:path}", tags=["experiments"], responses=failing(404))
def experiment_file(service: Parts, id: Id, name: str) -> Response:
    """A picture or data file beside the report."""
    return _file(service, id, name)


def _file(service: Parts, identity: str, name: str) -> Response:
    file, kind = service.experiments.file(identity, name)
    return FileResponse(file, media_type=kind, headers={"Content-Security-Policy": REPORT_POLICY})
