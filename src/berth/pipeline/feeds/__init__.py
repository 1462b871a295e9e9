"""The feeds of telemetry, one module each; `feed.py` says what a feed is.

A new feed is a module with a `Feed` and a line in `FEEDS`. All that handles telemetry goes through that list.
"""

from berth.pipeline.feeds.energy import Energy
from berth.pipeline.feeds.feed import TABLE_KEYS, Feed, Field
from berth.pipeline.feeds.heartbeats import HEARTBEATS
from berth.pipeline.feeds.operators import Operators
from berth.pipeline.feeds.probes import Probes
from berth.pipeline.feeds.streams import Streams

FEEDS: tuple[Feed, ...] = (Probes(), HEARTBEATS, Operators(), Streams(), Energy())

__all__ = ["FEEDS", "HEARTBEATS", "TABLE_KEYS", "Feed", "Field"]
