"""The master and the workers of Spark: their commands, settings and environment."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from berth.runtime.cluster.nodes import EXECUTOR_MB, ClusterNode, resource_name
from berth.runtime.cluster.secret import ENVIRONMENT, Secret

PREFIX = "daemons-"
ADDRESS = "127.0.0.1"
# A daemon starts once and then waits: the quick compiler and the collector without threads suit it best.
JAVA_OPTIONS = (
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    # a Java that knows no archives does without
    "-XX:+IgnoreUnrecognizedVMOptions",
)
# seconds without a heartbeat until the master gives a worker up; one that is killed is noticed at once
WORKER_TIMEOUT = 30
DAY = 24 * 3600
# what would come before our own settings, or lead others here
_DISTURBING = (
    *("SPARK_MASTER_", "SPARK_WORKER_", "SPARK_DAEMON_", "SPARK_EXECUTOR_"),
    *("SPARK_PUBLIC_DNS", "BERTH_NODE"),
)


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


def master_url_at(port: int) -> str:
    """Where applications and workers find the master that has this port."""
    return f"spark://{ADDRESS}:{port}"


def ui_url_at(port: int) -> str:
    """The web page at this port."""
    return f"http://{ADDRESS}:{port}"


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


@dataclass(frozen=True)
class Spark:
    """Where Spark and its Java are."""

    java: str
    home: str
    scala: str
    """The version of Scala that its jars are built for: executors don't start without."""


@dataclass(frozen=True)
class Daemon:
    """A process that is about to be started."""

    command: list[str]
    environment: dict[str, str]
    log: Path


@dataclass(frozen=True)
class Daemons:
    """The daemons of one cluster."""

    spark: Spark
    folder: Path
    port: int
    ui_port: int
    secret: Secret

    @property
    def master_url(self) -> str:
        """Where applications and workers find the master."""
        return master_url_at(self.port)

    @property
    def ui_url(self) -> str:
        """The master's web page."""
        return ui_url_at(self.ui_port)

    def master(self) -> Daemon:
        """The master; it takes the ports it is given, or ends."""
        settings = {
            "spark.port.maxRetries": 0,
            # a second port, for submitting applications by HTTP, that nobody here needs
            "spark.master.rest.enabled": "false",
            "spark.worker.timeout": WORKER_TIMEOUT,
        }
        properties = self._write("master.properties", _properties(settings | self.secret.daemon_settings()))
        command = self._command(
            "master.Master",
            self.archive.reading(),
            *("--properties-file", str(properties), "--host", ADDRESS),
            *("--port", str(self.port), "--webui-port", str(self.ui_port)),
        )
        return Daemon(command, self._environment(), self.log("master"))

    def worker(self, node: ClusterNode, *, archiving: bool = False) -> Daemon:
        """The worker of a node.

        It offers a core and a unit of its resource for each slot. One more of both, with memory, is for an
        executor of the driver's own jobs.
        """
        units, resource = node.slots + 1, resource_name(node.name)
        file = f"worker-{resource}"
        identity = {"componentName": "spark.worker", "resourceName": resource}
        offer = [{"id": identity, "addresses": [str(unit) for unit in range(units)]}]
        settings = {
            f"spark.worker.resource.{resource}.amount": units,
            "spark.worker.resourcesFile": self._write(f"{file}.json", json.dumps(offer)),
            "spark.worker.timeout": WORKER_TIMEOUT,
            "spark.worker.cleanup.enabled": "true",
            "spark.worker.cleanup.appDataTtl": DAY,
        }
        properties = self._write(f"{file}.properties", _properties(settings | self.secret.daemon_settings()))
        command = self._command(
            "worker.Worker",
            self.archive.writing(self.archive_aside) if archiving else self.archive.reading(),
            *("--properties-file", str(properties), "--work-dir", str(self.folder / "work" / resource)),
            *("--cores", str(units), "--memory", f"{node.memory_mb + EXECUTOR_MB}M"),
            *("--host", ADDRESS, "--webui-port", "0", self.master_url),
        )
        environment = self._environment() | {
            "BERTH_NODE": node.name,
            # what executors leave when they are killed goes with the folder
            "SPARK_LOCAL_DIRS": str(self.folder / "local" / resource),
        }
        return Daemon(command, environment, self.log(resource))

    def log(self, name: str) -> Path:
        """The file with all that a daemon says."""
        return self.folder / "logs" / f"{name}.log"

    @property
    def archive(self) -> Archive:
        """The classes that the daemons load, if somebody has written them down."""
        return archive_for(self.spark.java, self.spark.home)

    @property
    def archive_aside(self) -> Path:
        """Where a worker writes the archive to."""
        return self.folder / "classes.jsa"

    def _command(self, name: str, options: list[str], *arguments: str) -> list[str]:
        # Spark's own script would start a second Java to learn how to start the first
        java = [self.spark.java, "-cp", f"{self.spark.home}/jars/*", *JAVA_OPTIONS, *options]
        return [*java, f"org.apache.spark.deploy.{name}", *arguments]

    def _environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_DISTURBING)}
        ours = {"SPARK_HOME": self.spark.home, "SPARK_SCALA_VERSION": self.spark.scala}
        here = {"SPARK_LOCAL_IP": ADDRESS, "SPARK_LOCAL_HOSTNAME": ADDRESS}
        return kept | ours | here | {ENVIRONMENT: self.secret.text}

    def _write(self, name: str, text: str) -> Path:
        file = self.folder / "settings" / name
        file.parent.mkdir(mode=0o700, exist_ok=True)
        with open(file, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as stream:
            stream.write(text)
        return file


def _properties(settings: Mapping[str, object]) -> str:
    lines = (f"{key} {str(value).replace(chr(92), chr(92) * 2)}\n" for key, value in settings.items())
    return "".join(lines)
