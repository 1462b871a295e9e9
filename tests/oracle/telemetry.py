"""Telemetry of a problem, slowly: which lines are records, and what these say of links, nodes and operators.

Section 5 of the contract in plain Python. Everything is in memory, every level is a plain median, and a
node's availability is added up piece by piece.
"""

import codecs
import gzip
import json
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

from .network import Network

Entry = dict[str, Any]
Stream = tuple[str, str, str]

EPOCH = datetime.fromtimestamp(0, UTC)
DAY_MS = 86_400_000.0
YEAR_MS = 366 * DAY_MS
SILENCE = 3
SMALLEST = 1e-3
"""Of a number that can't be 0."""


@dataclass(frozen=True)
class Bad:
    """A line that is no record: the field that is wrong, or None where the line as a whole can't be read.

    Without a line it is the file that can't be read.
    """

    folder: str
    file: str
    line: str | None
    field: str | None


@dataclass
class Telemetry:
    """What was read: the good records of each folder, with `ts` in ms, and the bad lines."""

    probes: list[Entry] = field(default_factory=list)
    heartbeats: list[Entry] = field(default_factory=list)
    operators: list[Entry] = field(default_factory=list)
    streams: list[Entry] = field(default_factory=list)
    bad: list[Bad] = field(default_factory=list)


FOLDERS = ("probes", "heartbeats", "operators", "streams")


class Names:
    """The names of a problem that records may use."""

    def __init__(self, problem: Entry) -> None:
        """Collect nodes, operators with their instances, and streams."""
        self.nodes = {node["name"] for node in problem["network"]["nodes"]}
        self.applications = {application["name"] for application in problem["applications"]}
        self.operators: set[tuple[str, str]] = set()
        self.instances: set[Stream] = set()
        self.streams: set[Stream] = set()
        for application in problem["applications"]:
            for operator in application["operators"]:
                self.operators.add((application["name"], operator["name"]))
                count = operator.get("parallelism", 1)
                for number in range(count):
                    instance = operator["name"] if count == 1 else f"{operator['name']}#{number}"
                    self.instances.add((application["name"], operator["name"], instance))
            for stream in application.get("streams", []):
                self.streams.add((application["name"], stream["from"], stream["to"]))


def read(folder: Path, problem: Entry, now_ms: float, clock_skew_ms: float = 10_000.0) -> Telemetry:
    """Read the four folders of JSON lines below a folder."""
    telemetry = Telemetry()
    names = Names(problem)
    for name in FOLDERS:
        for path in sorted((folder / name).rglob("*")):
            if path.is_dir() or any(part[0] in "._" for part in path.relative_to(folder).parts):
                continue
            file = path.relative_to(folder).as_posix()
            try:
                found = list(lines(path))
            except (OSError, EOFError, zlib.error):
                telemetry.bad.append(Bad(name, file, None, None))
                continue
            for line in found:
                verdict = judge(name, line, names, now_ms + clock_skew_ms)
                if isinstance(verdict, dict):
                    getattr(telemetry, name).append(verdict)
                else:
                    telemetry.bad.append(Bad(name, file, line.decode(errors="replace"), verdict))
    return telemetry


def lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file that are not blank, compressed or not, whatever their ends."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    for line in re.split(b"\r\n|\n|\r", data.removeprefix(codecs.BOM_UTF8)):
        if line.strip():
            yield line


def judge(folder: str, line: bytes, names: Names, latest_ms: float) -> Entry | str | None:
    """Return the record of a line; or, where it is none, the field that is wrong (None: the whole line)."""
    try:
        raw = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict):
        return None
    record: Entry = {}
    for name, convert in FIELDS[folder].items():
        value = convert(raw.get(name))
        if value is None and not (name in OPTIONAL and raw.get(name) is None):
            return name
        record[name] = value
    if record["ts"] > latest_ms:
        return "ts"
    return _unknown(folder, record, names) or _impossible(folder, record) or record


def _unknown(folder: str, record: Entry, names: Names) -> str | None:
    """Return the field with a name that the problem doesn't have."""
    if folder in ("probes", "heartbeats"):
        ends = ("from", "to") if folder == "probes" else ("node",)
        return next((end for end in ends if record[end] not in names.nodes), None)
    if record["application"] not in names.applications:
        return "application"
    application = record["application"]
    if folder == "operators":
        if (application, record["operator"]) not in names.operators:
            return "operator"
        if (application, record["operator"], record["instance"]) not in names.instances:
            return "instance"
        return None if record["node"] in names.nodes else "node"
    for end in ("from", "to"):
        if (application, record[end]) not in names.operators:
            return end
    return None if (application, record["from"], record["to"]) in names.streams else "to"


def _impossible(folder: str, record: Entry) -> str | None:
    """Return the field whose value can't be, given the others."""
    if folder == "probes" and record["from"] == record["to"]:
        return "to"
    if folder == "heartbeats" and record["up"] and record["mips"] is not None and record["mips"] < SMALLEST:
        return "mips"
    if folder == "streams" and record["window_ms"] < SMALLEST:
        return "window_ms"
    return None


def _time(value: Any) -> int | None:
    """Return a time in whole ms; without a zone it is UTC, and a number as text is ms, too."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]+([.][0-9]*)?([eE][+]?[0-9]+)?", value):
        value = float(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        value = (moment - EPOCH) / timedelta(milliseconds=1)
    number = _number(math.inf)(value)
    return None if number is None else math.floor(number)


def _number(limit: float) -> Callable[[Any], float | None]:
    """Return a check for finite numbers from 0 to a limit."""

    def convert(value: Any) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) and 0 <= number <= limit else None

    return convert


def _name(value: Any) -> str | None:
    """Return a name; one that is a number is compared as its text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


OPTIONAL = {"mips", "run_queue"}
"""Contract: they "may be absent or null: then the record says only whether the node is up"."""

FIELDS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "probes": {"ts": _time, "from": _name, "to": _name, "rtt_ms": _number(DAY_MS)},
    "heartbeats": {
        "ts": _time,
        "node": _name,
        "up": _flag,
        "run_queue": _number(1e9),
        "mips": _number(1e12),
    },
    "operators": {
        "ts": _time,
        "application": _name,
        "operator": _name,
        "instance": _name,
        "node": _name,
        "tuples": _number(1e15),
        "busy_ms": _number(YEAR_MS),
    },
    "streams": {
        "ts": _time,
        "application": _name,
        "from": _name,
        "to": _name,
        "tuples": _number(1e15),
        "bytes": _number(1e18),
        "window_ms": _number(YEAR_MS),
    },
}


def pooled(problem: Entry) -> bool:
    """Whether both directions of a link are one: the network is symmetric, and so are its delays."""
    network = Network(problem["network"])
    delays = {pair: link.delay_ms for pair, link in network.links.items()}
    same = all(delays.get((end, start)) == delay for (start, end), delay in delays.items())
    return bool(problem["network"].get("symmetric", True)) and same


def link_of(problem: Entry, start: str, end: str) -> tuple[str, str]:
    """Return the direction in which a pair of nodes is listed."""
    if not pooled(problem):
        return (start, end)
    listed = {(link["from"], link["to"]) for link in problem["network"].get("links", ())}
    if len(listed & {(start, end), (end, start)}) == 1:
        return (start, end) if (start, end) in listed else (end, start)
    order = [node["name"] for node in problem["network"]["nodes"]]
    return (start, end) if order.index(start) < order.index(end) else (end, start)


def links(telemetry: Telemetry, problem: Entry) -> dict[tuple[str, str], Entry]:
    """Return delay and number of samples of every pair that was probed."""
    halves: dict[tuple[str, str], list[float]] = defaultdict(list)
    listed: dict[tuple[str, str], tuple[str, str]] = {}
    for probe in telemetry.probes:
        pair = (probe["from"], probe["to"])
        if pair not in listed:
            listed[pair] = link_of(problem, *pair)
        halves[listed[pair]].append(probe["rtt_ms"] / 2)
    return {pair: {"delay_ms": median(values), "samples": len(values)} for pair, values in halves.items()}


@dataclass(frozen=True)
class Piece:
    """A piece of a node's time in one state."""

    start: float
    end: float
    up: bool

    def within(self, start: float, end: float) -> float:
        """Return how much of it lies between two moments."""
        return max(0.0, min(self.end, end) - max(self.start, start))


def feed(telemetry: Telemetry) -> tuple[float, float]:
    """Return the first and the last moment of the heartbeats."""
    times = [beat["ts"] for beat in telemetry.heartbeats]
    return min(times), max(times)


def beats_of(telemetry: Telemetry) -> dict[str, list[Entry]]:
    """Return each node's heartbeats in the order of time."""
    beats: dict[str, list[Entry]] = defaultdict(list)
    for beat in sorted(telemetry.heartbeats, key=lambda beat: beat["ts"]):
        beats[beat["node"]].append(beat)
    return beats


def intervals(telemetry: Telemetry) -> dict[str, float | None]:
    """Return each node's interval; a node without one takes the median of the others'."""
    own: dict[str, float | None] = {}
    for node, beats in beats_of(telemetry).items():
        gaps = [later["ts"] - earlier["ts"] for earlier, later in pairwise(beats)]
        gaps = [gap for gap in gaps if gap > 0]
        own[node] = median(gaps) if gaps else None
    known = [interval for interval in own.values() if interval is not None]
    typical = median(known) if known else None
    return {node: typical if interval is None else interval for node, interval in own.items()}


def pieces(telemetry: Telemetry) -> dict[str, list[Piece]]:
    """Return the state of each node, piece by piece, from the feed's first to its last record."""
    first, last = feed(telemetry)
    interval_of = intervals(telemetry)
    states: dict[str, list[Piece]] = {}
    for node, beats in beats_of(telemetry).items():
        interval = interval_of[node]
        moments = [(beats[0]["up"], first, beats[0]["ts"])]
        moments += [(earlier["up"], earlier["ts"], later["ts"]) for earlier, later in pairwise(beats)]
        moments += [(beats[-1]["up"], beats[-1]["ts"], last)]
        states[node] = []
        for number, (up, start, end) in enumerate(moments):
            if interval is None or end - start <= SILENCE * interval:
                states[node].append(Piece(start, end, up))
            elif number == 0:
                # the silence before the first heartbeat: what is known of the state is at its end
                states[node] += [Piece(start, end - interval, False), Piece(end - interval, end, up)]
            else:
                states[node] += [Piece(start, start + interval, up), Piece(start + interval, end, False)]
    return states


def availability(telemetry: Telemetry, start: float, end: float) -> dict[str, float]:
    """Return the share of the time between two moments, within the feed, in which each node was up."""
    first, last = feed(telemetry)
    length = min(end, last) - max(start, first)
    return {
        node: sum(piece.within(start, end) for piece in states if piece.up) / length
        for node, states in pieces(telemetry).items()
        if length > 0
    }


def nodes(telemetry: Telemetry, problem: Entry, reference_mips: float | None = None) -> dict[str, Entry]:
    """Return availability, interval, speed and run queue of every node that was heard of."""
    found: dict[str, Entry] = {}
    shares = availability(telemetry, -math.inf, math.inf) if telemetry.heartbeats else {}
    interval_of = intervals(telemetry)
    for node, beats in beats_of(telemetry).items():
        alive = [beat for beat in beats if beat["up"]]
        found[node] = {
            "samples": len(beats),
            "availability": shares.get(node),
            "interval_ms": interval_of[node],
            "mips": _over(median, (beat["mips"] for beat in alive)),
            "run_queue": _over(fmean, (beat["run_queue"] for beat in alive)),
        }
    reference = reference_mips or _reference_mips(found, problem)
    for row in found.values():
        row["speed"] = None if row["mips"] is None or reference is None else row["mips"] / reference
    return found


def _over(middle: Callable[[list[float]], float], values: Iterable[float | None]) -> float | None:
    """Return a mean or median of the values that are there; None: there is none."""
    known = [value for value in values if value is not None]
    return middle(known) if known else None


def _reference_mips(found: dict[str, Entry], problem: Entry) -> float | None:
    ratios = [
        found[node["name"]]["mips"] / node.get("speed", 1.0)
        for node in problem["network"]["nodes"]
        if node["name"] in found and found[node["name"]]["mips"] is not None
    ]
    return median(ratios) if ratios else None


def streams(telemetry: Telemetry) -> dict[Stream, Entry]:
    """Return the rates and the tuple size of every stream that was measured."""
    records: dict[Stream, list[Entry]] = defaultdict(list)
    for record in telemetry.streams:
        records[record["application"], record["from"], record["to"]].append(record)
    found: dict[Stream, Entry] = {}
    for stream, measured in records.items():
        seconds = math.fsum(record["window_ms"] for record in measured) / 1000
        size = math.fsum(record["bytes"] for record in measured)
        tuples = math.fsum(record["tuples"] for record in measured)
        found[stream] = {
            "samples": len(measured),
            "bytes_per_s": size / seconds,
            "tuples_per_s": tuples / seconds,
            "tuple_bytes": size / tuples if tuples else None,
        }
    return found


def operators(
    telemetry: Telemetry, problem: Entry, reference_mips: float | None = None
) -> dict[tuple[str, str], Entry]:
    """Return work and selectivity of every operator that was measured in either."""
    speeds = {node["name"]: node.get("speed", 1.0) for node in problem["network"]["nodes"]}
    measured = nodes(telemetry, problem, reference_mips)
    speeds |= {node: row["speed"] for node, row in measured.items() if row["speed"] is not None}
    records: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for record in telemetry.operators:
        records[record["application"], record["operator"]].append(record)
    rates = streams(telemetry)
    found: dict[tuple[str, str], Entry] = {}
    for application in problem["applications"]:
        for operator in application["operators"]:
            key = (application["name"], operator["name"])
            work = math.fsum(record["busy_ms"] * speeds[record["node"]] for record in records[key])
            tuples = math.fsum(record["tuples"] for record in records[key])
            selectivity = _selectivity(application, operator["name"], rates)
            if records[key] or selectivity is not None:
                found[key] = {
                    "samples": len(records[key]),
                    "work_ms": work / tuples if tuples else None,
                    "selectivity": selectivity,
                }
    return found


def _selectivity(application: Entry, operator: str, rates: dict[Stream, Entry]) -> float | None:
    """Return output over input: every stream in must be measured, one stream out is enough."""
    ends = [(stream["from"], stream["to"]) for stream in application.get("streams", [])]
    inputs = [rates.get((application["name"], *pair)) for pair in ends if pair[1] == operator]
    outputs = [rates.get((application["name"], *pair)) for pair in ends if pair[0] == operator]
    coming = [row["bytes_per_s"] for row in inputs if row is not None]
    going = [row["bytes_per_s"] for row in outputs if row is not None]
    if not inputs or len(coming) < len(inputs) or not going or sum(coming) <= 0:
        return None
    return fmean(going) / math.fsum(coming)


def windows(telemetry: Telemetry, seconds: float) -> dict[float, Telemetry]:
    """Split records into tumbling windows, counted from the epoch, by their start in ms."""
    width = seconds * 1000
    split: dict[float, Telemetry] = defaultdict(Telemetry)
    for folder in FOLDERS:
        for record in getattr(telemetry, folder):
            getattr(split[math.floor(record["ts"] / width) * width], folder).append(record)
    return dict(sorted(split.items()))


def smooth(values: Iterable[float | None], weight: float = 0.3) -> list[float | None]:
    """Return the exponential moving average: the first value starts it, a missing one leaves it as it is."""
    smoothed: list[float | None] = []
    level: float | None = None
    for value in values:
        if value is not None:
            level = value if level is None else weight * value + (1 - weight) * level
        smoothed.append(level)
    return smoothed
