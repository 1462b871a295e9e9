"""`berth explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from berth.cli.arguments import AsJson, PlanFiles, ProblemFile, time_limit_from
from berth.cli.exit_codes import BROKEN, KEPT
from berth.cli.output import err, print_json
from berth.connectors import load_any
from berth.explanation import DEFAULT_TIME_LIMIT, Depth, Explanation, document
from berth.explanation import explain as explain_plan
from berth.files import check_writable, load, write_bytes
from berth.model import BadInput

EPILOG = """Examples:

  berth explain problem.yaml plan.json

  berth explain problem.yaml plan.json --operator tag --what-if none

  berth explain problem.yaml plan.json --what-if full --time-limit 60 --out why.png

Exit codes: 0 the plan breaks no constraint, 2 bad input, 5 it breaks constraints.
"""

Picture = Annotated[
    Path | None,
    typer.Option("--out", help="Draw a picture as well: FILE.png or FILE.svg.", metavar="FILE"),
]
Asked = Annotated[
    list[str] | None,
    typer.Option(
        "--operator", help="Explain only this operator or instance. Can be repeated.", metavar="NAME"
    ),
]
WhatIf = Annotated[
    str, typer.Option(help="How many changes of the network are tried: none, quick or full.", metavar="DEPTH")
]
Seconds = Annotated[float, typer.Option(help="Seconds for trying changes, in all.", metavar="S")]
FORMATS: dict[str, Literal["png", "svg"]] = {".png": "png", ".svg": "svg"}
DEPTHS: dict[str, Depth] = {"none": "none", "quick": "quick", "full": "full"}


def explain(
    problem: ProblemFile,
    plan: PlanFiles,
    operator: Asked = None,
    what_if: WhatIf = "quick",
    time_limit: Seconds = DEFAULT_TIME_LIMIT,
    out_file: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Say why the operators are where they are, what binds, and what would help."""
    if what_if not in DEPTHS:
        raise BadInput([f"--what-if {what_if}: expected none, quick or full"])
    if out_file is not None:
        if out_file.suffix.lower() not in FORMATS:
            raise BadInput([f"--out {out_file}: expected a name that ends in .png or .svg"])
        check_writable(out_file)
    seconds = time_limit_from(time_limit)
    loaded = load(problem)
    placed = load_any(loaded, plan).plan
    found = explain_plan(
        loaded, placed, operators=operator or [], what_if=DEPTHS[what_if], time_limit=seconds
    )
    if as_json:
        print_json(document(found))
    else:
        from berth.cli.explain_view import print_explanation

        print_explanation(found)
    if out_file is not None:
        _draw(found, out_file)
    raise typer.Exit(BROKEN if found.violations else KEPT)


def _draw(found: Explanation, file: Path) -> None:
    # matplotlib takes its time to load: only who wants a picture pays for it.
    from berth.drawing.explanation_picture import draw_explanation

    write_bytes(file, draw_explanation(found, FORMATS[file.suffix.lower()]))
    err.print(f"picture written to {file}", markup=False)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(explain)
