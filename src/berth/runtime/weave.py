"""From an application and a placement to DataFrames: shuffle boundaries, pinned stages, shares of instances.

An operator's stage begins behind a shuffle, with a pinned step that passes rows on and counts them; it keeps
the optimiser from moving the operator's work over the shuffle, to the sender's node. What an operator gives
is computed once, however many take it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.resource import ResourceProfile
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import BadInput
from berth.runtime import on_worker
from berth.runtime.application import BATCH, INSTANCE, SPARK, Application, Operator
from berth.runtime.cluster.nodes import resource_name
from berth.runtime.observer import RunFailed
from berth.runtime.on_worker import CountingPoint
from berth.runtime.placement import Branch, Placement
from berth.runtime.shapes import (
    Shape,
    call,
    can_be_hashed,
    check_stages,
    shape_of,
    with_inner_stages,
    with_plain_names,
    with_watermarks_again,
    without_watermark_steps,
)
from berth.spark.internals import (
    another_session,
    computed_once,
    frame_of,
    in_session_of,
    logical_plan,
    wrapping_row_functions,
)

Delay = Callable[[str, str], float]
_NUMBER = "berth_instance"
_PART = "berth_part"


@dataclass(frozen=True)
class Flow:
    """The rows that one branch of an operator gives."""

    branch: Branch
    frame: DataFrame
    """Before any shuffle if only one takes them, else behind the one that all share."""
    shuffled: bool


@dataclass
class Weaver:
    """Builds the DataFrames of one run: first what streams, then, for every batch, the rest."""

    session: SparkSession
    application: Application
    placement: Placement
    profiles: Mapping[str, ResourceProfile]
    send: on_worker.Send
    delay_ms: Delay
    shapes: dict[str, Shape] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._operators = self.application.in_order()
        self._streaming: list[str] = []
        self._sources: dict[str, list[tuple[Branch, DataFrame]]] = {}
        for operator in self._operators:
            self.shapes[operator.name] = self._shape(operator)
        self._streaming = self._in_the_stream()
        for operator in self._operators:
            self._check(operator)
        self._flows: dict[str, list[Flow]] = {}
        for name in self._streaming:
            self._flows[name] = self._built(self.application.operators[name], self._flows, fixed=False)
        self._parts = [
            (name, number)
            for name in self._streaming
            if self.shapes[name].streams and self._goes_on_outside(name)
            for number in range(len(self._flows[name]))
        ]

    @property
    def streams(self) -> bool:
        """Whether anything is a stream; if not, the application is one batch."""
        return bool(self._streaming)

    @property
    def stateful(self) -> list[str]:
        """The operators that keep state, an entry for each step that does, in Spark's order of them."""
        order: list[str] = []

        def visit(name: str, branches: int) -> None:
            for _ in range(branches):
                order.extend([name] * self.shapes[name].states)
                for sender in self.application.operators[name].inputs:
                    visit(sender, len(self._branches(self.application.operators[sender])))

        for name, _ in self._parts:
            visit(name, 1)
        return order

    def stream(self) -> DataFrame:
        """What streams, as one DataFrame: the rows of all parts that batches go on with."""
        frames = [self._exchanged(self._flows[name][number]) for name, number in self._parts]
        return frames[0] if len(frames) == 1 else _packed(frames)

    def output_mode(self) -> str:
        """What the application asks for; else changed rows where there is state, new rows elsewhere."""
        if self.application.output_mode:
            return self.application.output_mode
        operators = self.application.operators.values()
        states = [each for each in operators if self.shapes[each.name].states]
        joins = any(sum(self.shapes[name].streams for name in each.inputs) > 1 for each in states)
        return "update" if states and not joins else "append"

    def sinks(self, batch: DataFrame | None) -> list[tuple[Operator, Branch, list[DataFrame]]]:
        """The rows of a batch, brought through the rest of the operators: what each sink takes."""
        flows = self._unpacked(batch) if batch is not None else {}
        session = self.session if batch is None else batch.sparkSession
        taken = []
        for operator in self._operators:
            streams = self.shapes[operator.name].streams
            if operator.name in self._streaming and (streams or not self._goes_on_outside(operator.name)):
                continue
            if operator.kind == "sink":
                for branch in self._branches(operator):
                    taken.append((operator, branch, self._taken(operator, branch, flows)))
            else:
                flows[operator.name] = self._built(operator, flows, fixed=True, session=session)
        return taken

    def _read(self, operator: Operator) -> list[tuple[Branch, DataFrame]]:
        branches = self._branches(operator)
        if len(branches) > 1 and not operator.takes(INSTANCE):
            raise BadInput(
                f"operator {operator.name!r}: a source on several nodes reads a share on each: give its "
                "function a parameter 'instance'"
            )
        named = {SPARK: self.session} if operator.takes(SPARK) else {}
        return [(branch, call(operator, **named, **_instance(operator, branch))) for branch in branches]

    def _shape(self, operator: Operator) -> Shape:
        if operator.kind == "source":
            read = self._read(operator)
            self._sources[operator.name] = read
            frame = read[0][1]
            return Shape(frame.schema, streams=frame.isStreaming)
        inputs = {name: self.shapes[name] for name in operator.inputs}
        with _naming_functions_of(operator.name):
            return shape_of(self.session, operator, inputs)

    def _branches(self, operator: Operator) -> list[Branch]:
        """One for each node; in the streaming query one for each instance.

        Its checkpoint counts how often sources and state occur in its plan, so that has to be the same for
        every placement.
        """
        each = operator.name in self._streaming or (
            operator.kind in ("source", "sink") and operator.takes(INSTANCE)
        )
        return self.placement.branches(operator.name, each=each)

    def _check(self, operator: Operator) -> None:
        parallelism = self.placement.parallelism(operator.name)
        shape = self.shapes[operator.name]
        if parallelism > 1 and operator.kind == "frame" and shape.shuffles and not operator.key:
            raise BadInput(
                f"operator {operator.name!r}: has {parallelism} instances, and rows that belong together "
                "have to meet: say by which columns with key=[...]"
            )
        empty = [sender for sender in operator.inputs if not self.shapes[sender].schema.names]
        if empty:
            raise BadInput(f"operator {operator.name!r}: the rows of {empty[0]!r} have no columns")
        if operator.kind == "sink" and len(self._branches(operator)) > 1 and not operator.takes(INSTANCE):
            raise BadInput(
                f"operator {operator.name!r}: a sink on several nodes is called for each: give its "
                "function a parameter 'instance'"
            )
        for column in operator.key:
            for sender in operator.inputs:
                if column not in self.shapes[sender].schema.names:
                    there = ", ".join(self.shapes[sender].schema.names)
                    raise BadInput(
                        f"operator {operator.name!r}: key: {sender!r} has no column {column!r}; "
                        f"it has {there}"
                    )
        if operator.kind == "frame" and shape.shuffles:
            branch = self._branches(operator)[0]
            schemas = [self.shapes[sender].schema for sender in operator.inputs]
            with another_session(self.session) as apart:
                inputs = [apart.createDataFrame([], schema) for schema in schemas]
                stand_ins = [frame.repartition(len(branch.instances)) for frame in inputs]
                check_stages(operator, self._worked(operator, branch, stand_ins))

    def _in_the_stream(self) -> list[str]:
        """The operators that are part of the streaming query: what keeps state, and what leads there.

        All others work on its batches, where rows are fixed. Spark plans a subtree anew for each that takes
        its rows, and joins those that are equal; those with state never are.
        """
        needed = self._above_state()
        inside: set[str] = set()
        remembering: set[str] = set()
        for operator in self._operators:
            shape, name = self.shapes[operator.name], operator.name
            if shape.states or remembering.intersection(operator.inputs):
                remembering.add(name)
            if not shape.streams or (name not in needed and operator.kind != "source"):
                continue
            several = self.placement.parallelism(name) > 1
            doubled = [
                sender
                for sender in operator.inputs
                if sender in remembering and (several or len(self.application.consumers(sender)) > 1)
            ]
            if doubled:
                raise BadInput(
                    f"operator {name!r}: state is kept in it or behind it, and it takes rows of "
                    f"{doubled[0]!r}, before which state is kept, too, and which others take as well; "
                    "Spark can't share that: merge the two operators, give them one instance, or read "
                    "the source twice"
                )
            # what is joined to a stream has to be in its plan
            inside.update([name, *self._static_above(operator)])
        return [each.name for each in self._operators if each.name in inside]

    def _above_state(self) -> set[str]:
        """The operators that keep state, and all whose rows lead there."""
        needed: set[str] = set()
        for operator in reversed(self._operators):
            if self.shapes[operator.name].states or needed.intersection(
                self.application.consumers(operator.name)
            ):
                needed.add(operator.name)
        return needed

    def _static_above(self, operator: Operator) -> list[str]:
        found: list[str] = []
        for name in operator.inputs:
            if not self.shapes[name].streams:
                found += [name, *self._static_above(self.application.operators[name])]
        return found

    def _goes_on_outside(self, name: str) -> bool:
        """Whether an operator of the streaming query has takers that work on its batches."""
        return any(taker not in self._streaming for taker in self.application.consumers(name))

    def _uses(self, name: str) -> int:
        """How many stages take the rows of an operator."""
        takers = self.application.consumers(name)
        return sum(len(self._branches(self.application.operators[taker])) for taker in takers)

    def _built(
        self,
        operator: Operator,
        flows: Mapping[str, list[Flow]],
        *,
        fixed: bool,
        session: SparkSession | None = None,
    ) -> list[Flow]:
        """What each branch of an operator gives; in the session of a batch, where that is another one."""
        if operator.kind == "source":
            read = self._sources[operator.name]
            if session is not None:
                read = [(branch, frame_of(session, logical_plan(frame))) for branch, frame in read]
            built = [
                (branch, self._passed(frame, self._point(operator, "out", operator.name, branch)))
                for branch, frame in read
            ]
        else:
            built = [
                (branch, self._worked(operator, branch, self._gathered(operator, branch, flows)))
                for branch in self._branches(operator)
            ]
        if self._uses(operator.name) == 1:
            return [Flow(branch, frame, shuffled=False) for branch, frame in built]
        return [
            Flow(branch, self._shared(operator, frame, fixed=fixed), shuffled=True) for branch, frame in built
        ]

    def _shared(self, operator: Operator, frame: DataFrame, *, fixed: bool) -> DataFrame:
        """Behind one shuffle that all takers read; in a batch its result is fixed, not found by likeness."""
        takers = [self.application.operators[name] for name in self.application.consumers(operator.name)]
        widest = max(
            len(branches[0].instances) if len(branches := self._branches(taker)) == 1 else 1
            for taker in takers
        )
        if fixed:
            return computed_once(frame.repartition(widest))
        return without_watermark_steps(frame).repartition(widest)

    def _exchanged(self, flow: Flow) -> DataFrame:
        if flow.shuffled:
            return flow.frame
        takers = self.application.consumers(flow.branch.operator)
        (branch,) = self._branches(self.application.operators[takers[0]])
        return flow.frame.repartition(len(branch.instances))

    def _unpacked(self, batch: DataFrame) -> dict[str, list[Flow]]:
        """The parts of a batch, as flows that are shuffled already."""
        flows: dict[str, list[Flow]] = {}
        for position, (name, number) in enumerate(self._parts):
            branch = self._flows[name][number].branch
            frame = batch
            if len(self._parts) > 1:
                frame = batch.where(F.col(_PART) == position).select(f"{_PART}_{position}.*")
            flows.setdefault(name, []).append(Flow(branch, frame, shuffled=True))
        return flows

    def _gathered(
        self, operator: Operator, branch: Branch, flows: Mapping[str, list[Flow]]
    ) -> list[DataFrame]:
        """The rows of each input on the node of a branch, not yet counted."""
        return [self._arriving(operator, branch, flows[sender]) for sender in operator.inputs]

    def _taken(self, operator: Operator, branch: Branch, flows: Mapping[str, list[Flow]]) -> list[DataFrame]:
        """The same, counted: what a sink's function gets."""
        frames = self._gathered(operator, branch, flows)
        return [
            self._passed(frame, self._point(operator, "in", sender, branch))
            for sender, frame in zip(operator.inputs, frames, strict=True)
        ]

    def _arriving(self, operator: Operator, branch: Branch, senders: Sequence[Flow]) -> DataFrame:
        split = len(self._branches(operator)) > 1
        arrived = [self._arriving_from(flow, operator, branch, split=split) for flow in senders]
        if len(arrived) == 1:
            return arrived[0]
        united = arrived[0]
        for frame in arrived[1:]:
            united = united.union(frame)
        return united.coalesce(len(branch.instances))

    def _arriving_from(self, flow: Flow, operator: Operator, branch: Branch, *, split: bool) -> DataFrame:
        frame = with_watermarks_again(flow.frame) if flow.shuffled else flow.frame
        if split:
            return self._share_of(frame, flow.branch, operator, branch)
        if not flow.shuffled:
            return frame.repartition(len(branch.instances))
        # Spark doesn't know that fixed rows are in one partition; if it does, it needs no shuffle of its own
        return frame if frame.isStreaming else frame.coalesce(len(branch.instances))

    def _share_of(self, frame: DataFrame, there: Branch, operator: Operator, branch: Branch) -> DataFrame:
        """The rows that go to a branch: picked on the sender's node, so that no others travel."""
        plain = with_plain_names(frame)
        numbered = plain.withColumn(_NUMBER, self._number(operator, frame.columns, plain))
        sender = self.application.operators[there.operator]
        point = self._point(sender, "split", sender.name, there, keep=branch.instances)
        picking = on_worker.counting(point, self.send)
        kept = numbered.mapInArrow(picking, plain.schema, profile=self.profiles[there.node])
        return kept.toDF(*frame.columns).repartition(len(branch.instances))

    def _number(self, operator: Operator, names: Sequence[str], frame: DataFrame) -> Column:
        """Which instance gets a row: by its key or all of it, so that a task done again decides alike."""
        columns: list[Any] = [
            field.name
            for name, field in zip(names, frame.schema, strict=True)
            if (name in operator.key if operator.key else can_be_hashed(field.dataType))
        ]
        if not columns:
            columns = [F.to_json(F.struct(*frame.columns))]
        parallelism = self.placement.parallelism(operator.name)
        return F.pmod(F.xxhash64(*columns), F.lit(parallelism)).cast("int")

    def _worked(self, operator: Operator, branch: Branch, frames: Sequence[DataFrame]) -> DataFrame:
        """What an operator makes of the rows that arrived at a branch."""
        profile = self.profiles[branch.node]
        points = [self._point(operator, "in", sender, branch) for sender in operator.inputs]
        if operator.kind in ("arrow", "pandas"):
            plain = with_plain_names(frames[0])
            point = points[0] if plain is frames[0] else replace(points[0], names=tuple(frames[0].columns))
            schema = self.shapes[operator.name].schema
            map_in: Any = plain.mapInArrow if operator.kind == "arrow" else plain.mapInPandas
            mapped: DataFrame = map_in(
                on_worker.counting(point, self.send, operator.function), schema, profile=profile
            )
            return mapped
        passed = [self._passed(frame, point) for frame, point in zip(frames, points, strict=True)]
        last = self._point(operator, "out", operator.name, branch)
        with _naming_functions_of(operator.name):
            given = call(operator, *passed)
        if not self.shapes[operator.name].shuffles:
            return given
        between = self._point(operator, "split", operator.name, branch)
        return self._passed(with_inner_stages(given, lambda frame: self._passed(frame, between)), last)

    def _passed(self, frame: DataFrame, point: CountingPoint) -> DataFrame:
        """The same rows, through a pinned step."""
        plain = with_plain_names(frame)
        passing = on_worker.counting(point, self.send)
        passed = plain.mapInArrow(passing, plain.schema, profile=self.profiles[point.node])
        return passed if plain is frame else passed.toDF(*frame.columns)

    def _point(
        self,
        operator: Operator,
        role: str,
        sender: str,
        branch: Branch,
        keep: tuple[int, ...] | None = None,
    ) -> CountingPoint:
        wait = 0.0
        if role == "in":
            wait = max(self.delay_ms(node, branch.node) for node in self.placement.nodes[sender])
        return CountingPoint(
            operator.name,
            role,
            sender,
            branch.instances,
            branch.node,
            resource_name(branch.node),
            wait,
            keep=keep,
        )


def call_sink(operator: Operator, branch: Branch, frames: Sequence[DataFrame], number: int) -> None:
    """Let a sink write a batch."""
    named = {BATCH: number} if operator.takes(BATCH) else {}
    try:
        with _naming_functions_of(operator.name), in_session_of(*frames):
            operator.function(*frames, **named, **_instance(operator, branch))
    except (PySparkException, Py4JError):
        # what Spark has to say of its tasks is put into words elsewhere
        raise
    except Exception as error:
        raise RunFailed(f"operator {operator.name}: {type(error).__name__}: {error}") from error


def _instance(operator: Operator, branch: Branch) -> dict[str, int]:
    return {INSTANCE: branch.instances[0]} if operator.takes(INSTANCE) else {}


def _packed(frames: Sequence[DataFrame]) -> DataFrame:
    """Rows of several kinds in one DataFrame: a number that says which, and a column for each kind."""
    packed = None
    for position, frame in enumerate(frames):
        kinds = [
            (F.struct("*") if other == position else F.lit(None).cast(kind.schema)).alias(f"{_PART}_{other}")
            for other, kind in enumerate(frames)
        ]
        rows = frame.select(F.lit(position).alias(_PART), *kinds)
        packed = rows if packed is None else packed.union(rows)
    if packed is None:
        raise ValueError("nothing to pack")
    return packed


def _naming_functions_of(operator: str) -> AbstractContextManager[None]:
    """While an operator's function runs on the driver: its user-defined functions name their rows."""
    return wrapping_row_functions(lambda function: on_worker.naming_rows(operator, function))
