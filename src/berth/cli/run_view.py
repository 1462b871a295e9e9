"""A run as people see it: live on a terminal, a line now and then elsewhere, and tables at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from berth.amounts import byte_rate, counted, duration, in_unit, milliseconds, percentage, quantity, shortened
from berth.cli.output import err, homes, out, plain_table

if TYPE_CHECKING:
    from berth.runtime.tally import Figures, OperatorFigures, RunTally, StreamFigures

LINE_SECONDS = 10.0
QUIET_SECONDS = 10.0
"""Without a batch, from which on the view says so."""
MOST_MOVES = 3
"""That the view names."""
LARGE = 10_000_000


class RunView:
    """What a run does now."""

    def __init__(self, tally: RunTally, title: str) -> None:
        self._tally = tally
        self._title = title
        self._live: Live | None = None

    def line(self) -> str:
        """All that fits on one line."""
        figures = self._tally.now()
        return " · ".join([*_headline(self._title, figures), *_times(figures)])

    def __rich__(self) -> RenderableType:
        figures = self._tally.now()
        title, *rest = _headline(self._title, figures)
        head = Text.assemble((title, "bold"), *(f" · {part}" for part in rest))
        parts: list[RenderableType] = [head, *(Text(part) for part in _times(figures))]
        if figures.last_migration is not None:
            parts.append(Text(_migration_line(figures), style="dim"))
        parts += [Text(f"x {line}", style="red") for line in figures.differences[:MOST_MOVES]]
        parts += ["", operators_table(figures.operators), "", streams_table(figures.streams)]
        return Group(*parts)

    @contextmanager
    def shown(self) -> Iterator[RunView]:
        """Show it on standard error as long as the block runs."""
        if err.is_terminal:
            with Live(self, console=err, transient=True, refresh_per_second=1) as live:
                self._live = live
                try:
                    yield self
                finally:
                    self._live = None
            return
        done = threading.Event()
        watcher = threading.Thread(target=self._print_lines, args=(done,), name="berth view", daemon=True)
        watcher.start()
        try:
            yield self
        finally:
            done.set()
            watcher.join()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the terminal to somebody else, say for a question."""
        if self._live is None:
            yield
            return
        self._live.stop()
        try:
            yield
        finally:
            self._live.start(refresh=True)

    def _print_lines(self, done: threading.Event) -> None:
        while not done.wait(LINE_SECONDS):
            err.print(self.line(), style="dim", markup=False, soft_wrap=True)


def print_report(tally: RunTally) -> None:
    """What a run came to, as tables on standard output."""
    figures = tally.overall()
    out.print(
        f"[bold]{escape(figures.application)}[/] ran for {duration(figures.seconds)}: "
        f"{_counted(figures.batches, 'batch', 'batches')}, {_counted(figures.rows, 'row')}, "
        f"{rate(figures.rows_per_s)} rows/s",
        soft_wrap=True,
    )
    if figures.latency is not None:
        times = figures.latency
        out.print(
            f"end-to-end latency: half of the batches within {milliseconds(times.p50)}, "
            f"95 % within {milliseconds(times.p95)}, all within {milliseconds(times.max)}",
            soft_wrap=True,
        )
    _print_placement(figures)
    out.print()
    out.print(operators_table(figures.operators))
    out.print()
    out.print(streams_table(figures.streams))
    _print_migrations(tally.document()["migrations"])


def operators_table(operators: Sequence[OperatorFigures]) -> Table:
    """A row for each operator: where it is, what comes in and goes out, how busy it is."""
    with_state = any(each.state_bytes is not None for each in operators)
    columns = ["operator", "node", "rows/s", "rows in", "rows out", "busy", "ms/row"]
    columns += ["state"] if with_state else []
    table = _with_whole_numbers(plain_table(*columns, right=(2, 3, 4, 5, 6, 7)))
    for each in operators:
        cells = [
            escape(each.operator),
            escape(homes(each.nodes)),
            rate(each.rows_per_s),
            amount(each.rows_in),
            amount(each.rows_out),
            percentage(each.busy_share),
            "-" if each.ms_per_row is None else quantity(each.ms_per_row),
        ]
        if with_state:
            cells.append("" if each.state_bytes is None else size(each.state_bytes))
        table.add_row(*cells)
    return table


def streams_table(streams: Sequence[StreamFigures]) -> Table:
    """A row for each stream: what it carries."""
    columns = "stream", "rows/s", "bytes/s", "rows", "bytes"
    table = _with_whole_numbers(plain_table(*columns, right=(1, 2, 3, 4)))
    for each in streams:
        table.add_row(
            escape(f"{each.sender} -> {each.receiver}"),
            rate(each.rows_per_s),
            byte_rate(each.bytes_per_s),
            amount(each.rows),
            size(each.bytes),
        )
    return table


def rate(per_second: float) -> str:
    """Rows a second: 0.25, 12.5, 1,250, 1.25M."""
    return amount(round(per_second)) if per_second >= 100 else f"{per_second:.3g}"


def amount(count: int) -> str:
    """A number of rows: to the last one, until that takes too much room."""
    return f"{count:,}" if count < LARGE else quantity(count)


def size(count: float) -> str:
    """A number of bytes: 24 kB."""
    return in_unit(count, "bytes")


def _with_whole_numbers(table: Table) -> Table:
    """Where there is little room, names are folded and numbers are not."""
    for column in table.columns:
        column.no_wrap = column.justify == "right"
    return table


def _headline(title: str, figures: Figures) -> list[str]:
    parts = [title, duration(figures.seconds)]
    if figures.latency is None:
        return [*parts, "waiting for the first batch"]
    parts += [
        _counted(figures.batches, "batch", "batches"),
        _counted(figures.rows, "row"),
        f"{rate(figures.rows_per_s)} rows/s",
    ]
    if figures.quiet_seconds is not None and figures.quiet_seconds >= QUIET_SECONDS:
        parts.append(f"no batch for {duration(figures.quiet_seconds)}")
    return parts


def _times(figures: Figures) -> list[str]:
    if figures.latency is None:
        return []
    last, p95 = milliseconds(figures.latency.last), milliseconds(figures.latency.p95)
    return [f"latency {last} in the last batch, within {p95} in 95 % of them"]


def _migration_line(figures: Figures) -> str:
    migration = figures.last_migration or {}
    text = f"{counted(figures.migrations, 'migration')}, the last one: {_moves(migration.get('moved', {}))}"
    if "pause_seconds" in migration:
        text += f", {migration['pause_seconds']:.1f} s of pause"
    return text


def _moves(moved: Mapping[str, tuple[str, str]]) -> str:
    moves = [f"{instance} from {before} to {after}" for instance, (before, after) in moved.items()]
    return shortened(moves, MOST_MOVES) if moves else "nothing moved"


def _print_placement(figures: Figures) -> None:
    if not figures.differences:
        tasks = _counted(figures.verified_tasks, "task")
        out.print(f"placement: {tasks}, all on their planned nodes")
        return
    out.print("[bold red]not by the plan[/]")
    for line in figures.differences:
        out.print(f"  [red]x[/] {escape(line)}", soft_wrap=True)


def _print_migrations(migrations: Sequence[Mapping[str, Any]]) -> None:
    if not migrations:
        return
    out.print()
    table = plain_table("migration", "moved", "pause", "state", right=(2, 3))
    for number, each in enumerate(migrations, 1):
        moved = {name: (ends["from"], ends["to"]) for name, ends in each["moved"].items()}
        table.add_row(
            str(number),
            escape(_moves(moved)),
            f"{each['pause_seconds']:.1f} s" if "pause_seconds" in each else "-",
            size(each["state_bytes"]) if "state_bytes" in each else "-",
        )
    out.print(table)


def _counted(count: int, noun: str, nouns: str | None = None) -> str:
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
