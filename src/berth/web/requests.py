"""What all routes share: the parts of the service, and what requests hold."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from anyio import CapacityLimiter
from fastapi import Depends, Header, Path, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError
from starlette.responses import Response

from berth.files import PLAN
from berth.model.errors import LONGEST_NAME
from berth.web.access import Noted
from berth.web.answers import UNION_TAGS, answer
from berth.web.audit import Audit
from berth.web.jobs import JobFolder
from berth.web.lanes import Lane
from berth.web.people import Caller
from berth.web.plans import Plans
from berth.web.problems import Problems
from berth.web.queue import Explaining, JobQueue
from berth.web.results import Experiments, Tables
from berth.web.runs import Runs
from berth.web.security import Entrance, Settings, author_of
from berth.web.streams import Streams
from berth.web.workspace import ID_PATTERN, Content, Workspace

Text = Annotated[str, Field(min_length=1, max_length=1000)]
Name = Annotated[str, Field(min_length=1, max_length=2 * LONGEST_NAME + 10)]
"""Of an instance: its application, its operator and a number."""
Places = Annotated[dict[Name, Name | None], Field(max_length=100_000)]
Weight = Annotated[float, Field(gt=0, le=1e12)]
Weights = Annotated[dict[Name, Weight], Field(max_length=50)]
InOrder = Annotated[list[Annotated[Weights, Field(min_length=1)]], Field(min_length=1, max_length=50)]
Objective = Annotated[
    Annotated[Weights, Tag(UNION_TAGS[0])] | Annotated[InOrder, Tag(UNION_TAGS[1])],
    Discriminator(lambda value: UNION_TAGS[isinstance(value, list)]),
]
"""One goal, or several in order."""
Within = Annotated[list[Annotated[float, Field(ge=0, le=1e12)]], Field(max_length=50)]
Seconds = Annotated[float, Field(gt=0, le=1e6)]
PolicyParameters = Annotated[
    dict[Name, bool | int | float | Annotated[str, Field(max_length=1000)] | None], Field(max_length=100)
]


class RequestBody(BaseModel):
    """Whatever is not known is a mistake, and numbers are numbers."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


class Evaluate(RequestBody):
    """A problem with a plan, an assignment, or a plan with changes."""

    problem: Text
    plan: Text | None = None
    assignment: Places | None = None
    previous: Text | None = None


class Lose(RequestBody):
    """A problem with a plan, an assignment, or a plan with changes, and the node that goes."""

    problem: Text
    node: Name
    plan: Text | None = None
    assignment: Places | None = None


class Explain(RequestBody):
    """What to explain, and how much to try."""

    problem: Text
    plan: Text | None = None
    assignment: Places | None = None
    operators: Annotated[list[Name], Field(max_length=1000)] = []
    what_if: Literal["none", "quick", "full"] = "none"
    time_limit: Annotated[float, Field(gt=0, le=600)] = 10.0


class Diff(RequestBody):
    """Two plans, and what they are for."""

    before: Text
    after: Text
    problem: Text | None = None


class Compare(RequestBody):
    """Plans, and what they are judged by."""

    problem: Text
    plans: Annotated[list[Text], Field(min_length=1, max_length=100)]


class Download(RequestBody):
    """An object that a node fetches."""

    object: Name
    from_: Name = Field(alias="from")
    to: Name


class NewPlan(RequestBody):
    """An assignment to be stored as a plan."""

    problem: Text
    assignment: Places
    name: Text | None = None
    base: Text | None = None
    containers: dict[Name, Name] | None = None
    downloads: list[Download] | None = None
    reuse: dict[Name, Name] | None = None
    skipped: list[Name] | None = None


class Requirements(RequestBody):
    """What an application is required to keep; null takes a requirement away."""

    max_response_time_ms: Annotated[float, Field(ge=0, le=1e30)] | None = None
    min_availability: Annotated[float, Field(ge=0, le=1)] | None = None
    throughput_per_s: Annotated[float, Field(ge=0, le=1e30)] | None = None


class NewJob(RequestBody):
    """A solve."""

    problem: Text
    policy: Name = "auto"
    time_limit: Seconds = 60.0
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    objective: Objective | None = None
    objective_within: Within | None = None
    objective_scale: Literal["normalised", "raw"] | None = None
    requirements: Annotated[dict[Name, Requirements], Field(max_length=10_000)] = {}
    parameters: PolicyParameters = {}
    previous: Text | None = None
    name: Text | None = None

    def document(self) -> dict[str, Any]:
        """As plain data; of requirements only what was said."""
        whole = self.model_dump()
        return whole | {
            "requirements": {
                name: each.model_dump(exclude_unset=True) for name, each in self.requirements.items()
            }
        }


def _two(names: list[str]) -> list[str]:
    if len(names) != 2:
        raise PydanticCustomError("two", f"a front lies between two metrics, {len(names)} given")
    return names


TwoMetrics = Annotated[
    list[Name], AfterValidator(_two), Field(json_schema_extra={"minItems": 2, "maxItems": 2})
]


class NewFront(RequestBody):
    """A search for the plans between the best for one metric and the best for another."""

    problem: Text
    objectives: TwoMetrics
    points: Annotated[int, Field(ge=2, le=200)] = 12
    policy: Name = "auto"
    time_limit: Seconds = 60.0
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    parameters: PolicyParameters = {}
    previous: Text | None = None


class Decision(RequestBody):
    """The answer to a proposal."""

    proposal: Text
    approve: bool


class Mistake(BaseModel):
    """A mistake at a field."""

    path: str
    message: str
    line: int | None
    column: int | None


class Error(BaseModel):
    """What goes wrong, always in this shape."""

    model_config = ConfigDict(extra="allow")

    error: str
    mistakes: list[Mistake]


class Service:
    """Everything that a running service has; nothing runs yet when it is made."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.entrance = Entrance(settings)
        self.workspace = Workspace(settings.workspace, settings.workspace_bytes, settings.workspace_files)
        self.audit = Audit(self.workspace.inner)
        self.problems = Problems(self.workspace)
        self.plans = Plans(self.workspace)
        self.job_folder = JobFolder(self.workspace.inner / "jobs")
        self.jobs = JobQueue(
            settings, self.job_folder, self.problems, self.plans, self.audit, self.workspace.quota
        )
        self.explaining = Explaining(settings, self.workspace.inner / "explaining")
        self.explanations = Lane("explanations", at_once=2, waiting=20)
        self.long_answers = Lane("long answers", at_once=4, waiting=60)
        self.large_files = Lane("large files", at_once=2, waiting=20)
        self.health = CapacityLimiter(2)
        """Threads to look at it, whatever becomes of all others."""
        self.runs = Runs(self.workspace, self.problems)
        self.tables = Tables(self.workspace)
        self.experiments = Experiments(self.workspace, self.tables)
        self.streams = Streams(settings.most_streams)


# `async`, though nothing here waits: FastAPI would call them in the threads that all requests share. They
# may all be taken, and a look at the health must not need one.


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _caller(request: Request) -> Caller:
    caller: Caller = request.scope["caller"]
    return caller


async def _noted(request: Request) -> Noted:
    noted: Noted = request.scope["noted"]
    return noted


async def _author(request: Request) -> str:
    service: Service = request.app.state.service
    caller: Caller = request.scope["caller"]
    return author_of(caller, request.headers, everybody=service.entrance.people.everybody)


async def _body(request: Request) -> bytes:
    return await request.body()


CurrentService = Annotated[Service, Depends(_service)]
CurrentNoted = Annotated[Noted, Depends(_noted)]
CurrentCaller = Annotated[Caller, Depends(_caller)]
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


def file_answer(folder: str, content: Content, document: Any, status: int = 200) -> Response:
    """An answer about a file of the workspace, with its ETag and, if it is new, its address."""
    where = {"Location": f"/api/v1/{folder}/{content.entry.id}"} if status == 201 else {}
    return answer(document, status, etag_header(content) | where)


def etag_header(content: Content) -> dict[str, str]:
    """What tells this content of a file from others."""
    return {"ETag": f'"{content.etag}"'}


def sends_json(request: Request) -> bool:
    """Whether a request says that its body is JSON."""
    return request.headers.get("content-type", "").partition(";")[0].strip() == "application/json"


def failing(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with, for the OpenAPI document."""
    return {status: {"model": Error} for status in (*statuses, 401, 403, 413, 421, 429)}


def file_body(*kinds: str) -> dict[str, Any]:
    """A file as the body, for the OpenAPI document.

    Any text may be sent; what is wrong with it is told at its field.
    """
    content: dict[str, Any] = {kind: {"schema": {}} for kind in kinds}
    return {"requestBody": {"required": True, "content": content}}
