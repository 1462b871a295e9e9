"""Which rows belong together: those of one setting, one folder of data, and one state of the code."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import berth
from berth.experiments.experiment import Setting

ROOMS = ("evaluation", "exact", "files", "generators", "model", "policies", "simulate", "space")
"""What experiments compute with."""
LIBRARIES = ("numpy", "scipy", "numba", "ortools")
NO_DATA = "none"
_SHOWN = 12


@dataclass(frozen=True)
class Identity:
    """What the rows of an experiment depend on.

    Attributes:
        quick: whether it is the small part of the runs.
        seed: the seed.
        data: a mark of the measured networks' files; `none` where there are none.
        code: a mark of the code and of the libraries that it computes with.
    """

    quick: bool
    seed: int
    data: str
    code: str

    @property
    def columns(self) -> dict[str, Any]:
        """Its values by name."""
        return asdict(self)

    def same_question(self, other: Identity) -> bool:
        """Whether both were asked for the same, by whichever code."""
        return (self.quick, self.seed, self.data) == (other.quick, other.seed, other.data)

    def described(self) -> str:
        """For people: `quick, seed 0, with measured networks`."""
        networks = "without measured networks" if self.data == NO_DATA else "with measured networks"
        return f"{'quick' if self.quick else 'full'}, seed {self.seed}, {networks}"


def identity_of(setting: Setting, module: str) -> Identity:
    """The identity of what an experiment gives now."""
    return Identity(setting.quick, setting.seed, data_mark(setting.data), code_mark(module))


@lru_cache
def data_mark(folder: Path | None) -> str:
    """A mark of all files of a folder: of their names and of what is in them."""
    return (
        NO_DATA if folder is None else _mark(folder, (file for file in folder.rglob("*") if file.is_file()))
    )


@lru_cache
def code_mark(module: str) -> str:
    """A mark of an experiment's package and of all that it computes with."""
    home = Path(berth.__file__).parent
    experiments = home / "experiments"
    files = [file for room in ROOMS for file in (home / room).rglob("*.py")]
    files += [file for file in experiments.glob("*.py") if file.name != "registry.py"]
    package = module.removeprefix("berth.experiments.").rpartition(".")[0]
    own = experiments / package.replace(".", "/")
    if package and own.is_dir():
        files += own.rglob("*.py")
    libraries = [f"{name} {version(name)}" for name in LIBRARIES]
    return _mark(home, files, f"{module} {berth.__version__} {platform.python_version()} {libraries}")


def _mark(root: Path, files: Iterable[Path], more: str = "") -> str:
    total = sha256(more.encode())
    for file in sorted(set(files)):
        total.update(f"\n{file.relative_to(root)} ".encode())
        total.update(sha256(file.read_bytes()).digest())
    return total.hexdigest()[:_SHOWN]
