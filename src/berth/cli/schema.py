"""`berth schema`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from berth.cli.output import print_json
from berth.files import PLAN, PROBLEM

EPILOG = """Examples:

  berth schema problem > berth-problem.schema.json

  berth schema plan > berth-plan.schema.json
"""


class Kind(StrEnum):
    """Which file."""

    problem = "problem"
    plan = "plan"


def schema(
    kind: Annotated[Kind | None, typer.Argument(help="Which file; without it, both in one object.")] = None,
) -> None:
    """Print the JSON Schema of problem files, of plan files, or of both."""
    schemas = {"problem": PROBLEM.schema, "plan": PLAN.schema}
    print_json(schemas if kind is None else schemas[kind.value])


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(schema)
