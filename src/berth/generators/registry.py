"""All generators by name: a new one is a line here."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from berth.generators.generator import Generator
from berth.model import BadInput
from berth.model.suggest import did_you_mean

GENERATORS = {
    "forest": "berth.generators.forest:Forest",
}


def find_generator(name: str) -> Generator:
    """The generator of that name.

    Raises:
        BadInput: there is none.
    """
    if name not in GENERATORS:
        raise BadInput([f"KIND: no kind {did_you_mean(name, GENERATORS)}; 'berth generate --list' has them"])
    module, attribute = GENERATORS[name].split(":")
    return cast(Generator, getattr(import_module(module), attribute)())
