"""What tasks do: every graph that waits is placed on the room that is left, as if that were its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from berth.model import Network
from berth.pipeline.together.room import Part, SharedRoom
from berth.pipeline.together.schema import PROPOSALS, WAITING
from berth.pipeline.together.solving import Row, Way, propose

Batches = Iterable[pa.RecordBatch]

FLUSH_ROWS = 100


def proposals_of(
    waiting: DataFrame, network: Broadcast[Network], room: Broadcast[SharedRoom], way: Way
) -> DataFrame:
    """What each of the graphs that wait would take; the columns of `PROPOSALS`."""
    return waiting.select(*WAITING.fieldNames()).mapInArrow(_proposing(network, room, way), PROPOSALS)


def _proposing(
    network: Broadcast[Network], room: Broadcast[SharedRoom], way: Way
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def proposing(batches: Batches) -> Iterator[pa.RecordBatch]:
        schema = to_arrow_schema(PROPOSALS)
        rows: list[Row] = []
        for row in (row for batch in batches for row in batch.to_pylist()):
            proposal = propose(row, network.value, room.value, way)
            parts = None if proposal.parts is None else _rows(proposal.parts, network.value, room.value)
            returned = _rows(proposal.returned, network.value, room.value)
            rows.append(row | {"row": proposal.row, "parts": parts, "returned": returned})
            if len(rows) >= FLUSH_ROWS:
                yield pa.RecordBatch.from_pylist(rows, schema)
                rows = []
        yield pa.RecordBatch.from_pylist(rows, schema)

    return proposing


def _rows(parts: list[Part], network: Network, room: SharedRoom) -> list[Row]:
    left = room.left(network, np.array([part.node for part in parts], dtype=np.intp))
    return [
        {
            "operator": part.operator,
            "chosen": part.chosen,
            "single": part.single,
            "node": part.node,
            "amounts": part.amounts.tolist(),
            "room": there,
        }
        for part, there in zip(parts, left.tolist(), strict=True)
    ]
