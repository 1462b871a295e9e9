"""What requests hold. Answers are in docs/rest.md and, in short, in the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1, max_length=1000)]
Name = Annotated[str, Field(min_length=1, max_length=400)]
Places = Annotated[dict[Name, Name | None], Field(max_length=100_000)]
Weight = Annotated[float, Field(gt=0, le=1e12)]
Seconds = Annotated[float, Field(gt=0, le=1e6)]


class Shape(BaseModel):
    """Whatever is not known is a mistake, and numbers are numbers."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Evaluate(Shape):
    """A problem with a plan, an assignment, or a plan with changes."""

    problem: Text
    plan: Text | None = None
    assignment: Places | None = None
    previous: Text | None = None


class Explain(Shape):
    """What to explain, and how much to try."""

    problem: Text
    plan: Text | None = None
    assignment: Places | None = None
    operators: Annotated[list[Name], Field(max_length=1000)] = []
    what_if: Literal["none", "quick", "full"] = "none"
    time_limit: Annotated[float, Field(gt=0, le=600)] = 10.0


class Diff(Shape):
    """Two plans, and what they are for."""

    before: Text
    after: Text
    problem: Text | None = None


class Download(Shape):
    """An object that a node fetches."""

    object: Name
    from_: Name = Field(alias="from")
    to: Name


class NewPlan(Shape):
    """An assignment to be stored as a plan."""

    problem: Text
    assignment: Places
    name: Text | None = None
    base: Text | None = None
    containers: dict[Name, Name] | None = None
    downloads: list[Download] | None = None
    reuse: dict[Name, Name] | None = None
    skipped: list[Name] | None = None


class Requirements(Shape):
    """What an application is required to keep; null takes a requirement away."""

    max_response_time_ms: Annotated[float, Field(ge=0, le=1e30)] | None = None
    min_availability: Annotated[float, Field(ge=0, le=1)] | None = None
    throughput_per_s: Annotated[float, Field(ge=0, le=1e30)] | None = None


class NewJob(Shape):
    """A solve."""

    problem: Text
    policy: Name = "auto"
    time_limit: Seconds = 60.0
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    objective: Annotated[dict[Name, Weight], Field(max_length=50)] | None = None
    objective_scale: Literal["normalised", "raw"] | None = None
    requirements: Annotated[dict[Name, Requirements], Field(max_length=10_000)] = {}
    parameters: Annotated[
        dict[Name, bool | int | float | Annotated[str, Field(max_length=1000)] | None], Field(max_length=100)
    ] = {}
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


class Decision(Shape):
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
