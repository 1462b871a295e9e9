"""Tag-and-Count as it runs on Spark: a row for each sentence, which outages may stop on its way."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from berth.runtime import Application, write_batch
from berth.runtime.cluster.nodes import resource_name

SCHEMA = "id long, text string"
TAGS = ("#spark", "#berth", "#stream", "#rome", "#dublin")
_TAG = re.compile(r"#\w+")

Work = Callable[[str], str]
Step = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def tag_and_count(sentences: Path, ranks: Path, availability: Mapping[str, float], seed: int) -> Application:
    """The application of the paper's figure 3.

    Args:
        sentences: the folder that the source reads, a file for each batch.
        ranks: the folder for what the consumer gets.
        availability: of every node. An executor loses each row with one minus that of its node as the chance.
        seed: for that.
    """
    app = Application("tag-and-count")
    up = {resource_name(node): share for node, share in availability.items()}

    def source(spark: SparkSession) -> DataFrame:
        return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(sentences))

    def consumer(rank: DataFrame, batch_id: int) -> None:
        write_batch(rank, str(ranks), batch_id, "json")

    app.source(source)
    before = "source"
    for name, work in WORK.items():
        step = _step(name, work, up, seed)
        app.map_in_arrow(SCHEMA, name=name, inputs=[before], parallelism=2)(step)
        before = name
    app.sink(consumer)
    return app


def write_sentences(folder: Path, files: int, rows: int) -> None:
    """Sentences with tags, so many files of so many."""
    folder.mkdir(parents=True)
    for number in range(files):
        first = number * rows
        lines = (
            json.dumps(
                {"id": key, "text": f"Number {key}: {TAGS[key % 5]} {TAGS[key % 3]} {TAGS[key % 2]} #x"}
            )
            for key in range(first, first + rows)
        )
        (folder / f"{number:04d}.json").write_text("\n".join(lines) + "\n")


def survives(seed: int, step: str, row: int, availability: float) -> bool:
    """Whether an executor is up for a row: the same for every way to run it."""
    word = blake2b(f"{seed} {step} {row}".encode(), digest_size=8).digest()
    return int.from_bytes(word) / 2.0**64 < availability


def _parse(text: str) -> str:
    return text.strip().lower()


def _tag(text: str) -> str:
    return " ".join(_TAG.findall(text))


def _filter(text: str) -> str:
    return " ".join(tag for tag in text.split() if len(tag) > len("#x"))


def _count(text: str) -> str:
    return " ".join(f"{tag}:{times}" for tag, times in sorted(Counter(text.split()).items()))


def _rank(text: str) -> str:
    return " ".join(sorted(text.split(), key=lambda counted: -int(counted.rpartition(":")[2])))


WORK: dict[str, Work] = {
    "parse": _parse,
    "tag": _tag,
    "filter": _filter,
    "count": _count,
    "rank": _rank,
}
"""What each operator does with a row's text."""


def _step(name: str, work: Work, up: Mapping[str, float], seed: int) -> Step:
    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        granted = context.resources() if context is not None else {}
        share = next(up[resource] for resource in granted if resource in up)
        for batch in batches:
            rows = [row for row in batch.to_pylist() if survives(seed, name, row["id"], share)]
            columns = {"id": [row["id"] for row in rows], "text": [work(row["text"]) for row in rows]}
            yield pa.RecordBatch.from_pydict(
                columns, schema=pa.schema([("id", pa.int64()), ("text", pa.string())])
            )

    return step
