"""Odd telemetry: whatever is in the files, every record is taken or put aside, and nothing else happens."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from berth.spark import SparkSession
from tests.fuzz.mutation import ODD, ODD_BYTES
from tests.pipeline.telemetry import random_feed, run_ingest, write_feed


def check(spark: SparkSession, seed: int, folder: Path) -> int:
    """Take in a feed of which many lines are odd; how many lines there were."""
    chance = random.Random(seed)
    feed = {name: [_line(chance, each) for each in lines] for name, lines in random_feed(seed).items()}
    write_feed(folder / "telemetry", feed)
    ingested = run_ingest(spark, folder / "telemetry", folder / "out")
    counts = ingested.summary.counts
    lines = sum(bool(line.strip()) for content in feed.values() for line in _split(content))
    told = counts.total + sum(sum(why.values()) for why in counts.quarantined.values())
    assert told == lines, f"{told} records of {lines} lines"
    json.dumps(ingested.report, allow_nan=False)
    return lines


def _split(content: list[bytes]) -> list[bytes]:
    return re.split(rb"\r\n|\r|\n", b"\n".join(content))


def _line(chance: random.Random, record: dict[str, Any]) -> bytes:
    changed: Any = dict(record)
    odd = chance.random()
    if odd < 0.3:
        changed[chance.choice(list(changed))] = chance.choice(ODD)
    elif odd < 0.4:
        changed.pop(chance.choice(list(changed)))
    elif odd < 0.45:
        changed = chance.choice(ODD)
    content = json.dumps(changed, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    if chance.random() < 0.1:
        start = chance.randrange(len(content) + 1)
        content = content[:start] + chance.choice(ODD_BYTES) + content[start + chance.randrange(4) :]
    return content
