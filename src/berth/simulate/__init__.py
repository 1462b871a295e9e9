"""A running plan, tuple by tuple: what queues, links, failures and migrations make of it."""

from berth.simulate.events import Events, Failure, Migration, NodeLoss, RateChange
from berth.simulate.options import Options
from berth.simulate.results import Measured, Simulation, simulation_document, simulation_tables
from berth.simulate.simulation import Planner, simulate

__all__ = [
    "Events",
    "Failure",
    "Measured",
    "Migration",
    "NodeLoss",
    "Options",
    "Planner",
    "RateChange",
    "Simulation",
    "simulate",
    "simulation_document",
    "simulation_tables",
]
