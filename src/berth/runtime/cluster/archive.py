"""An archive of the classes that daemons load, as Java keeps them: with it they start in half the time.

The first worker that runs without one writes it when it ends. Java itself checks that an archive fits, and
does without where it doesn't.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

PREFIX = "daemons-"


@dataclass(frozen=True)
class Archive:
    """The archive for one Java and one Spark."""

    file: Path

    def reading(self) -> list[str]:
        """The options that use it; none while there is none."""
        return [f"-XX:SharedArchiveFile={self.file}"] if self.file.exists() else []

    def writing(self, aside: Path) -> list[str]:
        """The options that write it to another place first; none if it is there."""
        return [] if self.file.exists() else [f"-XX:ArchiveClassesAtExit={aside}"]

    def take(self, aside: Path) -> None:
        """Take what was written whole to its place, and remove those of other versions."""
        if not aside.exists():
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            arriving = self.file.with_suffix(f".{os.getpid()}")
            shutil.move(aside, arriving)
            arriving.rename(self.file)
            for other in self.file.parent.glob(f"{PREFIX}*"):
                if other != self.file:
                    other.unlink(missing_ok=True)
        except OSError as error:
            print(f"no archive of classes is kept: {error}", flush=True)


def archive_for(java: str, spark_home: str) -> Archive:
    """The archive of this Java and this Spark, whether it is there or not."""
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parts = [os.path.realpath(java), spark_home, *map(_changed, (java, f"{spark_home}/jars"))]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return Archive(Path(folder) / "berth" / f"{PREFIX}{key}.jsa")


def _changed(path: str) -> str:
    try:
        return str(os.stat(path).st_mtime_ns)
    except OSError:
        return ""
