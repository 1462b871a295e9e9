"""The graph in text is read as people do: along the lines, and straight on where one is interrupted."""

from __future__ import annotations

import random

import pytest

from berth.drawing.graph_text import Arrangement, arranged, drawn
from berth.drawing.text_lines import CHARACTERS
from berth.drawing.views import ApplicationView, OperatorView, StreamView

UP, RIGHT, DOWN, LEFT = range(4)
MOVES = {UP: (-1, 0), RIGHT: (0, 1), DOWN: (1, 0), LEFT: (0, -1)}
OPPOSITE = {UP: DOWN, RIGHT: LEFT, DOWN: UP, LEFT: RIGHT}


def random_view(seed: int, operators: int, share: float) -> ApplicationView:
    draw = random.Random(seed)
    members = tuple(
        OperatorView(f"op{number}" + "x" * draw.randrange(5), 1, ((draw.randrange(3), 1),), "", False)
        for number in range(operators)
    )
    streams = tuple(
        StreamView(i, j, 1.0, draw.random() < 0.2)
        for j in range(operators)
        for i in range(max(0, j - 6), j)
        if draw.random() < share
    )
    return ApplicationView("random", members, streams, ())


def strokes(character: str) -> set[int]:
    """Where a character's lines go."""
    number = CHARACTERS.find(character)
    weights = [number // 27, number // 9 % 3, number // 3 % 3, number % 3] if number >= 0 else [0] * 4
    return {direction for direction, weight in enumerate(weights) if weight}


def reached(
    view: ApplicationView, places: Arrangement, cells: dict[tuple[int, int], str], sender: int
) -> set[int]:
    """The operators at the ends of all lines that begin behind one, never going back to the left."""
    layers = {vertex: number for number, layer in enumerate(places.layout.layers) for vertex in layer}
    at = {
        (places.rows[vertex], places.starts[layers[vertex]] - 2): vertex
        for vertex in range(len(view.operators))
    }
    start = places.rows[sender], places.line_start(sender, layers[sender])
    waiting, seen, found = [(start, RIGHT)], set(), set()
    while waiting:
        cell, heading = waiting.pop()
        if (cell, heading) in seen or cell not in cells:
            continue
        seen.add((cell, heading))
        if cells[cell] == "▶":
            found.add(at[cell])
            continue
        ways = strokes(cells[cell])
        turns = {heading} if OPPOSITE[heading] not in ways else ways - {OPPOSITE[heading], LEFT}
        for turn in turns:
            move = MOVES[turn]
            waiting.append(((cell[0] + move[0], cell[1] + move[1]), turn))
    return found


@pytest.mark.parametrize("share", [0.15, 0.3, 0.5])
@pytest.mark.parametrize("seed", range(25))
def test_lines_lead_to_the_receivers_and_nowhere_else(seed: int, share: float) -> None:
    """Whoever follows the lines from an operator finds exactly those that it sends to."""
    view = random_view(seed, 12, share)
    names = ["rome", "paris", "oslo"]
    places = arranged(view, names)
    cells = {place: character for place, (character, _) in drawn(view, names).cells.items()}
    for sender in range(len(view.operators)):
        receivers = {stream.receiver for stream in view.streams if stream.sender == sender}
        if receivers:
            assert reached(view, places, cells, sender) == receivers


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("width", [40, 80])
def test_bands_fit_the_width_and_lose_nothing(seed: int, width: int) -> None:
    """A graph that is too wide is cut between layers; every operator's name is there once."""
    view = random_view(seed, 25, 0.2)
    sheet = drawn(view, ["rome", "paris", "oslo"])
    lines = [line.plain for start, end in sheet.bands(width) for line in sheet.lines(start, end)]
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert all(words.count(operator.name) == 1 for operator in view.operators)


def test_the_slowest_path_is_heavy() -> None:
    """Streams on the slowest path have heavy lines, the others light ones."""
    members = tuple(OperatorView(name, 1, (), "here", True) for name in ("a", "b", "c"))
    view = ApplicationView("x", members, (StreamView(0, 1, 1.0, True), StreamView(1, 2, 1.0, False)), ())
    sheet = drawn(view, [])
    assert next(iter(sheet.lines(0, 80))).plain == "a ━━▶ b ──▶ c"


def test_many_nodes_are_counted() -> None:
    """An operator on more than three nodes names three of them and the number of the rest."""
    operator = OperatorView("wide", 6, ((0, 2), (1, 1), (2, 1), (3, 1), (4, 1)), "", False)
    sheet = drawn(ApplicationView("x", (operator,), (), ()), list("abcde"))
    assert [line.plain for line in sheet.lines(0, 80)] == [
        "wide×6",
        "a ×2",
        "b ×1",
        "c ×1",
        "and 2 more nodes",
    ]
