"""The same graphs one after the other, in the order of their priority: what rounds are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_schema

from berth.model import Network
from berth.pipeline.together.room import SharedRoom
from berth.pipeline.together.schema import PLACED, WAITING
from berth.pipeline.together.solving import Row, Way, propose

Batches = Iterable[pa.RecordBatch]

FLUSH_ROWS = 100


def placed_in_turn(waiting: DataFrame, network: Network, way: Way) -> DataFrame:
    """The columns of `PLACED`; all in one task, for each graph takes what those before have left."""
    shared = waiting.sparkSession.sparkContext.broadcast(network)
    order = (
        waiting.select(*WAITING.fieldNames())
        .repartition(1)
        .sortWithinPartitions("priority", "source", "application")
    )
    return order.mapInArrow(_placing(shared, way), PLACED)


def usage_in_turn(waiting: DataFrame, network: Network, way: Way) -> tuple[int, float]:
    """How many get a place, and the network usage of all of these."""
    placed = placed_in_turn(waiting, network, way).where("status = 'feasible'")
    found = placed.agg(F.count("*").alias("plans"), F.sum("network_usage_bytes").alias("usage")).first()
    assert found is not None
    return found.plans, found.usage or 0.0


def _placing(network: Broadcast[Network], way: Way) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def placing(batches: Batches) -> Iterator[pa.RecordBatch]:
        schema = to_arrow_schema(PLACED)
        room = SharedRoom.of(network.value, way.most)
        rows: list[Row] = []
        for row in (row for batch in batches for row in batch.to_pylist()):
            proposal = propose(row, network.value, room, way)
            room.take(proposal.parts or [])
            rows.append(proposal.row | {"application": row["application"], "round": None})
            if len(rows) >= FLUSH_ROWS:
                yield pa.RecordBatch.from_pylist(rows, schema)
                rows = []
        yield pa.RecordBatch.from_pylist(rows, schema)

    return placing
