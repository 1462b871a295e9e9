"""`berth serve`, and the tokens of those who may ask it."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from berth.cli.options import AsJson, argument, flag, option
from berth.cli.output import out as console
from berth.cli.output import plain_table, print_json, tell
from berth.model import BadInput

EXAMPLES = """Examples:

  berth serve

  berth serve --workspace night-shift --port 9000 --open

  berth serve token add anna --role planner

  berth serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allow-host berth.example.org

The page and the REST interface show the problems, plans, runs and reports of a folder, and solve in the
background. Ctrl-C ends it: running solves hand in their best plan. Exit code 2: bad input, or the port is
in use.
"""

TOKEN_EXAMPLES = """Examples:

  berth serve token add anna --role planner --expires 30d

  berth serve token add wall-screen --role viewer --workspace night-shift > token.txt

The token is printed once; only a hash of it is kept. A service that runs knows it at once.
"""

serve = typer.Typer(
    invoke_without_command=True,
    epilog=EXAMPLES,
    help="Serve a page and a REST interface for a folder of problems, plans and runs.",
)
token = typer.Typer(
    no_args_is_help=True, help="The tokens of those who may ask the service: add, list, revoke."
)
serve.add_typer(token, name="token")

GIBIBYTE = 2**30
MEBIBYTE = 2**20


@serve.callback()
def run_service(
    context: typer.Context,
    workspace: Path = option(Path(), "The folder to work in.", "DIR"),
    host: str = option("127.0.0.1", "The address to listen on.", "ADDRESS"),
    port: int = option(8080, "The port; 0: any that is free.", "N"),
    token_file: Path | None = option(
        None, "A file with a token for an admin; further people have tokens of their own.", "FILE"
    ),
    session_hours: float = option(12.0, "Hours after which who signed in on the page does so again.", "H"),
    tls_cert: Path | None = option(None, "A certificate (PEM, with its chain): serve by TLS.", "FILE"),
    tls_key: Path | None = option(None, "The certificate's private key (PEM).", "FILE"),
    proxy: list[str] | None = option(
        None, "The address of a proxy that tells where requests come from. Can be repeated.", "ADDRESS"
    ),
    allow_host: list[str] | None = option(
        None, "A further name that the service is asked by. Can be repeated.", "NAME"
    ),
    workers: int | None = option(None, "Solves at once. Default: one fewer than processors.", "N"),
    most_waiting: int = option(50, "Solves that may wait.", "N"),
    longest_solve: float = option(3600.0, "The longest time limit that a solve may ask for.", "S"),
    solve_memory: float = option(4.0, "Memory for one solve; more ends it.", "GIB"),
    solve_processor: float = option(4.0, "Processor time of one solve; then it hands in its plan.", "H"),
    jobs_per_person: int = option(20, "Solves that one person's token may have waiting or running.", "N"),
    workspace_size: float = option(20.0, "What the folder may hold.", "GIB"),
    workspace_files: int = option(50_000, "Files that the folder may hold.", "N"),
    largest_upload: float = option(16.0, "The largest body.", "MIB"),
    most_connections: int = option(500, "Connections at once.", "N"),
    open_page: bool = flag("--open", "Open the page in a browser."),
) -> None:
    """Serve a page and a REST interface for a folder of problems, plans and runs."""
    if context.invoked_subcommand is not None:
        sources = ((name, context.get_parameter_source(name)) for name in context.params)
        given = [name for name, source in sources if source is not None and source.name == "COMMANDLINE"]
        if given:
            words = "stands before 'token', where it says nothing; --workspace goes behind it"
            raise BadInput([f"--{given[0].replace('_', '-')}: {words}"])
        return
    seconds = f"{longest_solve:g} is no number of seconds above 0 (1000000 at most)"
    limits = (
        (0 <= port <= 65535, f"--port: {port} is no port (0 to 65535)"),
        (workers is None or 1 <= workers <= 1000, f"--workers: {workers} is not from 1 to 1000"),
        (0 <= most_waiting <= 100_000, f"--most-waiting: {most_waiting} is not from 0 to 100000"),
        (0 < longest_solve <= 1e6, f"--longest-solve: {seconds}"),
        (0.25 <= solve_memory <= 1e6, f"--solve-memory: {solve_memory:g} is not at least 0.25 GiB"),
        (0 < solve_processor <= 1e5, f"--solve-processor: {solve_processor:g} is no number of hours above 0"),
        (1 <= jobs_per_person <= 100_000, f"--jobs-per-person: {jobs_per_person} is not from 1 to 100000"),
        (0 < workspace_size <= 1e6, f"--workspace-size: {workspace_size:g} is no number of GiB above 0"),
        (1 <= workspace_files <= 1e9, f"--workspace-files: {workspace_files} is not at least 1"),
        (0 < session_hours <= 8760, f"--session-hours: {session_hours:g} is not above 0 and at most 8760"),
        ((tls_cert is None) == (tls_key is None), "--tls-cert and --tls-key: one needs the other"),
        (
            10 <= most_connections <= 100_000,
            f"--most-connections: {most_connections} is not from 10 to 100000",
        ),
        (0 < largest_upload <= 64, f"--largest-upload: {largest_upload:g} is not above 0 and at most 64 MiB"),
    )
    if mistakes := [line for holds, line in limits if not holds]:
        raise BadInput(mistakes)
    # fastapi and what it brings take their time to load: only who serves pays for it.
    from berth.web.people import tokens_of
    from berth.web.security import Settings, usual_workers
    from berth.web.serve import read_token, run_until_stopped

    settings = Settings(
        workspace=workspace,
        host=host,
        port=port,
        token=None if token_file is None else read_token(token_file),
        session_s=session_hours * 3600,
        tls=None if tls_cert is None or tls_key is None else (tls_cert, tls_key),
        proxies=frozenset(map(_address, proxy or ())),
        allowed_hosts=frozenset(name.lower() for name in allow_host or ()),
        workers=usual_workers() if workers is None else workers,
        most_waiting=most_waiting,
        longest_solve_s=longest_solve,
        memory_bytes=int(solve_memory * GIBIBYTE),
        processor_s=solve_processor * 3600,
        jobs_per_person=jobs_per_person,
        workspace_bytes=int(workspace_size * GIBIBYTE),
        workspace_files=workspace_files,
        upload_bytes=int(largest_upload * MEBIBYTE),
        most_connections=most_connections,
    )
    if settings.token is None and not settings.only_here and not tokens_of(workspace):
        way = "berth serve token add NAME, or --token-file FILE"
        raise BadInput(f"--host {host}: others can reach it, so a token is needed ({way})")
    run_until_stopped(settings, tell, open_page=open_page)


def _address(text: str) -> str:
    """An address in the form that connections have it."""
    try:
        return str(ip_address(text))
    except ValueError:
        raise BadInput([f"--proxy: {text!r} is no address, such as 10.0.0.2 or ::1"]) from None


class RoleName(StrEnum):
    """What somebody may do; each may do what those before it may."""

    VIEWER = "viewer"
    PLANNER = "planner"
    ADMIN = "admin"


PersonName = Annotated[str, argument("Whose token it is; what they make carries this name.", "NAME")]
WORKSPACE = "The folder that the service works in."


@token.command(epilog=TOKEN_EXAMPLES)
def add(
    name: PersonName,
    role: RoleName = option(..., "viewer: looks; planner: solves and edits, too; admin: everything."),
    expires: str | None = option(None, "When it ends by itself: 90m, 12h, 30d, 8w from now.", "TIME"),
    workspace: Path = option(Path(), WORKSPACE, "DIR"),
) -> None:
    """Make a token for somebody, and print it: this once."""
    from berth.web.people import add_token, lifetime

    secret = add_token(workspace, name, role.value, None if expires is None else lifetime(expires))
    console.print(secret, soft_wrap=True, highlight=False)
    tell(f"the token of {name} ({role.value}) is shown this once; 'berth serve token revoke {name}' ends it")


@token.command("list")
def list_tokens(workspace: Path = option(Path(), WORKSPACE, "DIR"), as_json: AsJson = False) -> None:
    """Say who has a token, with which role, since when and until when."""
    from berth.web.people import tokens_of

    now = datetime.now(UTC)
    rows = [
        (each.name, each.role, _moment(each.created), _moment(each.expires), each.expired(now.timestamp()))
        for each in tokens_of(workspace)
    ]
    if as_json:
        print_json(
            [dict(zip(("name", "role", "created", "expires", "expired"), row, strict=True)) for row in rows]
        )
        return
    if not rows:
        tell("nobody has a token; 'berth serve token add NAME --role ROLE' makes one")
        return
    table = plain_table("name", "role", "since", "until")
    for name, role, created, expires, expired in rows:
        until = expires or "it is revoked"
        table.add_row(escape(name), role, created or "", f"{until} (over)" if expired else until)
    console.print(table)


@token.command()
def revoke(name: PersonName, workspace: Path = option(Path(), WORKSPACE, "DIR")) -> None:
    """Take somebody's token away: they are shut out at once, also where they are signed in."""
    from berth.web.people import revoke_token

    revoke_token(workspace, name)
    tell(f"the token of {name} is revoked")


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
