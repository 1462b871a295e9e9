"""What all routes share: the service's parts, and what requests have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query, Request

from berth.files import PLAN
from berth.web.experiments import Experiments
from berth.web.explaining import Explaining
from berth.web.jobs import JobFolder
from berth.web.names import ID_PATTERN
from berth.web.plans import Plans
from berth.web.problems import Problems
from berth.web.queue import JobQueue
from berth.web.runs import Runs
from berth.web.security import author_of
from berth.web.settings import Settings
from berth.web.shapes import Error
from berth.web.streams import Streams
from berth.web.tables import Tables
from berth.web.workspace import Workspace


@dataclass(frozen=True)
class Service:
    """Everything that a running service has."""

    settings: Settings
    workspace: Workspace
    problems: Problems
    plans: Plans
    job_folder: JobFolder
    jobs: JobQueue
    explaining: Explaining
    runs: Runs
    tables: Tables
    experiments: Experiments
    streams: Streams

    @classmethod
    def of(cls, settings: Settings) -> Service:
        """The parts, put together; nothing runs yet."""
        workspace = Workspace(settings.workspace)
        problems, plans = Problems(workspace), Plans(workspace)
        folder = JobFolder(workspace.inner / "jobs")
        tables = Tables(workspace)
        return cls(
            settings=settings,
            workspace=workspace,
            problems=problems,
            plans=plans,
            job_folder=folder,
            jobs=JobQueue(settings, folder, problems, plans),
            explaining=Explaining(settings, workspace.inner / "explaining"),
            runs=Runs(workspace, problems),
            tables=tables,
            experiments=Experiments(workspace, tables),
            streams=Streams(settings.most_streams),
        )


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _author(request: Request) -> str:
    return author_of(request.headers, request.client.host if request.client is not None else "")


async def _body(request: Request) -> bytes:
    return await request.body()


Parts = Annotated[Service, Depends(_service)]
Author = Annotated[str, Depends(_author)]
Body = Annotated[bytes, Depends(_body)]
Id = Annotated[
    str, Path(pattern=ID_PATTERN, max_length=2400, description="A path in the workspace, as an id")
]
IfMatch = Annotated[str | None, Header(description="The ETag of what is changed", max_length=400)]
FileName = Annotated[
    str | None,
    Query(
        description="A path in the workspace",
        # for readers of the OpenAPI document; what is wrong with a name is told by `new_name`
        json_schema_extra={"pattern": r"^[A-Za-z0-9_-]{1,60}\.(json|yaml|yml)$"},
    ),
]


PLAN_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    **{key: value for key, value in PLAN.schema.items() if key != "$schema"},
                    "required": ["format", "assignment"],
                }
            }
        },
    }
}
"""A plan file as the body, for the OpenAPI document."""


def failing(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with, for the OpenAPI document."""
    return {status: {"model": Error} for status in (*statuses, 401, 403, 413, 421)}


def file_body(*kinds: str) -> dict[str, Any]:
    """A file as the body, for the OpenAPI document.

    Any text may be sent; what is wrong with it is told at its field.
    """
    content: dict[str, Any] = {kind: {"schema": {}} for kind in kinds}
    return {"requestBody": {"required": True, "content": content}}
