"""Problems by the recipe: the workloads and networks of the papers' experiments, from a seed."""

from berth.generators.generate import generate, generate_with
from berth.generators.generator import About, Generator
from berth.generators.measured import Delays
from berth.generators.registry import GENERATORS, find_generator

__all__ = ["GENERATORS", "About", "Delays", "Generator", "find_generator", "generate", "generate_with"]
