"""The `berth` command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from berth.cli import compare, diff, evaluate, policies, schema, show, solve
from berth.cli.exit_codes import BAD_INPUT, NOT_FOUND
from berth.cli.output import err
from berth.model import BadInput

app = typer.Typer(
    name="berth",
    help="Find a berth for every stream operator: place applications on machines, and prove how good it is.",
    epilog="Start with: berth solve examples/tag-and-count.yaml",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (solve, evaluate, compare, diff, show, policies, schema):
    command.register(app)


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


def main() -> None:
    """Run the command; bad input becomes one line for each mistake and exit code 2."""
    try:
        app()
    except BadInput as error:
        for line in error.mistakes:
            err.print(line, markup=False, soft_wrap=True)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        err.print("interrupted: no plan")
        sys.exit(NOT_FOUND)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
