"""Many operator graphs placed at once on one set of nodes, whose room they share.

Graphs propose in parallel, each as if the room that is left were its own; nodes accept up to their room, in
an order that the seed draws; the graphs that were refused somewhere try again. `graphs.py` reads them,
`solving.py` is what a task does with one, `rounds.py` goes on until all have a place, `job.py` does it all,
and places them one after the other to compare with.
"""

from berth.pipeline.together.graphs import PLACED, read_graphs, shared_network
from berth.pipeline.together.job import Together, check_methods, placed_in_turn, run_together
from berth.pipeline.together.rounds import Outcome, Round, place_together, with_priority
from berth.pipeline.together.solving import POLICIES, Method

__all__ = [
    "PLACED",
    "POLICIES",
    "Method",
    "Outcome",
    "Round",
    "Together",
    "check_methods",
    "place_together",
    "placed_in_turn",
    "read_graphs",
    "run_together",
    "shared_network",
    "with_priority",
]
