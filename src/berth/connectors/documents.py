"""What documents for other systems are made of: amounts that they know, names that they accept, text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from berth.model import Application, BadInput

UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
"""What memory and disk of a problem may be counted in, in bytes."""
KNOWN = ("cpu", "memory", "ram", "disk")
LARGEST = 2**63 - 1
"""The largest whole number that the other systems can hold."""
MOST_CORES = 10**9
LONGEST = 100


@dataclass(frozen=True)
class Amounts:
    """What an instance or a container takes; 0: nothing said."""

    cpu: float
    memory: int
    disk: int


def amounts_of(resources: Mapping[str, float], unit: str, path: str) -> Amounts:
    """The resources that other systems know; whole bytes, rounded up.

    Raises:
        BadInput: memory is named twice, or an amount is too large.
    """
    if "memory" in resources and "ram" in resources:
        raise BadInput(f"{path}: 'memory' and 'ram' are the same to other systems; keep one")
    cpu, sizes = float(resources.get("cpu", 0.0)), {}
    if cpu > MOST_CORES:
        raise BadInput(f"{path}.cpu: {cpu:g} cores are more than other systems can count")
    for name in ("memory", "ram", "disk"):
        size = resources.get(name, 0.0) * UNITS[unit]
        if size > LARGEST:
            raise BadInput(f"{path}.{name}: {size:g} bytes are more than other systems can count")
        sizes[name] = whole(size)
    return Amounts(cpu, sizes["memory"] + sizes["ram"], sizes["disk"])


def whole(amount: float) -> int:
    """The next whole number, but not because of a rounding error."""
    nearest = round(amount)
    return nearest if math.isclose(amount, nearest, rel_tol=1e-9) else math.ceil(amount)


def without_place(application: Application) -> list[str]:
    """The resources of an application that other systems have no place for."""
    containers = {} if application.containers is None else application.containers.capacity
    maps = (containers, *(operator.demand for operator in application.operators))
    return [name for name in dict.fromkeys(name for item in maps for name in item) if name not in KNOWN]


def safe_names(names: Iterable[str]) -> list[str]:
    """For every name one of letters, digits, `_`, `.` and `-`, as near to it as possible, no two the same."""
    taken: set[str] = set()
    found = []
    for name in names:
        wanted = re.sub(r"^[.-]|[^\w.-]", "_", name)[:LONGEST] or "_"
        unique, count = wanted, 1
        while unique.casefold() in taken:
            count += 1
            unique = f"{wanted}-{count}"
        taken.add(unique.casefold())
        found.append(unique)
    return found


@dataclass(frozen=True)
class Written:
    """A document, and what to tell the user about it."""

    document: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The file's text."""
        return json.dumps(self.document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
