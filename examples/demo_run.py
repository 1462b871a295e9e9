"""The third part of `make demo`: plans that run. Tag-and-Count stays, an edge pipeline is moved."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

from rich.markup import escape

from berth.cli.output import out, plain_table

HERE = Path(__file__).resolve().parent
POSTS, TAGS = 300, ("#spark", "#berth", "#stream", "#rome", "#dublin", "#ok")
MANY, FEW = 60, 4
"""Readings a second of the busy site and of the quiet one."""
LONGEST_SECONDS, QUIET_SECONDS = 120.0, 5.0
"""For each step of the watch; and for batches that are still under way."""


def run_tag_and_count(plan: Path, folder: Path) -> None:
    """Run the application of the paper's figure by the fastest plan; every operator says where it ran."""
    _heading("Tag-and-Count runs on Spark, every operator on its planned node")
    posts, ranks = folder / "posts", folder / "ranks"
    shutil.rmtree(ranks, ignore_errors=True)
    counted = write_posts(posts)
    command = ["run", _shown(HERE / "tag_and_count.py"), "--problem", _shown(HERE / "tag-and-count.yaml")]
    command += ["--plan", str(plan), "--once", "--fresh", "--out", str(folder / "tag-and-count.run")]
    _berth(command, {"POSTS": str(posts), "RANKS": str(ranks)})
    seen = _last_values(ranks, "tag", "times")
    table = plain_table("tag", "written", "counted", right=(1, 2))
    for tag, times in sorted(counted.items(), key=lambda item: -item[1]):
        table.add_row(tag, f"{times:,}", f"{seen.get(tag, 0):,}")
    out.print(table)


def watch_edge_pipeline(folder: Path) -> None:
    """Watch an application whose rates turn around: measured, planned again, moved, nothing lost."""
    _heading("An edge pipeline is watched: its first plan knows no rates; later they turn around")
    readings, board = folder / "readings", folder / "board"
    shutil.rmtree(board, ignore_errors=True)
    place = folder / "edge-pipeline.run"
    feed = Feed(readings)
    command = ["watch", _shown(HERE / "edge_pipeline.py"), "--problem", _shown(HERE / "edge-pipeline.yaml")]
    command += ["--objective", "network_usage", "--emulate-network", "1", "--batch-every", "2"]
    command += ["--fresh", "--out", str(place)]
    command += ["--every", "12", "--confirmations", "1", "--cool-down", "12"]
    history = place / "history.jsonl"
    history.unlink(missing_ok=True)
    # the sensors don't wait for us
    with feed:
        process = _start_berth(command, {"READINGS": str(readings), "BOARD": str(board)})
        try:
            _await(history, {"started"}, 0.0, process)
            if _await(history, {"migrated"}, 0.0, process):
                out.print("the north gets quiet, the south gets busy", style="bold")
                feed.turned = time.time()
                _await(history, {"migrated"}, feed.turned, process)
            feed.stop()
            # what is still under way
            time.sleep(QUIET_SECONDS)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            code = process.wait(120)
    if code:
        sys.exit(code)
    counted = sum(_last_values(board, "sensor", "readings").values())
    if counted != feed.rows:
        sys.exit(f"the board has counted {counted:,} readings, and {feed.rows:,} were written")
    out.print(f"\nThe board has counted {counted:,} readings; so many were written, and none counted twice.")
    out.print(f"Look at {place}/report.html and {place}/timeline.svg", soft_wrap=True)


def _await(history: Path, names: set[str], since: float, process: subprocess.Popen[bytes]) -> bool:
    """Wait for an event of the watch that came later than a moment."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if any(event["event"] in names and _seconds(event["time"]) > since for event in _events(history)):
            return True
        time.sleep(0.5)
    return False


def _seconds(moment: object) -> float:
    return datetime.fromisoformat(str(moment)).timestamp()


class Feed(threading.Thread):
    """Writes readings of two sites, a file a second each; one site is busy, and later the other."""

    def __init__(self, folder: Path) -> None:
        super().__init__(name="feed", daemon=True)
        self._folder = folder
        self._done = threading.Event()
        self._random = random.Random(1)
        self.turned = 0.0
        self.rows = 0

        for site in ("north", "south"):
            target = folder / site
            target.mkdir(parents=True, exist_ok=True)
            for old in target.iterdir():
                old.unlink()

    def __enter__(self) -> Feed:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """No more readings."""
        self._done.set()
        self.join()

    def run(self) -> None:
        """Until the demo ends."""
        number = 0
        while not self._done.wait(1.0):
            number += 1
            busy, quiet = ("south", "north") if self.turned else ("north", "south")
            for site, rows in ((busy, MANY), (quiet, FEW)):
                self._write(self._folder / site, number, rows)

    def _write(self, folder: Path, number: int, rows: int) -> None:
        lines = [
            json.dumps(
                {
                    "sensor": f"{folder.name}-{self._random.randrange(5)}",
                    "value": round(self._random.gauss(20, 5), 2),
                    "note": "measured by a sensor that has a lot to say for itself " * 3,
                }
            )
            for _ in range(rows)
        ]
        aside = folder / f".{number:06}.json"
        aside.write_text("\n".join(lines) + "\n")
        aside.rename(folder / f"{number:06}.json")
        self.rows += rows


def write_posts(folder: Path) -> dict[str, int]:
    """Some posts with hashtags, in three files; gives how often each tag that counts is in them."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    chance = random.Random(0)
    counted: dict[str, int] = {}
    for number in range(3):
        lines = []
        for _ in range(POSTS):
            tags = chance.choices(TAGS, weights=range(len(TAGS), 0, -1), k=2)
            lines.append(json.dumps({"text": f"a post about {' and '.join(tags)}"}))
            for tag in tags:
                counted[tag] = counted.get(tag, 0) + 1
        (folder / f"{number}.json").write_text("\n".join(lines) + "\n")
    return counted


def _last_values(folder: Path, key: str, value: str) -> dict[str, int]:
    """What the newest batch that mentions a key says of it."""
    found: dict[str, int] = {}
    for batch in sorted(folder.glob("batch=*"), key=lambda path: int(path.name.partition("=")[2])):
        for file in batch.glob("*.json"):
            for row in map(json.loads, file.read_text().splitlines()):
                found[row[key]] = row[value]
    return found


def _events(history: Path) -> list[dict[str, object]]:
    if not history.exists():
        return []
    return [json.loads(line) for line in history.read_text().splitlines() if line.endswith("}")]


def _berth(command: list[str], variables: dict[str, str]) -> None:
    code = _start_berth(command, variables).wait()
    if code:
        sys.exit(code)


def _start_berth(command: list[str], variables: dict[str, str]) -> subprocess.Popen[bytes]:
    words = [*(f"{name}={value}" for name, value in variables.items()), "berth", *command]
    out.print(f"$ {shlex.join(words)}", markup=False, soft_wrap=True, style="dim")
    program = [sys.executable, "-m", "berth.cli.entry", *command]
    return subprocess.Popen(program, env=os.environ | variables)


def _heading(text: str) -> None:
    out.print(f"\n[bold]{escape(text)}[/]")


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
