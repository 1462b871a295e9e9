"""Other systems' formats, in and out."""

from berth.connectors.export import Request, System, exported, write_all
from berth.connectors.load import Loaded, evaluate_packing, load_any
from berth.connectors.nomad import JobOptions

__all__ = [
    "JobOptions",
    "Loaded",
    "Request",
    "System",
    "evaluate_packing",
    "exported",
    "load_any",
    "write_all",
]
