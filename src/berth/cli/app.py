"""The `berth` command."""

from __future__ import annotations

from typing import Annotated

import typer

from berth.cli import (
    cluster,
    compare,
    coordinates,
    describe,
    diff,
    evaluate,
    explain,
    export,
    generate,
    ingest,
    policies,
    reproduce,
    run,
    sample_telemetry,
    schema,
    serve,
    show,
    simulate,
    solve,
    solve_many,
    watch,
)

app = typer.Typer(
    name="berth",
    help="Find a berth for every stream operator: place applications on machines, and prove how good it is.",
    epilog="Start with: berth solve examples/tag-and-count.yaml",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (solve, evaluate, explain, compare, diff, show, policies, schema, ingest, solve_many):
    command.register(app)
for command in (sample_telemetry, generate, coordinates, export, describe, cluster, run, watch, simulate):
    command.register(app)
reproduce.register(app)
serve.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from berth import __version__

        typer.echo(f"berth {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Shared options."""
