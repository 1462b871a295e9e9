"""An application's graph as text: layers from left to right, streams as lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product, zip_longest

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from berth.drawing.layout import Layout, arrange, layered
from berth.drawing.palette import PLAIN, STRONG, WEAK, fitted, node_style
from berth.drawing.text_lines import HEAVY, LIGHT, Net, StrokeGrid, dodged, nets_between, tracks
from berth.drawing.views import ApplicationView, OperatorView

WIDEST_NAME = 24
"""Cells that a name may take."""
MOST_HOSTS = 3
"""Lines for an operator's nodes; more of them are counted."""
HEAD = "▶ "
"""The end of a stream; a stream that only passes a layer has a line instead."""

Run = tuple[str, Style]
Channel = dict[Net, int | None]
"""The nets between two layers, each with its track."""


@dataclass(frozen=True)
class GraphText:
    """A renderable that fits the graph into the width that there is, in several bands where it must."""

    view: ApplicationView
    node_names: Sequence[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        sheet = drawn(self.view, self.node_names)
        for number, (start, end) in enumerate(sheet.bands(options.max_width)):
            if number:
                yield Text("⋯ goes on below, at the same heights ⋯", style=WEAK)
            yield from sheet.lines(start, end)


@dataclass(frozen=True)
class Sheet:
    """The characters of a whole graph, however wide."""

    cells: dict[tuple[int, int], Run]
    """By row and column; a wide character is in its first column."""
    starts: list[int]
    """The first column of every layer, and the end of the last one."""

    def bands(self, width: int) -> Iterator[tuple[int, int]]:
        """Columns from and to which it is shown piece by piece; each piece repeats the arrows' heads."""
        start = 0
        for end, following in pairwise(self.starts[1:]):
            if following - start > width:
                yield start, end
                start = end - len(HEAD)
        yield start, self.starts[-1]

    def lines(self, start: int, end: int) -> Iterator[Text]:
        """The rows between two columns, without the empty ones above and below."""
        rows = [row for row, column in self.cells if start <= column < end]
        for row in range(min(rows, default=0), max(rows, default=-1) + 1):
            yield self._line(row, start, end)

    def _line(self, row: int, start: int, end: int) -> Text:
        text = Text(no_wrap=True, overflow="crop")
        column = start
        while column < end:
            character, style = self.cells.get((row, column), (" ", PLAIN))
            text.append(character, style)
            column += max(cell_len(character), 1)
        text.rstrip()
        return text


@dataclass(frozen=True)
class Arrangement:
    """Where everything in a graph goes."""

    layout: Layout
    blocks: list[list[Run]]
    """The lines of every operator."""
    rows: dict[int, int]
    channels: list[Channel]
    """To the right of every layer but the last."""
    starts: list[int]
    """As in the sheet."""

    def line_start(self, vertex: int, layer: int) -> int:
        """The column where what a vertex sends begins: behind its name, or with the layer for a waypoint."""
        if vertex >= self.layout.operators:
            return self.starts[layer]
        return self.starts[layer] + cell_len(self.blocks[vertex][0][0]) + 1

    def first_track(self, layer: int) -> int:
        """The column of the first track to the right of a layer."""
        return self.starts[layer + 1] - len(HEAD) - track_count(self.channels[layer])


def drawn(view: ApplicationView, node_names: Sequence[str]) -> Sheet:
    """Draw a graph."""
    arrangement = arranged(view, node_names)
    sheet = Sheet({}, arrangement.starts)
    _draw_streams(sheet, arrangement, _heavy_steps(view, arrangement.layout))
    for number, layer in enumerate(arrangement.layout.layers):
        for vertex in layer:
            if vertex < arrangement.layout.operators:
                block = arrangement.blocks[vertex]
                _write(sheet, block, arrangement.rows[vertex], arrangement.starts[number])
    return sheet


def arranged(view: ApplicationView, node_names: Sequence[str]) -> Arrangement:
    """Find a place for everything."""
    layout = layered(len(view.operators), view.edges)
    blocks = [_block(operator, node_names) for operator in view.operators]
    waypoints = sum(len(layer) for layer in layout.layers) - len(blocks)
    heights = [len(block) for block in blocks] + [1] * waypoints
    rows, channels = _routed(layout, heights)
    return Arrangement(layout, blocks, rows, channels, _starts(layout, blocks, channels))


def _block(operator: OperatorView, node_names: Sequence[str]) -> list[Run]:
    """An operator's lines: its name, where it runs, and what else must be said."""
    lines = [(fitted(operator.title, WIDEST_NAME), STRONG if operator.critical else PLAIN)]
    for text, node in operator.host_lines(node_names, MOST_HOSTS, lambda name: fitted(name, WIDEST_NAME)):
        lines.append((text, PLAIN if node is None else node_style(node)))
    if operator.note:
        lines.append((fitted(operator.note, WIDEST_NAME), WEAK))
    return lines


def _routed(layout: Layout, heights: list[int]) -> tuple[dict[int, int], list[Channel]]:
    """A row for every vertex and the nets to the right of every layer but the last."""
    rows = dict(enumerate(arrange(layout, [0] * len(heights), heights, gap=1)))
    channels: list[Channel] = []
    for left, right in pairwise(layout.layers):
        nets = nets_between(left, layout.after)
        found = tracks(nets, rows)
        if found is None:
            sizes = [height + 1 for height in heights]
            rows.update(dodged(right, rows, sizes, {rows[vertex] for vertex in left}))
            found = tracks(nets, rows) or []
        channels.append(dict(zip(nets, found, strict=True)))
    return rows, channels


def _starts(layout: Layout, blocks: list[list[Run]], channels: list[Channel]) -> list[int]:
    """The first column of every layer, and where the last one ends."""
    starts = [0]
    for layer, channel in zip_longest(layout.layers, channels):
        tracks_beside = 0 if channel is None else track_count(channel)
        free = 1 if tracks_beside else 0
        widths = [1]
        for vertex in layer:
            if vertex < layout.operators:
                title, *others = (cell_len(text) for text, _ in blocks[vertex])
                widths += [title + (2 if layout.after[vertex] else free)]
                widths += [width + free for width in others]
        head = 0 if channel is None else len(HEAD)
        starts.append(starts[-1] + max(widths) + tracks_beside + head)
    return starts


def track_count(channel: Channel) -> int:
    """How many columns the vertical lines between two layers take."""
    return max((track + 1 for track in channel.values() if track is not None), default=0)


def _write(sheet: Sheet, block: list[Run], row: int, column: int) -> None:
    """Put an operator's lines on the sheet."""
    for down, (text, style) in enumerate(block):
        place = column
        for character in text:
            sheet.cells[row + down, place] = character, style
            place += max(cell_len(character), 1)


def _heavy_steps(view: ApplicationView, layout: Layout) -> set[tuple[int, int]]:
    """The parts of streams on the slowest path."""
    return {
        step
        for stream, route in zip(view.streams, layout.routes, strict=True)
        if stream.critical
        for step in pairwise(route)
    }


def _draw_streams(sheet: Sheet, arrangement: Arrangement, heavy: set[tuple[int, int]]) -> None:
    """Lines along the nets, with a head before every receiver."""
    grid = StrokeGrid()
    for number, channel in enumerate(arrangement.channels):
        for net, track in channel.items():
            column = arrangement.first_track(number) + (track or 0)
            for sender, receiver in product(net.senders, net.receivers):
                weight = HEAVY if (sender, receiver) in heavy else LIGHT
                _draw_step(grid, arrangement, number, net, column, (sender, receiver), weight)
    for place, character in grid.characters().items():
        sheet.cells[place] = character, PLAIN
    _draw_heads(sheet, arrangement)


def _draw_step(
    grid: StrokeGrid,
    arrangement: Arrangement,
    layer: int,
    net: Net,
    column: int,
    step: tuple[int, int],
    weight: int,
) -> None:
    """One part of a stream: level to its net's track, along that, and level to the next layer."""
    from_row, to_row = (arrangement.rows[vertex] for vertex in step)
    start = arrangement.line_start(step[0], layer)
    grid.begin(net, from_row, start, weight)
    grid.across(net, from_row, start, column, weight)
    grid.down(net, column, from_row, to_row, weight)
    grid.across(net, to_row, column, arrangement.starts[layer + 1], weight)


def _draw_heads(sheet: Sheet, arrangement: Arrangement) -> None:
    """Put an arrow's head before every operator that receives."""
    layout = arrangement.layout
    for number, layer in enumerate(layout.layers):
        for vertex in layer:
            if vertex < layout.operators and layout.before[vertex]:
                for offset, character in enumerate(HEAD, start=-len(HEAD)):
                    sheet.cells[arrangement.rows[vertex], arrangement.starts[number] + offset] = (
                        character,
                        PLAIN,
                    )
