"""A problem and a plan as a picture: the applications on the left, the network on the right."""

from __future__ import annotations

import math

from berth.drawing.graph_picture import GraphPicture
from berth.drawing.network_picture import NetworkPicture
from berth.drawing.paper import (
    MARGIN,
    PALE,
    TITLE_HEIGHT,
    Format,
    Panel,
    Paper,
    Point,
    picture_file,
    title_width,
)
from berth.drawing.views import application_views, headline, situation_of
from berth.evaluation import Situation
from berth.model import Plan, Problem

BETWEEN_GRAPHS = 34.0
LOWEST_COLUMN = 560.0
"""Graphs are put below one another at least to this height, before a new column begins."""
FEW_NODES, FEW_NODES_HEIGHT, MANY_NODES_HEIGHT = 12, 350.0, 440.0
"""The network takes at least the first height, or the second with more nodes than that."""
WIDEST_NETWORK = 1100.0


def draw(problem: Problem, plan: Plan | None, file_format: Format) -> bytes:
    """Draw a problem, with a plan if there is one, as a PNG or SVG file.

    The same problem and plan give the same bytes.

    Raises:
        BadInput: the plan names what the problem doesn't have.
        ValueError: the format is neither `png` nor `svg`.
    """
    situation = situation_of(problem, plan)
    return picture_file(lambda: _drawn(problem, situation), file_format)


def _drawn(problem: Problem, situation: Situation | None) -> Paper:
    views = application_views(problem, situation)
    names = [node.name for node in problem.network.nodes]
    graphs = [GraphPicture(view, names) for view in views]
    corners, width, height = stacked(graphs)
    panel = _network_panel(len(names), MARGIN + width + 2 * MARGIN, height)
    line = " · ".join(headline(problem, situation))
    width = max(panel.right, MARGIN + title_width(problem.name, line)) + MARGIN
    paper = Paper(width, panel.bottom + MARGIN)
    paper.title(problem.name, line)
    top = panel.top + (panel.height - height) / 2.0
    for graph, corner in zip(graphs, corners, strict=True):
        graph.draw(paper, (MARGIN + corner[0], top + corner[1]))
    between = panel.left - MARGIN
    paper.line((between, panel.top), (between, panel.bottom), 0.8, PALE)
    NetworkPicture(problem, situation, views).draw(paper, panel)
    return paper


def _network_panel(nodes: int, left: float, graph_height: float) -> Panel:
    """The part of the paper for the network: as high as the graphs, or higher for its own sake."""
    height = max(graph_height, FEW_NODES_HEIGHT if nodes <= FEW_NODES else MANY_NODES_HEIGHT)
    return Panel(left, TITLE_HEIGHT, min(1.4 * height, WIDEST_NETWORK), height)


def stacked(graphs: list[GraphPicture]) -> tuple[list[Point], float, float]:
    """Upper left corners of graphs one below the other, in columns, and the size of it all."""
    area = sum((graph.width + BETWEEN_GRAPHS) * (graph.height + BETWEEN_GRAPHS) for graph in graphs)
    lowest = max(LOWEST_COLUMN, math.sqrt(area))
    corners: list[Point] = []
    left = top = right = bottom = 0.0
    for graph in graphs:
        if top > 0.0 and top + graph.height > lowest:
            left, top = right + BETWEEN_GRAPHS, 0.0
        corners.append((left, top))
        right = max(right, left + graph.width)
        bottom = max(bottom, top + graph.height)
        top += graph.height + BETWEEN_GRAPHS
    return corners, right, bottom
