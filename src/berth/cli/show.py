"""`berth show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from berth.cli.arguments import ProblemFile
from berth.cli.output import err, out
from berth.connectors import load_any
from berth.files import check_writable, load, write_bytes
from berth.model import BadInput

EPILOG = """Examples:

  berth show problem.yaml

  berth show problem.yaml plan.json

  berth show problem.yaml plan.json --out plan.svg
"""


def show(
    problem: ProblemFile,
    plan: Annotated[
        Path | None, typer.Argument(help="Plan file or folder; without it, only the problem.", metavar="PLAN")
    ] = None,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="Draw a picture instead: FILE.png or FILE.svg.", metavar="FILE"),
    ] = None,
) -> None:
    """Draw an application and where it runs: in the terminal, or as PNG or SVG."""
    loaded = load(problem)
    placed = None if plan is None else load_any(loaded, [plan]).plan
    if out_file is None:
        from berth.drawing.terminal import render

        out.print(render(loaded, placed))
        return
    formats: dict[str, Literal["png", "svg"]] = {".png": "png", ".svg": "svg"}
    file_format = formats.get(out_file.suffix.lower())
    if file_format is None:
        raise BadInput([f"--out {out_file}: expected a name that ends in .png or .svg"])
    check_writable(out_file)
    # matplotlib takes its time to load: only who wants a picture pays for it.
    from berth.drawing.picture import draw

    write_bytes(out_file, draw(loaded, placed, file_format))
    err.print(f"picture written to {out_file}", markup=False)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(show)
