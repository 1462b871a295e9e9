"""All generators by name: a new one is a line here."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from berth.generators.generator import Generator
from berth.model import BadInput
from berth.model.suggest import did_you_mean

GENERATORS = {
    "fat": "berth.generators.fat:Fat",
    "fat-tree": "berth.generators.fat_tree:FatTree",
    "forest": "berth.generators.forest:Forest",
    "jellyfish": "berth.generators.jellyfish:Jellyfish",
    "matrices": "berth.generators.matrices:Matrices",
    "random-graph": "berth.generators.random_graph:RandomGraph",
    "sequential": "berth.generators.sequential:Sequential",
    "stream-tree": "berth.generators.stream_tree:StreamTree",
    "tag-and-count": "berth.generators.tag_and_count:TagAndCount",
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
