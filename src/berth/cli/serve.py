"""`berth serve`."""

from __future__ import annotations

from pathlib import Path

from berth.cli.options import flag, option
from berth.cli.output import tell
from berth.model import BadInput

SERVE_EXAMPLES = """Examples:

  berth serve

  berth serve --workspace night-shift --port 9000 --open

  berth serve --host 0.0.0.0 --token-file token.txt --allow-host berth.example.org

The page and the REST interface show the problems, plans, runs and reports of a folder, and solve in the
background. Ctrl-C ends it: running solves hand in their best plan. Exit code 2: bad input, or the port is
in use.
"""

GIBIBYTE = 2**30
MEBIBYTE = 2**20


def serve(
    workspace: Path = option(Path(), "The folder to work in.", "DIR"),
    host: str = option("127.0.0.1", "The address to listen on.", "ADDRESS"),
    port: int = option(8080, "The port; 0: any that is free.", "N"),
    token_file: Path | None = option(
        None, "A file with the token that all requests need; a must where others can reach it.", "FILE"
    ),
    allow_host: list[str] | None = option(
        None, "A further name that the service is asked by. Can be repeated.", "NAME"
    ),
    workers: int | None = option(None, "Solves at once. Default: one fewer than processors.", "N"),
    most_waiting: int = option(50, "Solves that may wait.", "N"),
    longest_solve: float = option(3600.0, "The longest time limit that a solve may ask for.", "S"),
    solve_memory: float = option(4.0, "Memory for one solve; more ends it.", "GIB"),
    largest_upload: float = option(16.0, "The largest body.", "MIB"),
    open_page: bool = flag("--open", "Open the page in a browser."),
) -> None:
    """Serve a page and a REST interface for a folder of problems, plans and runs."""
    seconds = f"{longest_solve:g} is no number of seconds above 0 (1000000 at most)"
    limits = (
        (0 <= port <= 65535, f"--port: {port} is no port (0 to 65535)"),
        (workers is None or 1 <= workers <= 1000, f"--workers: {workers} is not from 1 to 1000"),
        (0 <= most_waiting <= 100_000, f"--most-waiting: {most_waiting} is not from 0 to 100000"),
        (0 < longest_solve <= 1e6, f"--longest-solve: {seconds}"),
        (0.25 <= solve_memory <= 1e6, f"--solve-memory: {solve_memory:g} is not at least 0.25 GiB"),
        (0 < largest_upload <= 64, f"--largest-upload: {largest_upload:g} is not above 0 and at most 64 MiB"),
    )
    if mistakes := [line for holds, line in limits if not holds]:
        raise BadInput(mistakes)
    # fastapi and what it brings take their time to load: only who serves pays for it.
    from berth.web.security import Settings, usual_workers
    from berth.web.serve import read_token, serve

    settings = Settings(
        workspace=workspace,
        host=host,
        port=port,
        token=None if token_file is None else read_token(token_file),
        allowed_hosts=frozenset(name.lower() for name in allow_host or ()),
        workers=usual_workers() if workers is None else workers,
        most_waiting=most_waiting,
        longest_solve_s=longest_solve,
        memory_bytes=int(solve_memory * GIBIBYTE),
        upload_bytes=int(largest_upload * MEBIBYTE),
    )
    if settings.token is None and not settings.only_here:
        raise BadInput(f"--host {host}: others can reach it, so a token is needed (--token-file FILE)")
    serve(settings, lambda address: tell(f"berth is at {address} (Ctrl-C ends it)"), open_page=open_page)
