"""The incremental engine, from Python: a placement and a goal become a case on which plans are moved about.

`berth.core.engine` is the compiled part: `Plan` holds a plan, tries moves and takes them back, `Search`
improves plans. This package builds what both work on; `HeldPlan` is a plan that others move about.
"""

from berth.engine.case import (
    blocks_along_streams,
    case_of,
    case_of_sums,
    likeness_case,
    previous_nodes_of_blocks,
    sizes_of_blocks,
)
from berth.engine.held import HeldPlan

__all__ = [
    "HeldPlan",
    "blocks_along_streams",
    "case_of",
    "case_of_sums",
    "likeness_case",
    "previous_nodes_of_blocks",
    "sizes_of_blocks",
]
