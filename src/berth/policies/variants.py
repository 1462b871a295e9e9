"""How each problem is solved: every policy with every choice of its parameters and every seed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product

from berth.model import BadInput
from berth.model.errors import did_you_mean
from berth.policies import find_policy
from berth.policies.policy import parameters_from

MOST_SEEDS = 1_000_000


@dataclass(frozen=True)
class Variant:
    """One way to solve a problem."""

    policy: str
    seed: int = 0
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """The same text for the same variant, today and tomorrow."""
        return json.dumps([self.policy, dict(sorted(self.parameters.items())), self.seed])


def seeds_from(text: str) -> list[int]:
    """Seeds as they are typed: `3`, `0,5,7`, `0:10` (0 to 9), or several of these with commas.

    Raises:
        BadInput: it is none of these.
    """
    seeds: list[int] = []
    for part in text.split(","):
        first, colon, end = part.partition(":")
        try:
            found = range(int(first or "0"), int(end)) if colon else range(int(first), int(first) + 1)
        except ValueError:
            raise BadInput(
                [f"--seeds {text}: expected a number, FIRST:END or a list such as 0,5,7"]
            ) from None
        if not found:
            raise BadInput([f"--seeds {text}: {part} has no seed in it; the end is not included"])
        if len(found) + len(seeds) > MOST_SEEDS:
            raise BadInput([f"--seeds {text}: more than {MOST_SEEDS:,} seeds"])
        seeds.extend(found)
    return list(dict.fromkeys(seeds))


def variants_for(
    policies: Iterable[str], choices: Mapping[str, Sequence[str]], seeds: Iterable[int]
) -> list[Variant]:
    """Policies times the values of the parameters that they have, times seeds.

    A policy takes those of the parameters that it has, and is not repeated for the others.

    Raises:
        BadInput: an unknown policy, a parameter that none of them has, or a value of the wrong kind.
    """
    names = list(dict.fromkeys(policies))
    known: dict[str, list[str]] = {}
    mistakes: list[str] = []
    for name in names:
        try:
            known[name] = _parameters_of(name)
        except BadInput as error:
            mistakes += error.mistakes
    if mistakes:
        raise BadInput(mistakes)
    everywhere = sorted({parameter for found in known.values() for parameter in found})
    mistakes = [
        f"--set {parameter}: none of the policies {', '.join(names)} has a parameter "
        + did_you_mean(parameter, everywhere)
        for parameter in choices
        if parameter not in everywhere
    ]
    settings = {name: _combinations(choices, known[name]) for name in names}
    for name in names:
        mistakes += _wrong_values(name, settings[name])
    if mistakes:
        raise BadInput(dict.fromkeys(mistakes))
    numbers = list(seeds)
    return [Variant(name, seed, chosen) for name in names for chosen in settings[name] for seed in numbers]


def _parameters_of(policy: str) -> list[str]:
    return [item.name for item in fields(find_policy(policy).parameters)]


def _combinations(choices: Mapping[str, Sequence[str]], known: Sequence[str]) -> list[dict[str, str]]:
    own = {name: list(dict.fromkeys(values)) for name, values in choices.items() if name in known}
    return [dict(zip(own, values, strict=True)) for values in product(*own.values())]


def _wrong_values(policy: str, settings: Iterable[dict[str, str]]) -> list[str]:
    kind = find_policy(policy).parameters
    mistakes: list[str] = []
    for chosen in settings:
        try:
            parameters_from(kind, chosen, policy)
        except BadInput as error:
            mistakes += error.mistakes
    return mistakes
