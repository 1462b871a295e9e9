from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from berth.drawing.terminal import render
from berth.model import Application, BadInput, Network, Node, Operator, Plan, Problem

from .problems import (
    EVERYTHING,
    awkward_names,
    diamond,
    incomplete,
    large,
    one_node,
    reused,
    routed_without_path,
    several_applications,
    small,
    unknown_rates,
    without_link,
)

Maker = Callable[[], tuple[Problem, Plan]]


def text_of(problem: Problem, plan: Plan | None = None, width: int = 80) -> str:
    """What a terminal without colours shows."""
    console = Console(width=width, file=StringIO(), color_system=None)
    console.print(render(problem, plan))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("make", EVERYTHING)
def test_every_problem_fits_the_terminal(make: Maker, width: int) -> None:
    """With a plan and without one, no line is wider than the terminal."""
    problem, plan = make()
    console = Console(width=width, file=StringIO(), color_system=None)
    for chosen in (plan, None):
        for line in console.render_lines(render(problem, chosen), pad=False):
            assert sum(segment.cell_length for segment in line) <= width


def test_graph_shows_where_operators_run() -> None:
    """The names of operators and below them those of their nodes, with arrows."""
    text = text_of(*small())
    assert "source ━▶ work ━▶ sink\nrome      paris   oslo\n" in text


def test_instances_on_several_nodes_are_counted() -> None:
    """An operator on two nodes names both with the number of instances there."""
    text = text_of(*diamond())
    assert "rome ×1" in text
    assert "paris ×1" in text


def test_the_slowest_path_is_told() -> None:
    """The time, its parts and the stations of the slowest path."""
    text = text_of(*diamond())
    assert "slowest path (heavy line): 31 ms = 11 ms of work + 20 ms on the way" in text
    assert "rome source ━10ms━▶ paris slow#1 ━10ms━▶ rome sink" in text


def test_use_of_nodes_is_told() -> None:
    """Each node's resources with a bar, the share and the amounts."""
    assert "cpu  ██░░░░░░  25 %  1 of 4" in text_of(*small())


def test_headroom_is_not_there_to_be_used() -> None:
    """Amounts are against the capacity less the headroom, and the table says so."""
    problem, plan = small()
    network = Network(problem.network.nodes, problem.network.links, headroom=0.5)
    text = text_of(Problem("tight", network, problem.applications), plan)
    assert "without the 50 % kept free" in text
    assert "50 %  1 of 2" in text


def test_too_much_is_marked_in_words() -> None:
    """Without colours one sees that a node is too small."""
    assert "150 %  3 of 2 OVER" in text_of(*one_node())


def test_busy_share_is_told_where_there_is_a_throughput() -> None:
    """20 ms of work 10 times a second keep a processor busy for 20 % of the time."""
    assert "busy" in text_of(*several_applications())
    assert "20 %" in text_of(*several_applications())
    assert "busy" not in text_of(*small())


def test_busiest_links_are_told() -> None:
    """From, to, traffic, delay and the share of the bandwidth."""
    words = " ".join(text_of(*small()).split())
    assert "rome paris 1 kB/s 10 ms ████░░░░ 50 % of 2 kB/s" in words
    assert "paris oslo 1 kB/s 15 ms no limit" in words


@pytest.mark.parametrize("make", [without_link, routed_without_path])
def test_a_missing_link_is_told(make: Maker) -> None:
    """A flow between nodes without a link is listed as such, and no path is marked."""
    text = text_of(*make())
    assert "no link" in text
    assert "slowest path" not in text


def test_unknown_rates_are_not_invented() -> None:
    """A link that only streams of unknown rate cross has unknown traffic."""
    text = text_of(*unknown_rates())
    assert "unknown" in text
    assert "0 B/s" not in text
    assert " 0 %" not in text.split("Busiest links")[1]


def test_what_is_not_placed_is_told() -> None:
    """In the headline, in the graph and below the table of nodes."""
    text = text_of(*incomplete())
    assert "2 of 3 instances not placed" in text
    assert "not placed: app/work, app/sink" in text
    assert "unused: paris, oslo" in text


def test_reuse_is_told() -> None:
    """An operator whose result is another's names that one; one that nobody needs is skipped."""
    text = text_of(*reused())
    assert "= first/tag" in text
    assert "skipped" in text


def test_without_a_plan_the_graph_says_what_is_possible() -> None:
    """Pinned operators show their node, others how many nodes they may run on."""
    operators = (
        Operator("here", candidates=("a",)),
        Operator("some", candidates=("a", "b")),
        Operator("any"),
    )
    problem = Problem("open", Network((Node("a"), Node("b"), Node("c"))), (Application("app", operators),))
    text = text_of(problem)
    assert "here\na\n" in text
    assert "2 nodes possible" in text
    assert "any node" in text
    assert "Nodes" not in text


def test_markup_in_names_is_text() -> None:
    """Names that look like Rich markup are printed as they are; unprintable characters are replaced."""
    text = text_of(*awkward_names())
    assert "[red]rome[/red]" in text
    assert "[bold]in" in text
    assert "[blink]$problem" in text
    assert "[b]mine" in text
    assert "\x1b" not in text


def test_a_large_application_is_told_layer_by_layer() -> None:
    """More operators than one can follow are counted, and only some are named."""
    text = text_of(*large())
    assert "60 operators" in text
    assert "layer" in text
    assert "▶ op-1" not in text.split("slowest path")[0]


def test_thirty_operators_are_drawn() -> None:
    """Up to about thirty operators there is a graph with all of them."""
    text = text_of(*large(30), width=140)
    graph = text.split("slowest path")[0]
    assert all(f"op-{number}×" in graph or f"op-{number} " in graph for number in range(30))


def test_nodes_have_stable_colours() -> None:
    """A node's name has the same background in the graph and in the tables."""
    console = Console(width=80, file=StringIO(), color_system="truecolor", force_terminal=True)
    problem, plan = small()
    segments = [segment for line in console.render_lines(render(problem, plan)) for segment in line]
    backgrounds = {
        str(segment.style.bgcolor)
        for segment in segments
        if segment.text.strip() == "paris" and segment.style
    }
    assert len(backgrounds) == 1


def test_unknown_names_are_bad_input() -> None:
    """A plan for another problem is refused."""
    with pytest.raises(BadInput, match="no node"):
        render(small()[0], Plan({"app/source": "nowhere"}))
