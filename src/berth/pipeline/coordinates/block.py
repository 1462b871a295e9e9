"""What a task does in a round: it moves the nodes of its block, against what the others were before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from berth.space.refinement import refine_nodes
from berth.space.vivaldi_kernel import LEAST_HEIGHT_MS, update_nodes

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]

LARGEST_TOTAL_MS = 2.0**40
"""A block's total error is cut here, so that the sum over all blocks is a number whatever happens."""


@dataclass(frozen=True)
class Step:
    """How a round moves nodes."""

    polish: bool
    """Least absolute errors; False: Vivaldi's springs."""
    sweeps: int
    """So often a block goes through its samples before positions are exchanged again."""
    height: bool
    c_c: float
    c_e: float
    exact_ms: float
    closeness: float
    seed: int
    number: int
    """Of the round."""


@dataclass(frozen=True, eq=False)
class _Block:
    rows: IntegerArray
    offsets: IntegerArray
    neighbours: IntegerArray
    delays: FloatArray
    positions: FloatArray
    heights: FloatArray
    errors: FloatArray


def moved(step: Step, neighbourhoods: pa.Table, positions: pa.Table) -> pa.Table:
    """New positions of a block's nodes; its total error and its resets are in its first row.

    Args:
        step: how.
        neighbourhoods: block, node, others and delays of every node of the block.
        positions: node, position, height_ms and error of all that occur in it.
    """
    own = neighbourhoods.sort_by("node")
    block = _block(own, positions.sort_by("node"))
    generator = np.random.default_rng([step.seed % 2**64, step.number, own["block"][0].as_py()])
    mean, resets = 0.0, 0
    for sweep in range(step.sweeps):
        found, again = _polished(step, block) if step.polish else _sprung(step, block, generator)
        mean = found if sweep == 0 else mean
        resets += again
    count = len(block.rows)
    first = np.arange(count) == 0
    total = min(mean * len(block.delays), LARGEST_TOTAL_MS)
    places = block.positions[block.rows]
    return pa.table(
        {
            "node": own["node"],
            "position": _lists(places),
            "height_ms": block.heights[block.rows],
            "error": block.errors[block.rows],
            "total_ms": np.where(first, total, 0.0),
            "resets": np.where(first, resets, 0),
        }
    )


def _sprung(step: Step, block: _Block, generator: np.random.Generator) -> tuple[float, int]:
    return update_nodes(
        generator.permutation(len(block.rows)),
        block.rows,
        block.offsets,
        block.neighbours,
        block.delays,
        block.positions,
        block.heights,
        block.errors,
        step.height,
        step.c_c,
        step.c_e,
        generator,
    )


def _polished(step: Step, block: _Block) -> tuple[float, int]:
    mean = refine_nodes(
        block.rows,
        block.offsets,
        block.neighbours,
        block.delays,
        block.positions,
        block.heights,
        step.height,
        step.exact_ms,
        step.closeness,
        LEAST_HEIGHT_MS,
    )
    return mean, 0


def _block(own: pa.Table, positions: pa.Table) -> _Block:
    nodes = positions["node"].to_numpy()
    others = own["others"].combine_chunks()
    sizes = pc.list_value_length(others).to_numpy(zero_copy_only=False)
    places = positions["position"].combine_chunks().flatten().to_numpy()
    return _Block(
        np.searchsorted(nodes, own["node"].to_numpy()).astype(np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.searchsorted(nodes, others.flatten().to_numpy()).astype(np.int64),
        own["delays"].combine_chunks().flatten().to_numpy().copy(),
        places.reshape(len(nodes), -1).copy(),
        positions["height_ms"].to_numpy().copy(),
        positions["error"].to_numpy().copy(),
    )


def _lists(places: FloatArray) -> pa.Array:
    count, dimensions = places.shape
    offsets = np.arange(0, (count + 1) * dimensions, dimensions, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ascontiguousarray(places).ravel()))
