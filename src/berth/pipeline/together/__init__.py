"""Many operator graphs placed at once on one set of nodes, whose room they share.

Graphs propose in parallel, each as if the room that is left were its own; nodes accept up to their room, in
an order that the seed draws; the graphs that were refused somewhere try again. `graphs.py` reads them,
`solving.py` and `proposals.py` are what tasks do, `acceptance.py` what nodes say, `rounds.py` goes on until
all have a place; `in_turn.py` places them one after the other, to compare with; `job.py` does it all.
"""

from berth.pipeline.together.graphs import read_graphs, shared_network
from berth.pipeline.together.in_turn import placed_in_turn
from berth.pipeline.together.job import Together, check_ways, run_together
from berth.pipeline.together.rounds import Outcome, Round, place_together, with_priority
from berth.pipeline.together.schema import PLACED
from berth.pipeline.together.solving import POLICIES, Way

__all__ = [
    "PLACED",
    "POLICIES",
    "Outcome",
    "Round",
    "Together",
    "Way",
    "check_ways",
    "place_together",
    "placed_in_turn",
    "read_graphs",
    "run_together",
    "shared_network",
    "with_priority",
]
