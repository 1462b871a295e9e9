"""What X0.2 and X0.3 share: ways that work in the latency space, turn by turn, beside S-ODP's two steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from berth.experiments.draws import named_generator
from berth.experiments.experiment import Row, Run, Setting
from berth.experiments.odp import coordinates, rounds, setups, timeline

CALIBRATIONS = (
    *setups.CALIBRATIONS,
    *coordinates.CALIBRATIONS,
    *rounds.CALIBRATIONS,
    *timeline.CALIBRATIONS,
)


def rows_beside(
    run: Run,
    setting: Setting,
    optimal: tuple[str, str],
    metric: str,
    ways: Mapping[str, rounds.Place],
    duration_s: float,
) -> Iterable[Row]:
    """All ways on one draw, each with the same coordinates at the same time.

    Args:
        run: which draw.
        setting: of the experiment.
        optimal: what S-ODP is called, and what it minimises.
        metric: what is followed over time.
        ways: the others by name.
        duration_s: how long it runs.
    """
    number = int(run.parameters["instance"])
    problem = setups.always_up(setting, number)
    seed = setups.seed_of(setting, number)
    first = rounds.first_step(problem, seed)
    name, objective = optimal
    methods: dict[str, Sequence[rounds.Step]] = {name: rounds.two_steps(problem, first, objective)}
    for way, place in ways.items():
        chance = named_generator(setting.seed, f"coordinates {number}")
        live = coordinates.LiveCoordinates(problem.network, chance)
        methods[way] = rounds.in_turns(problem, first, live, place, duration_s)
    return timeline.rows_of(number, problem, methods, metric, duration_s, seed)
