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


class Plain:
    """One server for each instance, direct links; every operator's tuples per tuple are its selectivity.

    The problem gives its sources emits_bytes_per_s, and nothing else about rates. All that is asked of the
    options: arrivals, service, split, tuple_bytes, jitter, duration, seed.
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
        self.parts: dict[str, float] = {}
        self.turn: dict[tuple[str, str], int] = {}
        self.free: dict[tuple[str, str], float] = {}
        self.instances: dict[str, tuple[Any, Any]] = {}
        self.emitted = self.traffic = 0.0
        for application in problem.applications:
            for operator in application.operators:
                for name in self.names(application, operator):
                    self.instances[name] = application, operator
                    self.queues[name], self.serving[name], self.parts[name] = deque(), None, 0.0
        self.size = self.sizes()

    def names(self, application: Any, operator: Any) -> list[str]:
        name = f"{application.name}/{operator.name}"
        if operator.parallelism == 1:
            return [name]
        return [f"{name}#{number}" for number in range(operator.parallelism)]

    def sizes(self) -> dict[tuple[str, str, str], float]:
        """What a tuple of each stream weighs: all follow from the sources' by bytes and tuples alike."""
        situation = Situation(Setting(self.problem), self.plan)
        sizes = {}
        count: dict[str, float] = {}
        at = 0
        for application in self.problem.applications:
            for number, stream in enumerate(application.streams):
                key = application.name, stream.sender, stream.receiver
                operator = next(item for item in application.operators if item.name == stream.sender)
                incoming = [other for other in application.streams if other.receiver == stream.sender]
                if not incoming:
                    made = operator.emits_bytes_per_s / (operator.output_bytes or self.options.tuple_bytes)
                else:
                    got = 0.0
                    for other in incoming:
                        copies = operator.parallelism if other.grouping == "all" else 1
                        got += count[f"{application.name}/{other.sender}"] * copies
                    made = got * operator.selectivity
                count[f"{application.name}/{stream.sender}"] = made
                sizes[key] = float(situation.lifted.stream_rate[at + number]) / made
            at += len(application.streams)
        return sizes

    def push(self, time: float, kind: str, subject: Any) -> None:
        heapq.heappush(self.events, (time, self.order, kind, subject))
        self.order += 1

    def gap(self, name: str) -> float:
        _, operator = self.instances[name]
        total = operator.emits_bytes_per_s / (operator.output_bytes or self.options.tuple_bytes)
        return 1.0 / (total / operator.parallelism)

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
        handle = {"source": self.emit, "finish": self.finish, "hop": self.arrive}
        while self.events and self.events[0][0] < self.options.duration_s:
            now, _, kind, subject = heapq.heappop(self.events)
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
        self.start(item.instance, now)

    def start(self, name: str, now: float) -> None:
        if self.serving[name] is not None or not self.queues[name]:
            return
        self.serving[name] = self.queues[name].popleft()
        _, operator = self.instances[name]
        speed = self.problem.network.nodes[self.nodes[self.plan.assignment[name]]].speed
        duration = operator.work_ms / 1000.0 / speed
        if self.options.service == "exponential" and duration > 0:
            duration *= self.random.standard_exponential()
        self.push(now + duration, "finish", name)

    def finish(self, name: str, now: float) -> None:
        item = self.serving[name]
        assert item is not None
        self.serving[name] = None
        application, operator = self.instances[name]
        streams = [stream for stream in application.streams if stream.sender == operator.name]
        if not streams:
            self.results.append((item.birth, now, item.source, name))
        else:
            incoming = any(stream.receiver == operator.name for stream in application.streams)
            for _ in range(self.number(name, operator.selectivity if incoming else 1.0)):
                for stream in streams:
                    for receiver in self.receivers(name, application, stream):
                        size = self.size[application.name, stream.sender, stream.receiver]
                        self.send(Tuple(item.birth, item.source, receiver, size), name, now)
        self.start(name, now)

    def number(self, name: str, gain: float) -> int:
        if self.options.split == "in-turn":
            self.parts[name] += gain
            whole = int(self.parts[name] + 1e-9)
            self.parts[name] -= whole
            return whole
        return int(gain) + (gain > int(gain) and self.random.random() < gain - int(gain))

    def receivers(self, name: str, application: Any, stream: Any) -> list[str]:
        operator = next(item for item in application.operators if item.name == stream.receiver)
        names = self.names(application, operator)
        if stream.grouping == "all":
            return names
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
