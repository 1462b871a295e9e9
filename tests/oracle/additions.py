"""Hypothesis strategies for what came later: cores, tuples, `forward`, utilisation, losses, goals in order.

They take a problem of `problems` and add to it, so the problems made there mean what they meant.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from hypothesis import strategies

from . import constraints, losses
from .enumerate import all_moves, all_plans
from .losses import Scenario
from .problems import (
    Dice,
    Shape,
    make_problem,
    plans,
    sharing_problems,
    usable_objectives,
)
from .processors import load
from .situation import Model, Situation

Entry = dict[str, Any]

CORES = (2, 4, 1, 0.5, 3, 1.5)
TUPLE_SIZES = (100, 10, 1000, 1, 50, 0.5)
MAX_UTILISATIONS = (1, 0.8, 0.5, 0.3, 1.0)
WITHIN = (0, 0.05, 0.2, 0.5)


def add_processors(dice: Dice, problem: Entry, *, known: bool) -> None:
    """Draw cores and the sizes of tuples; known: so that every load is known."""
    for node in problem["network"]["nodes"]:
        dice.maybe(node, "cores", CORES)
    for application in problem["applications"]:
        for stream in application.get("streams", []):
            dice.maybe(stream, "tuple_bytes", TUPLE_SIZES, 1 if known else 2)
        if known:
            rest_the_lonely(application)


def rest_the_lonely(application: Entry) -> None:
    """Take the work from operators without any stream, whose load would be unknown."""
    busy = {stream[end] for stream in application.get("streams", []) for end in ("from", "to")}
    for operator in application["operators"]:
        if operator["name"] not in busy and "throughput_per_s" not in application and "type" not in operator:
            operator.pop("work_ms", None)


def add_forward(dice: Dice, problem: Entry, most_instances: int) -> None:
    """Draw streams of grouping `forward`, and the parallelism that they need.

    Their senders have no type: an equal operator of another parallelism could take such a sender's place.
    """
    for application in problem["applications"]:
        operators = {operator["name"]: operator for operator in application["operators"]}
        settled: set[str] = set()  # a stream needs the parallelism that these have
        for stream in application.get("streams", []):
            ends = [operators[stream["from"]], operators[stream["to"]]]
            wanted = ends[0].get("parallelism", 1) if ends[0]["name"] in settled else dice.pick((1, 2, 3))
            changed = [end for end in ends if end.get("parallelism", 1) != wanted]
            more = sum(wanted - end.get("parallelism", 1) for end in changed)
            fits = count_instances(problem) + more <= most_instances
            free = all(end["name"] not in settled for end in changed)
            if "type" not in ends[0] and fits and free and dice.whether(3):
                stream["grouping"] = "forward"
                settled |= {end["name"] for end in ends}
                for end in changed:
                    end["parallelism"] = wanted


def count_instances(problem: Entry) -> int:
    """Count the instances of a problem."""
    operators = [operator for application in problem["applications"] for operator in application["operators"]]
    return sum(operator.get("parallelism", 1) for operator in operators)


def all_loads_known(problem: Entry) -> bool:
    """Tell whether every instance has a load, so that utilisation may be limited or minimised."""
    structure = Model(problem).structure({}, ())
    return all(load(structure, instance) is not None for instance in structure.instances)


def add_survival(dice: Dice, problem: Entry) -> None:
    """Draw what a plan has to survive; nodes of one zone are numbered or named."""
    if dice.whether(4):
        number_the_zones(dice, problem)
    problem["survive"] = "node" if dice.whether() else {"label": dice.pick(("zone", "zone", "tier"))}


def number_the_zones(dice: Dice, problem: Entry) -> None:
    """Turn zones into numbers, as numbers or as text: "1" and 1 are one value."""
    numbers: dict[str, tuple[int | str, ...]] = {"north": (1, "1"), "south": (2, "2")}
    for labels in labels_of(problem):
        if "zone" in labels:
            labels["zone"] = dice.pick(numbers[labels["zone"]])


def labels_of(problem: Entry) -> Iterator[Entry]:
    """Go through all mappings from labels to values: those of nodes, and those of `where` rules."""
    for node in problem["network"]["nodes"]:
        yield node.get("labels", {})
    for application in problem["applications"]:
        for rule in application.get("rules", []):
            yield rule.get("where", {})


def addable_objectives(problem: Entry) -> list[str]:
    """Return the objectives that can be computed for every plan that keeps all constraints."""
    found = list(usable_objectives(problem))
    if "utilisation_max" not in found and all_loads_known(problem):
        found.append("utilisation_max")
    if losses.scenarios(Model(problem)):
        found.append("failover_response_time")
    return found


def add_goals(dice: Dice, problem: Entry) -> None:
    """Draw goals in order, most of them a single metric, some a raw sum."""
    problem.pop("objective_bounds", None)
    keys = dice.shuffled(addable_objectives(problem))
    problem["objective_scale"] = "raw"
    problem["objective"] = [{key: 1} for key in keys[: dice.count(1, 3)]]
    if dice.whether(3):
        summed = [key for key in keys if key != "availability"]  # tested elsewhere: it takes long
        problem["objective"][0] = {key: dice.pick((1, 0.5, 2)) for key in summed[:2]}
    if dice.whether():
        problem["objective_within"] = [dice.pick(WITHIN) for _ in problem["objective"]]


@strategies.composite
def added_problems(
    draw: strategies.DrawFn, *, max_nodes: int = 5, max_instances: int = 8, survive: bool | None = None
) -> Entry:
    """Make random problems with everything that came later; survive: with losses, without, or either."""
    dice = Dice(draw)
    with_losses = dice.whether() if survive is None else survive
    known = not dice.whether(4)
    shape = Shape(
        min_nodes=2,
        max_nodes=max_nodes,
        min_operators=2,
        max_applications=3,
        max_instances=max_instances,
        objects=not with_losses,
        containers=not with_losses,
        rates_known=known,
        generous=not dice.whether(4),
    )
    problem = make_problem(dice, shape)
    problem.pop("objective", None)
    problem.pop("objective_bounds", None)
    add_all(dice, problem, with_losses=with_losses, known=known, max_instances=max_instances)
    return problem


@strategies.composite
def added_sharing_problems(draw: strategies.DrawFn, *, survive: bool = False) -> Entry:
    """Make random problems whose applications compute the same things, with everything that came later."""
    dice = Dice(draw)
    problem = draw(sharing_problems(max_instances=8))
    problem.pop("objective", None)
    problem.pop("objective_bounds", None)
    if survive:
        drop_objects(problem)
    add_all(dice, problem, with_losses=survive, known=not dice.whether(4), max_instances=8)
    return problem


def drop_objects(problem: Entry) -> None:
    """Take away what operators read: losses and objects are not for one problem."""
    del problem["objects"]
    for node in problem["network"]["nodes"]:
        node.pop("holds", None)
    for application in problem["applications"]:
        for operator in application["operators"]:
            operator.pop("reads", None)


def add_all(dice: Dice, problem: Entry, *, with_losses: bool, known: bool, max_instances: int) -> None:
    """Draw everything but goals."""
    add_forward(dice, problem, max_instances)
    add_processors(dice, problem, known=known)
    if all_loads_known(problem) and dice.whether(3):
        problem["network"]["max_utilisation"] = dice.pick(MAX_UTILISATIONS)
    if with_losses:
        add_survival(dice, problem)


@strategies.composite
def goal_problems(
    draw: strategies.DrawFn, *, max_nodes: int = 4, max_instances: int = 5, survive: bool | None = None
) -> Entry:
    """Make random problems with goals in order, small enough to enumerate; nothing is shared."""
    dice = Dice(draw)
    shape = Shape(
        min_nodes=2,
        max_nodes=max_nodes,
        min_operators=2,
        max_operators=4,
        max_instances=max_instances,
        objects=False,
        containers=False,
        rates_known=True,
        throughputs=dice.whether(),
        generous=not dice.whether(5),
    )
    problem = make_problem(dice, shape)
    with_losses = dice.whether() if survive is None else survive
    add_all(dice, problem, with_losses=with_losses, known=True, max_instances=max_instances)
    problem["sharing"] = False
    add_goals(dice, problem)
    return problem


# Plans


@strategies.composite
def plans_with_failovers(draw: strategies.DrawFn, problem: Entry) -> Entry:
    """Make random plans, many of them right, with failovers of which many are right."""
    dice = Dice(draw)
    model = Model(problem)
    right = list(islice(right_plans(model), 12)) if not dice.whether(4) else []
    plan: Entry = {"format": "berth-plan/v1", "problem": problem["name"]}
    if right:
        plan["assignment"] = dice.pick(right)["assignment"]
    else:
        plan["assignment"] = draw(plans(problem, wrong=dice.whether(4)))["assignment"]
    situation = model.situation(plan)
    if situation.missing:
        return plan
    failover = {}
    for scenario in losses.scenarios(model):
        moves = make_moves(dice, scenario, situation)
        if moves or dice.whether():
            failover[scenario.name] = moves
    if failover or dice.whether():
        plan["failover"] = failover
    return plan


def right_plans(model: Model) -> Iterator[Entry]:
    """Go through some plans that break nothing as long as nothing is lost."""
    for plan in islice(all_plans(model, model.structure({}, ())), 200):
        if next(constraints.violations(model.situation(plan)), None) is None:
            yield plan


def make_moves(dice: Dice, scenario: Scenario, situation: Situation) -> dict[str, str]:
    """Draw where the instances move that lose their node, and perhaps a mistake."""
    movers = [instance.name for instance in scenario.movers(situation)]
    possible = list(islice(all_moves(scenario, situation, movers), 6))
    moves = dict(dice.pick(possible)) if possible else {}
    if dice.whether(6):
        spoil_moves(dice, scenario, situation, moves)
    return moves


def spoil_moves(dice: Dice, scenario: Scenario, situation: Situation, moves: dict[str, str]) -> None:
    """Forget an instance, move one to a lost node or anywhere, or name one that is lost or stays."""
    names = [node["name"] for node in situation.network.nodes]
    mistake = dice.pick(("forget", "needless", "anywhere", "lost"))
    if mistake == "forget" and moves:
        del moves[dice.pick(sorted(moves))]
    elif mistake == "lost" and moves:
        moves[dice.pick(sorted(moves))] = dice.pick(sorted(scenario.nodes))
    elif mistake == "anywhere" and moves:
        moves[dice.pick(sorted(moves))] = dice.pick(names)
    elif mistake == "needless":
        moves[dice.pick([instance.name for instance in situation.placed])] = dice.pick(names)
