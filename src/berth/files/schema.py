"""The JSON Schemas of problem and plan files: published by `berth schema`, and what reading checks by."""

from __future__ import annotations

from typing import Any

from berth.evaluation import METRICS

Schema = dict[str, Any]

PROBLEM_FORMAT = "berth/v1"
PLAN_FORMAT = "berth-plan/v1"
SLOWEST, FASTEST = 1e-12, 1e12
"""Speeds that a node may have."""
MOST_INSTANCES = 100_000


def _object(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _list(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": items, **({"minItems": least} if least else {})}


def _matrix(entry: Schema) -> Schema:
    return _list(_list({**entry, "type": ["number", "null"]}))


LARGEST_AMOUNT = 1e30
"""More of anything is a slip of the pen, and would overflow in products."""
NUMBER: Schema = {"type": "number", "minimum": -LARGEST_AMOUNT, "maximum": LARGEST_AMOUNT}
AMOUNT: Schema = {"type": "number", "minimum": 0, "maximum": LARGEST_AMOUNT}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
BOOLEAN: Schema = {"type": "boolean"}
TEXT: Schema = {"type": "string"}
# Python's $ also matches before a line break at the end
NAME: Schema = {"type": "string", "pattern": r"^[^/#\s]+$(?!\n)"}
NAMES = _list(NAME, least=1)
LABELS = _map({"type": ["string", "number", "boolean"]})
OBJECTIVE_KEYS = [metric.name for metric in METRICS]

_LINK_FIELDS: Schema = {
    "delay_ms": AMOUNT,
    "availability": SHARE,
    "bandwidth_bytes_per_s": AMOUNT,
    "cost": AMOUNT,
    "price_per_gb": AMOUNT,
}

_NODE = _object(
    {
        "name": NAME,
        "hosts": BOOLEAN,
        "capacity": _map(AMOUNT),
        "speed": {"type": "number", "exclusiveMinimum": 0, "minimum": SLOWEST, "maximum": FASTEST},
        "availability": SHARE,
        "run_queue": AMOUNT,
        "nic_bytes_per_s": AMOUNT,
        "cost_per_hour": AMOUNT,
        "carbon_g_per_hour": AMOUNT,
        "coordinates": _list(NUMBER, least=1),
        "height_ms": AMOUNT,
        "holds": _list(NAME),
        "labels": LABELS,
    },
    ("name",),
)

_NETWORK = _object(
    {
        "symmetric": BOOLEAN,
        "routing": {"enum": ["direct", "shortest_path"]},
        "duplex": {"enum": ["full", "half"]},
        "one_port": BOOLEAN,
        "headroom": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
        "nodes": _list(_NODE, least=1),
        "links": _list(_object({"from": NAME, "to": NAME, **_LINK_FIELDS}, ("from", "to"))),
        **{name: _matrix(entry) for name, entry in _LINK_FIELDS.items()},
    },
    ("nodes",),
)

_OPERATOR = _object(
    {
        "name": NAME,
        "pinned": NAME,
        "candidates": _list(NAME),
        "demand": _map(AMOUNT),
        "work_ms": AMOUNT,
        "parallelism": {"type": "integer", "minimum": 1, "maximum": MOST_INSTANCES},
        "emits_bytes_per_s": AMOUNT,
        "selectivity": AMOUNT,
        "output_bytes": AMOUNT,
        "type": TEXT,
        "reads": _list(_object({"object": NAME, "per_s": AMOUNT}, ("object", "per_s"))),
        "state_bytes": AMOUNT,
        "placement_cost": _map(AMOUNT),
    },
    ("name",),
)

_STREAM = _object(
    {
        "from": NAME,
        "to": NAME,
        "bytes_per_s": AMOUNT,
        "grouping": {"enum": ["shuffle", "all", "global"]},
    },
    ("from", "to"),
)

_APPLICATION = _object(
    {
        "name": NAME,
        "throughput_per_s": AMOUNT,
        "max_response_time_ms": AMOUNT,
        "min_availability": SHARE,
        "containers": _object(
            {"count": {"type": "integer", "minimum": 1}, "capacity": _map(AMOUNT)}, ("count", "capacity")
        ),
        "rules": _list(
            _object({"together": NAMES, "apart": NAMES, "by": TEXT, "where": LABELS, "operators": NAMES})
        ),
        "operators": _list(_OPERATOR, least=1),
        "streams": _list(_STREAM),
    },
    ("name", "operators"),
)

_BOUNDS = {**_list(NUMBER, least=2), "maxItems": 2}

PROBLEM_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "berth problem",
    **_object(
        {
            "format": {"enum": [PROBLEM_FORMAT]},
            "name": NAME,
            "network": _NETWORK,
            "objects": _list(_object({"name": NAME, "bytes": AMOUNT}, ("name", "bytes"))),
            "applications": _list(_APPLICATION, least=1),
            "sharing": BOOLEAN,
            "objective": _object(dict.fromkeys(OBJECTIVE_KEYS, AMOUNT)),
            "objective_scale": {"enum": ["normalised", "raw"]},
            "objective_bounds": _object(dict.fromkeys(OBJECTIVE_KEYS, _BOUNDS)),
        },
        ("format", "name", "network", "applications"),
    ),
}

_DOWNLOAD = _object({"object": NAME, "from": NAME, "to": NAME}, ("object", "from", "to"))
_FIGURE: Schema = {"type": "number"}
_MAYBE_NUMBER: Schema = {"type": ["number", "null"]}

PLAN_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "berth plan",
    "type": "object",
    "properties": {
        "format": {"enum": [PLAN_FORMAT]},
        "problem": TEXT,
        "policy": TEXT,
        "seed": {"type": "integer"},
        "goal": _map(_FIGURE),
        "status": {"enum": ["optimal", "feasible", "infeasible", "unknown"]},
        "reason": {"type": ["string", "null"]},
        "objective": _MAYBE_NUMBER,
        "bound": _MAYBE_NUMBER,
        "gap": _MAYBE_NUMBER,
        "seconds": _FIGURE,
        "assignment": _map(TEXT),
        "containers": _map(TEXT),
        "downloads": _list(_DOWNLOAD),
        "reuse": _map(TEXT),
        "skipped": _list(TEXT),
        "metrics": _map(_FIGURE),
        "violations": _list(TEXT),
        "trace": {"type": "object"},
    },
    "required": ["assignment"],
}
