"""Small random problems with containers: all maps of instances to containers to servers can be tried."""

from typing import Any

from hypothesis import strategies

from tests.oracle.problems import Dice

Entry = dict[str, Any]

LETTERS = "wxyz"


@strategies.composite
def packed_problems(draw: strategies.DrawFn, objective: Entry | None = None) -> Entry:
    """Up to 5 instances, 2 or 3 containers, 2 to 4 servers, two resources, pins, rules, and more at times."""
    dice = Dice(draw)
    servers = [_server(dice, number) for number in range(dice.count(2, 4))]
    names = [server["name"] for server in servers]
    operators, instances = [], 0
    for letter in LETTERS[: dice.count(2, 4)]:
        parallelism = 2 if instances < 3 and dice.whether() else 1
        instances += parallelism
        operators.append(_operator(dice, letter, parallelism, names))
    letters = [operator["name"] for operator in operators]
    ends = [(one, other) for one in letters for other in letters if one < other]
    streams = [
        {"from": one, "to": other, "bytes_per_s": dice.pick((1, 5, 0.3, 0, 7.25))}
        for one, other in dice.some(ends, at_least=1)
    ]
    application: Entry = {
        "name": "a",
        "operators": operators,
        "streams": streams,
        "containers": {
            "count": dice.pick((3, 3, 2)),
            "capacity": {"cpu": dice.pick((4, 3, 2.5)), "gpu": dice.pick((3, 2))},
        },
    }
    _add_rules(dice, application, letters)
    applications = [application]
    if dice.whether(4):
        alone: Entry = {
            "name": "b",
            "operators": [{"name": "v", "demand": {"cpu": 2, "gpu": 1}}],
            "streams": [],
        }
        applications.append(alone)
    network: Entry = {
        "nodes": servers,
        "delay_ms": [[dice.pick((1, 2, 5, 0.5)) for _ in servers] for _ in servers],
        "cost": [[dice.pick((1, 2, 5)) for _ in servers] for _ in servers],
        "price_per_gb": [[dice.pick((0, 1e4)) for _ in servers] for _ in servers],
    }
    if dice.whether(4):
        network["delay_ms"][0][1] = None
    if dice.whether(3):
        network["bandwidth_bytes_per_s"] = [[dice.pick((100, 6, 9)) for _ in servers] for _ in servers]
    if dice.whether(5):
        network["headroom"] = 0.25
    raw: Entry = {"format": "berth/v1", "name": "packed", "network": network, "applications": applications}
    return raw if objective is None else {**raw, "objective": objective}


def _server(dice: Dice, number: int) -> Entry:
    server: Entry = {
        "name": f"s{number}",
        "capacity": {"cpu": dice.pick((8, 6, 12, 4)), "gpu": dice.pick((6, 8, 3))},
        "speed": dice.pick((1, 2)),
        "cost_per_hour": dice.pick((0, 1, 3)),
        "labels": {"zone": dice.pick(("north", "south"))},
    }
    if dice.whether(5):
        server["nic_bytes_per_s"] = dice.pick((20, 8))
    return server


def _operator(dice: Dice, name: str, parallelism: int, servers: list[str]) -> Entry:
    operator: Entry = {
        "name": name,
        "parallelism": parallelism,
        "demand": {"cpu": dice.pick((1, 0.1, 1.5, 2)), "gpu": dice.pick((0, 1))},
        "work_ms": dice.pick((1, 0, 10)),
    }
    if dice.whether(4):
        operator["candidates"] = dice.some(servers[:2], at_least=1)
    elif dice.whether(6):
        operator["pinned"] = dice.pick(servers)
    if dice.whether(3):
        operator["placement_cost"] = {servers[0]: 2.5}
    return operator


def _add_rules(dice: Dice, application: Entry, operators: list[str]) -> None:
    rules: list[Entry] = []
    if dice.whether(5):
        rules.append({"together": operators[:2]})
    if dice.whether(6):
        rules.append({"apart": operators[-1:], "by": "zone"})
    if dice.whether(6):
        application["max_response_time_ms"] = dice.pick((20, 12))
    if rules:
        application["rules"] = rules
