"""`berth generate`, `berth describe` and `berth schema`: where problem files come from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.markup import escape

from berth.cli import completion
from berth.cli.options import (
    AppFiles,
    AsJson,
    argument,
    flag,
    option,
    settings_from,
)
from berth.cli.output import out, print_json, tell
from berth.files import PLAN, PROBLEM, check_writable, problem_document, problem_from, write_text
from berth.files.document import LARGEST_BYTES, document_text, is_standard, mistakes_in, read_document
from berth.files.latency_matrix import is_matrix_file, read_latency_matrix
from berth.files.problem_file import network_from
from berth.generators import GENERATORS, Delays, find_generator, generate_with
from berth.model import BadInput, Network
from berth.model.parameters import described

GENERATE_EXAMPLES = """Examples:

  berth generate --list

  berth generate forest --list

  berth generate forest --set processors=10 --seed 7 --out forest.yaml

  berth generate forest --count 100 --out problems/

  berth generate stream-tree --network round-trips.csv --set nodes=50 --out tree.json

The same kind, parameters and seed give the same problem.
"""

DESCRIBE_EXAMPLES = """Examples:

  berth describe app.py

  berth describe app.py --network machines.yaml --out problem.yaml

  berth describe one.py two.py --network machines.yaml --out problem.yaml

Without --network it prints what a problem file says of the application: its operators and streams. The
network, the machines and what is between them, is for you to add.
"""

SCHEMA_EXAMPLES = """Examples:

  berth schema problem > berth-problem.schema.json

  berth schema plan > berth-plan.schema.json
"""


MOST_FILES = 1_000_000


@dataclass(frozen=True)
class _Recipe:
    """What to make, but for the seed."""

    kind: str
    parameters: dict[str, str]
    network: Network | Delays | None

    def text(self, seed: int, file: Path) -> str:
        """A problem as the content of a file, checked as whoever reads it will."""
        document = problem_document(generate_with(self.kind, seed, self.network, self.parameters))
        text = document_text(document, file)
        if len(text) > LARGEST_BYTES:
            size, most = len(text) >> 20, LARGEST_BYTES >> 20
            raise BadInput(f"--set: a problem of {size} MiB; at most {most} can be read: ask for less")
        problem_from(document)
        return text


def generate(
    kind: Annotated[
        str | None,
        argument("What to make; --list has them all.", "KIND", autocompletion=completion.generators),
    ] = None,
    settings: list[str] | None = option(
        None, "A parameter of the kind. Can be repeated.", "KEY=VALUE", "--set"
    ),
    seed: int = option(0, "The same seed gives the same problem.", "N"),
    count: int | None = option(
        None, "Make so many, of the seeds N, N+1, ...: files in the folder --out.", "N"
    ),
    target: Path | None = option(
        None,
        "A file (YAML if it ends so, or else JSON), or the folder for --count. "
        "Without it, one problem is printed.",
        "PATH",
        "--out",
    ),
    network_file: Path | None = option(
        None,
        "Place on this network: a problem file's, or a matrix of round trips in ms (CSV, TSV, .gz).",
        "FILE",
        "--network",
    ),
    as_yaml: bool = flag("--yaml", "YAML instead of JSON, where no file's name says which."),
    listed: bool = flag("--list", "List the kinds, or with KIND its parameters, and stop."),
    as_json: bool = flag("--json", "With --list: print JSON."),
) -> None:
    """Make problem files by the recipes of the papers' experiments."""
    if listed:
        _list([kind] if kind else list(GENERATORS), as_json, with_parameters=kind is not None)
        return
    if kind is None:
        raise BadInput(f"KIND: is needed, one of {', '.join(GENERATORS)}")
    find_generator(kind)
    recipe = _Recipe(kind, settings_from(settings), _network(network_file))
    suffix = ".yaml" if as_yaml else ".json"
    if count is None and (target is None or is_standard(target)):
        typer.echo(recipe.text(seed, Path(f"printed{suffix}")), nl=False)
        return
    if count is None and target is not None and not target.is_dir():
        check_writable(target)
        write_text(target, recipe.text(seed, target))
        tell(f"problem written to {target}")
        return
    folder = _folder(target, count)
    for number in range(seed, seed + (count or 1)):
        file = folder / f"{kind}-{number}{suffix}"
        write_text(file, recipe.text(number, file))
    some = "1 problem" if count in (None, 1) else f"{count:,} problems"
    tell(f"{some} written to {folder}")


def _network(file: Path | None) -> Network | Delays | None:
    """What a file says of the network."""
    if file is None:
        return None
    if is_matrix_file(file):
        return Delays(*read_latency_matrix(file))
    document = read_document(file)
    with mistakes_in(file):
        return network_from(document)


def _folder(target: Path | None, count: int | None) -> Path:
    """Where many files go; made if it isn't there."""
    if count is not None and not 1 <= count <= MOST_FILES:
        raise BadInput(f"--count: {count} is not between 1 and {MOST_FILES:,}")
    if target is None:
        raise BadInput("--count: needs a folder (--out DIR)")
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{target}: no folder: {(error.strerror or str(error)).lower()}") from None
    return target


def _list(kinds: list[str], as_json: bool, with_parameters: bool) -> None:
    found = [find_generator(kind) for kind in kinds]
    if as_json:
        print_json([asdict(each.about) | {"parameters": described(each)} for each in found])
        return
    for generator in found:
        about = generator.about
        out.print(f"[bold]{escape(about.name)}[/]")
        for label, text in (("paper", about.paper), ("makes", about.makes)):
            out.print(f"  {label:10} {escape(text)}", soft_wrap=True)
        if with_parameters:
            for item in described(generator):
                line = f"  --set {item['name']}={_shown(item['default'])}"
                out.print(f"{escape(line):36} [dim]{escape(item['help'])}[/]", soft_wrap=True)
    if not with_parameters:
        out.print("\nberth generate KIND --list has a kind's parameters", soft_wrap=True)


def _shown(default: Any) -> str:
    return "none" if default is None else json.dumps(default) if isinstance(default, bool) else str(default)


def describe(
    apps: AppFiles,
    network: Path | None = option(
        None, "A problem file whose network and objective to take over.", "PROBLEM"
    ),
    master_ui: str | None = option(
        None, "The page of a cluster's master: nodes get the cores of their workers.", "URL", "--master-ui"
    ),
    run: Path | None = option(
        None, "The folder of an earlier run: streams get the sizes of tuples that it saw.", "DIR"
    ),
    out: Path | None = option(None, "Write it there instead: YAML, or JSON if it ends so.", "FILE"),
    as_json: AsJson = False,
) -> None:
    """Print what a problem file says of an application that is written in Python."""
    from berth.runtime import describe as describe_applications
    from berth.runtime import load_application
    from berth.runtime.cluster.access import secret_for
    from berth.runtime.cluster.nodes import cores_of_workers
    from berth.runtime.tally import measured_sizes

    document = describe_applications(
        [load_application(app) for app in apps],
        network,
        cores=None if master_ui is None else cores_of_workers(master_ui, secret_for(master_ui)),
        tuple_bytes=None if run is None else measured_sizes(run),
    )
    if out is not None and not is_standard(out):
        write_text(out, _text(document, as_json or out.suffix == ".json"))
    elif as_json:
        print_json(document)
    else:
        typer.echo(_text(document, False), nl=False)


def _text(document: dict[str, Any], as_json: bool) -> str:
    if as_json:
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    return str(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))


class Kind(StrEnum):
    """Which file."""

    problem = "problem"
    plan = "plan"


def schema(
    kind: Annotated[Kind | None, argument("Which file; without it, both in one object.")] = None,
) -> None:
    """Print the JSON Schema of problem files, of plan files, or of both."""
    schemas = {"problem": PROBLEM.schema, "plan": PLAN.schema}
    print_json(schemas if kind is None else schemas[kind.value])
