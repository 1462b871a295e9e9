"""Where and of what results were made: versions, processors, measured networks."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import berth
from berth.experiments.experiment import Setting
from berth.spark.machine import processors

NETWORKS = {
    "planetlab_490": "PlanetLab",
    "skyplane_69": "cloud regions",
    "fit_iot_283": "an IoT test-bed",
    "topology_zoo": "Internet providers",
}
"""The folders of measured networks, and what they are."""
LIBRARIES = {"Spark": "pyspark", "OR-tools": "ortools", "numpy": "numpy", "numba": "numba", "scipy": "scipy"}


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to judge and to repeat the results.

    Attributes:
        made: when.
        command: the command that made them; `command_for` is that of a single experiment.
        options: the options that each experiment was run with.
        setting: the setting.
        versions: what it ran on, by name.
        processor: the processors' kind and number.
        networks: the measured networks that are there; none: all are synthetic.
    """

    made: str
    command: str
    options: str
    setting: Setting
    versions: dict[str, str]
    processor: str
    networks: tuple[str, ...]

    def command_for(self, experiment: str) -> str:
        """The command that makes one experiment's figure."""
        return " ".join(["berth reproduce", experiment, self.options]).rstrip()


def provenance_of(setting: Setting, command: str, options: str) -> Provenance:
    """The provenance of what is made here and now."""
    versions = {"berth": berth.__version__, "Python": platform.python_version()}
    versions |= {name: version(package) for name, package in LIBRARIES.items()}
    return Provenance(
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        command,
        options,
        setting,
        versions,
        f"{processors()} x {_processor()}",
        measured_networks(setting.data),
    )


def measured_networks(data: Path | None) -> tuple[str, ...]:
    """The measured networks that are there."""
    if data is None:
        return ()
    return tuple(f"{name} ({folder})" for folder, name in NETWORKS.items() if (data / folder).is_dir())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
