"""The simulator's model once more, in plain Python: a queue of events by heapq, lists for queues.

Slow and obvious. It draws from the same generator in the same order, so results are equal tuple by tuple.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from berth.evaluation import Setting, Situation
from berth.model import Plan, Problem
from berth.model.randomness import generator_for
from berth.simulate import Options

Result = tuple[float, float, str, str]
"""Birth, end, source and sink."""


@dataclass
class Tuple:
    birth: float
    source: str
    instance: str
    size: float = 0.0
    way: list[tuple[str, str]] = field(default_factory=list)


def cores_of(cores: float) -> list[float]:
    """Whole cores and a part of one; the best comes last."""
    whole = int(cores + 1e-9)
    return [*([cores - whole] if cores - whole > 1e-9 else []), *[1.0] * whole]


class Plain:
    """Nodes with cores, direct links; the problem gives its sources emits_bytes_per_s, and no throughput.

    A stream without tuple_bytes has a tuple for each of its sender's, times its selectivity. All that is
    asked of the options: arrivals, service, processors, split, tuple_bytes, jitter, duration, seed.
    """

    def __init__(self, problem: Problem, plan: Plan, options: Options) -> None:
        self.problem, self.plan, self.options = problem, plan, options
        self.random = generator_for(options.seed)
        self.table = problem.network.table
        self.nodes = problem.network.index
        self.events: list[tuple[float, int, str, Any]] = []
        self.order = self.done = 0
        self.results: list[Result] = []
        self.queues: dict[str, deque[Tuple]] = {}
        self.serving: dict[str, Tuple | None] = {}
        self.parts: dict[tuple[str, str], float] = {}
        self.turn: dict[tuple[str, str], int] = {}
        self.free: dict[tuple[str, str], float] = {}
        self.instances: dict[str, tuple[Any, Any]] = {}
        self.emitted = self.traffic = 0.0
        for application in problem.applications:
            for operator in application.operators:
                for name in self.names(application, operator):
                    self.instances[name] = application, operator
                    self.queues[name], self.serving[name] = deque(), None
        self.position = {name: number for number, name in enumerate(self.instances)}
        self.count: dict[tuple[str, str, str], float] = {}
        self.work: dict[tuple[str, str], float] = {}
        self.size = self.sizes()
        # first come, first served: tuples in the order of their arrival, and the cores that are free
        self.waiting: dict[str, list[Tuple]] = {node: [] for node in self.nodes}
        self.free_cores = {node.name: cores_of(node.cores) for node in problem.network.nodes}
        self.core: dict[str, float] = {}
        # shared cores: the work that each instance at work has received, and when each is done by that
        self.clock = dict.fromkeys(self.nodes, 0.0)
        self.clock_at = dict.fromkeys(self.nodes, 0.0)
        self.done_at: dict[str, dict[str, float]] = {node: {} for node in self.nodes}
        self.next_tick: dict[str, int] = {}

    def names(self, application: Any, operator: Any) -> list[str]:
        name = f"{application.name}/{operator.name}"
        if operator.parallelism == 1:
            return [name]
        return [f"{name}#{number}" for number in range(operator.parallelism)]

    def sizes(self) -> dict[tuple[str, str, str], float]:
        """What a tuple of each stream weighs, where the problem doesn't say it by bytes and tuples."""
        situation = Situation(Setting(self.problem), self.plan)
        sizes = {}
        at = 0
        for application in self.problem.applications:
            for number, stream in enumerate(application.streams):
                key = application.name, stream.sender, stream.receiver
                operator = next(item for item in application.operators if item.name == stream.sender)
                incoming = [other for other in application.streams if other.receiver == stream.sender]
                rate = float(situation.lifted.stream_rate[at + number])
                if not incoming:
                    work = made = self.emitted_by(application, operator)
                else:
                    work = 0.0
                    for other in incoming:
                        copies = operator.parallelism if other.grouping == "all" else 1
                        work += self.count[application.name, other.sender, other.receiver] * copies
                    made = work * operator.selectivity
                self.work[application.name, stream.sender] = work
                size = stream.tuple_bytes or operator.output_bytes
                self.count[key] = rate / size if size else made
                sizes[key] = rate / self.count[key]
            at += len(application.streams)
        return sizes

    def emitted_by(self, application: Any, operator: Any) -> float:
        """Tuples per second of a source."""
        streams = [stream for stream in application.streams if stream.sender == operator.name]
        known = [stream.tuple_bytes or operator.output_bytes for stream in streams]
        smallest = min((size for size in known if size), default=self.options.tuple_bytes)
        return float(operator.emits_bytes_per_s / smallest)

    def push(self, time: float, kind: str, subject: Any) -> int:
        heapq.heappush(self.events, (time, self.order, kind, subject))
        self.order += 1
        return self.order - 1

    def gap(self, name: str) -> float:
        application, operator = self.instances[name]
        return 1.0 / (self.emitted_by(application, operator) / operator.parallelism)

    def run(self) -> list[Result]:
        sources = [
            name
            for name, (application, operator) in self.instances.items()
            if all(stream.receiver != operator.name for stream in application.streams)
        ]
        units = [
            self.random.standard_exponential()
            if self.options.arrivals == "poisson"
            else int(name.partition("#")[2] or 0) / self.instances[name][1].parallelism
            for name in sources
        ]
        for name, unit in zip(sources, units, strict=True):
            self.push(unit * self.gap(name), "source", name)
        handle = {"source": self.emit, "finish": self.finish, "hop": self.arrive, "tick": self.tick}
        while self.events and self.events[0][0] < self.options.duration_s:
            now, number, kind, subject = heapq.heappop(self.events)
            if kind == "tick" and self.next_tick[subject] != number:
                continue
            self.done += 1
            handle[kind](subject, now)
        return self.results

    def emit(self, name: str, now: float) -> None:
        gap = self.gap(name)
        if self.options.arrivals == "poisson":
            gap *= self.random.standard_exponential()
        self.push(now + gap, "source", name)
        self.emitted += 1
        self.arrive(Tuple(now, name, name), now)

    def arrive(self, item: Tuple, now: float) -> None:
        self.queues[item.instance].append(item)
        if self.options.processors == "node":
            self.waiting[self.plan.assignment[item.instance]].append(item)
        self.serve(item.instance, now)

    def serve(self, name: str, now: float) -> None:
        """Let an instance work, or those on its node that came first."""
        if self.options.processors != "node":
            self.start(name, now)
            return
        node = self.plan.assignment[name]
        while self.free_cores[node]:
            first = next((item for item in self.waiting[node] if self.serving[item.instance] is None), None)
            if first is None:
                return
            self.waiting[node].remove(first)
            self.core[first.instance] = self.free_cores[node].pop()
            self.start(first.instance, now)

    def start(self, name: str, now: float) -> None:
        if self.serving[name] is not None or not self.queues[name]:
            return
        self.serving[name] = self.queues[name].popleft()
        _, operator = self.instances[name]
        node = self.plan.assignment[name]
        duration = operator.work_ms / 1000.0 / self.problem.network.nodes[self.nodes[node]].speed
        if self.options.service == "exponential" and duration > 0:
            duration *= self.random.standard_exponential()
        if self.options.processors == "shared":
            self.settle(node, now)
            self.done_at[node][name] = self.clock[node] + duration
            self.plan_tick(node, now)
        else:
            self.push(now + duration / self.core.get(name, 1.0), "finish", name)

    def stretch(self, node: str) -> float:
        """How many times as long as alone on a core everything takes."""
        return max(1.0, len(self.done_at[node]) / self.problem.network.nodes[self.nodes[node]].cores)

    def settle(self, node: str, now: float) -> None:
        if self.done_at[node]:
            self.clock[node] += (now - self.clock_at[node]) / self.stretch(node)
        self.clock_at[node] = now

    def first_done(self, node: str) -> str:
        return min(self.done_at[node], key=lambda name: (self.done_at[node][name], self.position[name]))

    def plan_tick(self, node: str, now: float) -> None:
        self.next_tick[node] = -1
        if self.done_at[node]:
            rest = max(0.0, self.done_at[node][self.first_done(node)] - self.clock[node])
            self.next_tick[node] = self.push(now + rest * self.stretch(node), "tick", node)

    def tick(self, node: str, now: float) -> None:
        self.settle(node, now)
        name = self.first_done(node)
        self.clock[node] = self.done_at[node].pop(name)
        self.finish(name, now)

    def finish(self, name: str, now: float) -> None:
        item = self.serving[name]
        assert item is not None
        self.serving[name] = None
        node = self.plan.assignment[name]
        if self.options.processors == "node":
            self.free_cores[node] = sorted([*self.free_cores[node], self.core[name]])
        application, operator = self.instances[name]
        streams = [stream for stream in application.streams if stream.sender == operator.name]
        if not streams:
            self.results.append((item.birth, now, item.source, name))
        else:
            numbers = self.numbers(name, application, streams)
            for result in range(max(numbers)):
                for stream, number in zip(streams, numbers, strict=True):
                    for receiver in self.receivers(name, application, stream) if result < number else ():
                        size = self.size[application.name, stream.sender, stream.receiver]
                        self.send(Tuple(item.birth, item.source, receiver, size), name, now)
        self.serve(name, now)
        if self.options.processors == "shared" and self.serving[name] is None:
            self.plan_tick(node, now)

    def numbers(self, name: str, application: Any, streams: list[Any]) -> list[int]:
        """How many tuples of each stream a unit of work gives; one draw decides for all of them."""
        found, chance = [], None
        for stream in streams:
            key = application.name, stream.sender, stream.receiver
            gain = self.count[key] / self.work[key[:2]]
            if self.options.split == "in-turn":
                parts = self.parts.get((name, stream.receiver), 0.0) + gain
                found.append(int(parts + 1e-9))
                self.parts[name, stream.receiver] = parts - found[-1]
                continue
            if gain > int(gain) and chance is None:
                chance = self.random.random()
            found.append(int(gain) + (chance is not None and chance < gain - int(gain)))
        return found

    def receivers(self, name: str, application: Any, stream: Any) -> list[str]:
        operator = next(item for item in application.operators if item.name == stream.receiver)
        names = self.names(application, operator)
        if stream.grouping == "all":
            return names
        if stream.grouping == "forward":
            return [names[int(name.partition("#")[2] or 0)]]
        if stream.grouping == "global" or len(names) == 1:
            return names[:1]
        if self.options.split == "in-turn":
            place = self.turn.get((name, stream.receiver), 0)
            self.turn[name, stream.receiver] = (place + 1) % len(names)
        else:
            place = int(self.random.random() * len(names))
        return [names[place]]

    def send(self, item: Tuple, sender: str, now: float) -> None:
        here, there = self.plan.assignment[sender], self.plan.assignment[item.instance]
        if here == there:
            self.arrive(item, now)
            return
        self.traffic += item.size
        ends = self.nodes[here], self.nodes[there]
        key = (min(here, there), max(here, there)) if self.table.half_duplex else (here, there)
        bandwidth = float(self.table.bandwidth_bytes_per_s[ends])
        leaving = now
        if np.isfinite(bandwidth):
            leaving = max(now, self.free.get(key, 0.0)) + item.size / bandwidth
            self.free[key] = leaving
        delay = float(self.table.delay_ms[ends]) / 1000.0
        if self.options.jitter_ms > 0:
            delay = max(0.0, delay + self.options.jitter_ms / 1000.0 * self.random.standard_normal())
        self.push(leaving + delay, "hop", item)
