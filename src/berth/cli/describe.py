"""`berth describe`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from berth.cli.arguments import AsJson
from berth.cli.output import print_json

EPILOG = """Examples:

  berth describe app.py

  berth describe app.py --network machines.yaml --out problem.yaml

  berth describe one.py two.py --network machines.yaml --out problem.yaml

Without --network it prints what a problem file says of the application: its operators and streams. The
network, the machines and what is between them, is for you to add.
"""

APP_HELP = "A Python file with an Application in it; app.py:name if it has several."
AppFile = Annotated[str, typer.Argument(help=APP_HELP, metavar="APP")]
AppFiles = Annotated[
    list[str],
    typer.Argument(help=f"{APP_HELP} Several files: applications that run together.", metavar="APP..."),
]


def describe(
    apps: AppFiles,
    network: Annotated[
        Path | None,
        typer.Option(help="A problem file whose network and objective to take over.", metavar="PROBLEM"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write it there instead: YAML, or JSON if it ends so.", metavar="FILE")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what a problem file says of an application that is written in Python."""
    from berth.files.document import write_text
    from berth.runtime.describe import problem_document
    from berth.runtime.loading import load_application

    document = problem_document([load_application(app) for app in apps], network)
    if out is not None:
        write_text(out, _text(document, as_json or out.suffix == ".json"))
    elif as_json:
        print_json(document)
    else:
        typer.echo(_text(document, False), nl=False)


def _text(document: dict[str, Any], as_json: bool) -> str:
    if as_json:
        import json

        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(describe)
