"""Problems by the recipe: the workloads and networks of the papers' experiments, from a seed."""

from berth.generators.generate import GENERATORS, find_generator, generate, generate_with
from berth.generators.generator import About, Delays, Generator

__all__ = ["GENERATORS", "About", "Delays", "Generator", "find_generator", "generate", "generate_with"]
