"""The `berth` command. A command's module is imported when it is invoked, so that the others cost nothing."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from berth.cli.completion import use_our_script

COMMANDS = {
    "solve": "Find a plan: on which node every operator runs, with a proof of how good it is.",
    "front": "Find the plans between the best for one metric and the best for another.",
    "evaluate": "Compute every metric of a plan and list every constraint that it breaks.",
    "explain": "Say why the operators are where they are, what binds, and what would help.",
    "compare": "Put plans side by side, all judged by one problem: those of policies, and plan files.",
    "diff": "Show what moved between two plans, and every metric before and after.",
    "show": "Draw an application and where it runs: in the terminal, or as PNG or SVG.",
    "policies": "List every policy: what it optimises, which constraints it holds, and its parameters.",
    "schema": "Print the JSON Schema of problem files, of plan files, or of both.",
    "ingest": "Turn raw telemetry into tables and into a problem updated with the measured values.",
    "solve-many": "Solve many problems side by side: times policies, parameters and seeds, on Spark.",
    "sample-telemetry": "Make synthetic telemetry of a problem: noise, drift, outages and garbage, "
    "and the truth known.",
    "generate": "Make problem files by the recipes of the papers' experiments.",
    "coordinates": "Compute network coordinates from delays, and write them into a problem.",
    "export": "Write a plan for another system, a file for each application; or a problem for solvers (mps).",
    "describe": "Print what a problem file says of an application that is written in Python.",
    "run": "Run applications on Spark with every operator on its planned node.",
    "watch": "Run an application, measure it, and move its operators when a better plan is worth it.",
    "simulate": "Let a plan run, tuple by tuple: latency, queues and traffic over time, with failures "
    "and migrations.",
    "reproduce": "Run the papers' experiments again, and put each of their claims beside what comes out.",
    "serve": "Serve a page and a REST interface for a folder of problems, plans and runs.",
    "cluster": "A cluster of named nodes on this machine: a Spark worker for each node of a problem.",
}
"""Every command with its line in `berth --help`: its docstring, as a test makes sure."""

_MODULES = {
    "describe": "problems",
    "diff": "plans",
    "evaluate": "plans",
    "generate": "problems",
    "ingest": "telemetry",
    "policies": "solve",
    "sample-telemetry": "telemetry",
    "schema": "problems",
    "show": "plans",
}
"""Where a command is, if not in the module of its name."""


def load_command(name: str) -> Any:
    """The command of that name: a function, or several below one name, in the module that has it."""
    module = import_module(f"berth.cli.{_MODULES.get(name, name.replace('-', '_'))}")
    found = getattr(module, name.replace("-", "_"))
    alone = typer.Typer(rich_markup_mode="rich")
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
    else:
        alone.command(name=name, epilog=getattr(module, f"{found.__name__.upper()}_EXAMPLES"))(found)
    return typer.main.get_group(alone).commands[name]


class _Commands(TyperGroup):
    """Knows the commands' names and help from the start, and loads the one that is invoked."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """What click asks for when it knows which command is meant; help for all of them never gets here."""
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = load_command(args[0])
        return super().resolve_command(ctx, args)


use_our_script()
app = typer.Typer(
    cls=_Commands,
    name="berth",
    help="Find a berth for every stream operator: place applications on machines, and prove how good it is.",
    epilog="Start with: berth solve examples/tag-and-count.yaml",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _not_loaded() -> None:
    """Stands for a command in the list of all."""


for _name, _help in COMMANDS.items():
    app.command(name=_name, help=_help)(_not_loaded)


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
