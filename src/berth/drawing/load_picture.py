"""The network on paper with every node coloured by how full it is."""

from __future__ import annotations

from berth.drawing.network_picture import NAME_SIZE, UNUSED, NetworkPicture, Spots
from berth.drawing.palette import text_colour
from berth.drawing.paper import INK, Paper
from berth.drawing.views import ApplicationView
from berth.explanation import Explanation

STEPS = ((0.25, "#fff0a0"), (0.5, "#fed976"), (0.75, "#fd8d3c"), (1.0 + 1e-9, "#e31a1c"))
"""The colours of nodes that are full up to a share."""
OVER = "#67001f"
FREE = "#c6dbef"
"""The colour of nodes in use that have no limit."""
ELSEWHERE = ("link", "response time", "availability")
"""Kinds of limits that are no node's."""


def load_colour(share: float) -> str:
    """The colour of a share: pale yellow, orange, red; dark red beyond the limit."""
    return next((colour for most, colour in STEPS if share <= most), OVER)


class LoadPicture(NetworkPicture):
    """The network of an explained plan; the fullest limit of a node gives its colour."""

    def __init__(self, explanation: Explanation, views: list[ApplicationView]) -> None:
        situation = explanation.situation
        super().__init__(situation.problem, situation, views)
        self.shares: dict[int, float] = {}
        """How full every node is that has a limit."""
        index = situation.network.index
        for use in explanation.limits:
            if use.kind not in ELSEWHERE:
                node = index[use.name.partition(" ")[0] if use.kind == "capacity" else use.name]
                self.shares[node] = max(self.shares.get(node, 0.0), use.share)

    def _draw_node(self, paper: Paper, spots: Spots, node: int) -> None:
        middle, radius = spots.middle(node), float(spots.radii[node])
        if node not in self._coloured:
            paper.disc(middle, radius, UNUSED, "white", level=2.6)
            return
        colour = load_colour(self.shares[node]) if node in self.shares else FREE
        paper.disc(middle, radius, colour, INK)
        if count := len(self._runs.get(node, [])):
            paper.write(middle, str(count), NAME_SIZE, bold=True, colour=text_colour(colour), across="center")

    def _notes(self) -> list[str]:
        return [*super()._notes(), "colour: fullest limit, yellow to red; dark: exceeded"]
