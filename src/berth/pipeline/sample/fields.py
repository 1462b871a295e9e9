"""The folders of a telemetry feed and the fields of their records (section 5 of the contract)."""

from __future__ import annotations

from typing import Literal

Kind = Literal["time", "node", "application", "operator", "instance", "flag", "number", "count"]

FIELDS: dict[str, dict[str, Kind]] = {
    "probes": {"ts": "time", "from": "node", "to": "node", "rtt_ms": "number"},
    "heartbeats": {"ts": "time", "node": "node", "up": "flag", "run_queue": "number", "mips": "number"},
    "operators": {
        "ts": "time",
        "application": "application",
        "operator": "operator",
        "instance": "instance",
        "node": "node",
        "tuples": "count",
        "busy_ms": "number",
    },
    "streams": {
        "ts": "time",
        "application": "application",
        "from": "operator",
        "to": "operator",
        "tuples": "count",
        "bytes": "count",
        "window_ms": "count",
    },
}
NAMES = ("node", "application", "operator", "instance")
TYPES: dict[Kind, str] = {
    "time": "long",
    "node": "string",
    "application": "string",
    "operator": "string",
    "instance": "string",
    "flag": "boolean",
    "number": "double",
    "count": "long",
}
