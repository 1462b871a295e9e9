"""Stream applications in plain PySpark: functions from DataFrames to a DataFrame, with names."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from berth.files import problem_from
from berth.files.document import mistakes_in, read_document
from berth.files.problem_format import OperatorDocument
from berth.model import BadInput

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


Kind = Literal["source", "frame", "arrow", "pandas", "sink"]
OutputMode = Literal["append", "update", "complete"]
Function = TypeVar("Function", bound=Callable[..., Any])

# parameters of a function that are no inputs
SPARK, INSTANCE, BATCH = "spark", "instance", "batch_id"

_NAME = re.compile(r"[^\s/#]+")
_OPERATOR_FIELDS = [key for key in OperatorDocument.__annotations__ if key not in ("name", "parallelism")]
_APPLICATION_FIELDS = ("throughput_per_s", "max_response_time_ms", "min_availability", "rules")


@dataclass(frozen=True)
class Operator:
    """One step of an application: its function, what it takes, and what a problem file says of it."""

    name: str
    kind: Kind
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    parallelism: int = 1
    key: tuple[str, ...] = ()
    """The columns that decide which instance gets a row; without them, all columns do."""
    schema: StructType | str | None = None
    """Of the rows that a function over batches of Arrow or pandas gives."""
    fields: Mapping[str, Any] = field(default_factory=dict)

    def takes(self, parameter: str) -> bool:
        """Whether the function has such a parameter; with `instance` it is called for each instance."""
        return parameter in inspect.signature(self.function).parameters


class Application:
    """An application: operators by name, each with the names of those whose rows it takes.

    >>> app = Application("words")
    >>> @app.source
    ... def lines(spark):
    ...     return spark.readStream.text("lines")
    >>> @app.operator
    ... def upper(lines):
    ...     return lines.selectExpr("upper(value) AS value")
    >>> @app.sink
    ... def store(upper, batch_id):
    ...     upper.write.mode("overwrite").json(f"out/batch={batch_id}")
    >>> [operator.inputs for operator in app.operators.values()]
    [(), ('lines',), ('upper',)]
    """

    def __init__(self, name: str, *, output_mode: OutputMode | None = None, **fields: Any) -> None:
        """An application without operators.

        Args:
            name: its name in problem and plan files.
            output_mode: what a streaming aggregation gives in each batch: `update` (the default) the changed
                rows, `append` those that can't change any more, `complete` all of them.
            fields: what a problem file says of an application, such as `max_response_time_ms` and `rules`.
        """
        _check_name("application", name)
        _check_fields(f"application {name!r}", fields, _APPLICATION_FIELDS)
        self.name = name
        self.output_mode = output_mode
        self.fields: Mapping[str, Any] = fields
        self.operators: dict[str, Operator] = {}
        self.reload: Callable[[], Application] | None = None
        """Loads its file again; None where that is not needed in another session of Spark."""
        self.parts: tuple[Application, ...] = (self,)
        """The applications of problem files that it is made of."""
        self.left_out: frozenset[str] = frozenset()
        """Operators of these, as plans name them, that don't run: others compute what they would."""
        self.merged: frozenset[str] = frozenset()
        """Those of them that the plan places all the same: an equal one runs there, too."""

    def name_of(self, part: Application, operator: str) -> str:
        """The name of a part's operator in this run."""
        return operator

    def full_name(self, instance: str) -> str:
        """An instance as plans name it."""
        return f"{self.name}/{instance}"

    def origin(self, operator: str) -> tuple[str, str]:
        """The application that an operator is from, and its name there."""
        return self.name, operator

    def stream_origin(self, sender: str, receiver: str) -> tuple[str, str, str]:
        """The application that a stream is of, and the names of its ends there."""
        return self.name, sender, receiver

    def source(self, function: Function | None = None, **options: Any) -> Any:
        """Add a function that reads: `(spark) -> DataFrame`, streaming or not.

        With a parameter `instance` it is called once for each instance, with its number, and reads its share.
        """
        return self._decorator("source", function, options)

    def operator(self, function: Function | None = None, **options: Any) -> Any:
        """Add a function from DataFrames to a DataFrame; its parameters are the names of its inputs.

        Args:
            function: the function.
            options: `name` (default: the function's), `inputs` (default: the names of the parameters),
                `parallelism` (1), `key` (columns that decide which instance gets a row), and any field of an
                operator in a problem file: `demand`, `work_ms`, `pinned`, `state_bytes`, ...
        """
        return self._decorator("frame", function, options)

    def map_in_arrow(self, schema: StructType | str, **options: Any) -> Callable[[Function], Function]:
        """Add a function as `DataFrame.mapInArrow` takes it: iterators of record batches, in and out."""
        decorate: Callable[[Function], Function] = self._decorator(
            "arrow", None, options | {"schema": schema}
        )
        return decorate

    def map_in_pandas(self, schema: StructType | str, **options: Any) -> Callable[[Function], Function]:
        """Add a function as `DataFrame.mapInPandas` takes it: iterators of pandas DataFrames, in and out."""
        decorate: Callable[[Function], Function] = self._decorator(
            "pandas", None, options | {"schema": schema}
        )
        return decorate

    def sink(self, function: Function | None = None, **options: Any) -> Any:
        """Add a function that writes: `(frame, batch_id) -> None`, called for every batch.

        A batch that was interrupted comes again with the same number: what was written for it has to be
        replaced.
        """
        return self._decorator("sink", function, options)

    def _decorator(self, kind: Kind, function: Function | None, options: Mapping[str, Any]) -> Any:
        def add(function: Function) -> Function:
            self._add(kind, function, **options)
            return function

        return add if function is None else add(function)

    def _add(
        self,
        kind: Kind,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        inputs: Sequence[str] | None = None,
        parallelism: int = 1,
        key: str | Sequence[str] = (),
        schema: StructType | str | None = None,
        **fields: Any,
    ) -> None:
        name = function.__name__ if name is None else name
        _check_name("operator", name)
        what = f"operator {name!r}"
        if name in self.operators:
            raise BadInput(f"{what}: there are two of that name; give one of them another with name=...")
        _check_fields(what, fields, _OPERATOR_FIELDS)
        if isinstance(parallelism, bool) or not isinstance(parallelism, int) or parallelism < 1:
            raise BadInput(f"{what}: parallelism: expected a whole number from 1 on, not {parallelism!r}")
        if inputs is None:
            inputs = _inputs_of(what, kind, function)
        elif isinstance(inputs, str):
            raise BadInput(f"{what}: inputs: expected a list of names, not {inputs!r}")
        if kind == "source" and inputs:
            raise BadInput(f"{what}: a source takes 'spark' (and 'instance'), not {', '.join(inputs)}")
        if kind != "source" and not inputs:
            raise BadInput(f"{what}: takes nothing: name its inputs as parameters or with inputs=[...]")
        if kind in ("arrow", "pandas") and len(inputs) > 1:
            raise BadInput(f"{what}: over batches there is one input; unite {', '.join(inputs)} first")
        columns = (key,) if isinstance(key, str) else tuple(key)
        self.operators[name] = Operator(
            name, kind, function, tuple(inputs), parallelism, columns, schema, fields
        )

    @property
    def streams(self) -> list[tuple[str, str]]:
        """Who sends to whom, in the order of the receivers."""
        return [(sender, each.name) for each in self.operators.values() for sender in each.inputs]

    def consumers(self, name: str) -> list[str]:
        """Who takes the rows of an operator."""
        return [receiver for sender, receiver in self.streams if sender == name]

    def in_order(self) -> list[Operator]:
        """The operators, each behind all that it takes rows from.

        Raises:
            BadInput: the application is no whole: unknown inputs, a cycle, rows that nobody takes.
        """
        mistakes = list(self._mistakes())
        if mistakes:
            raise BadInput(mistakes)
        ordered: dict[str, Operator] = {}
        while len(ordered) < len(self.operators):
            ready = [
                each
                for each in self.operators.values()
                if each.name not in ordered and all(sender in ordered for sender in each.inputs)
            ]
            if not ready:
                rest = ", ".join(name for name in self.operators if name not in ordered)
                raise BadInput(f"application {self.name!r}: a cycle among {rest}")
            ordered.update((each.name, each) for each in ready)
        return list(ordered.values())

    def _mistakes(self) -> list[str]:
        kinds = {each.kind for each in self.operators.values()}
        mistakes = [
            f"application {self.name!r}: has no {kind}; add a function with @app.{kind}"
            for kind in ("source", "sink")
            if kind not in kinds
        ]
        for each in self.operators.values():
            for sender in each.inputs:
                if sender not in self.operators:
                    known = ", ".join(self.operators)
                    mistakes.append(f"operator {each.name!r}: no input {sender!r}; there are {known}")
                elif self.operators[sender].kind == "sink":
                    mistakes.append(f"operator {each.name!r}: {sender!r} is a sink, it gives no rows")
            if len(set(each.inputs)) < len(each.inputs):
                mistakes.append(f"operator {each.name!r}: takes the same input twice")
            if each.kind != "sink" and not self.consumers(each.name):
                mistakes.append(f"operator {each.name!r}: nobody takes its rows; add a sink that does")
        return mistakes


def _inputs_of(what: str, kind: Kind, function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    if kind in ("arrow", "pandas"):
        # the parameter of such a function is an iterator of batches of the one input
        names = [each.name for each in parameters if each.default is inspect.Parameter.empty]
        if len(names) != 1:
            raise BadInput(f"{what}: a function over batches has one parameter, named as its input")
        return names
    if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters):
        raise BadInput(f"{what}: has * or ** parameters; name its inputs with inputs=[...]")
    besides = {"source": (SPARK, INSTANCE), "sink": (BATCH, INSTANCE)}.get(kind, ())
    return [
        each.name
        for each in parameters
        if each.name not in besides and each.default is inspect.Parameter.empty
    ]


def _check_name(what: str, name: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadInput(f"{what}: {name!r} is not a valid name: text without '/', '#' and white space is one")


def _check_fields(what: str, fields: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = [name for name in fields if name not in known]
    if unknown:
        raise BadInput([f"{what}: unknown option {name!r}; there are {', '.join(known)}" for name in unknown])


def write_batch(
    frame: DataFrame, folder: str | os.PathLike[str], batch_id: int, form: str = "parquet"
) -> None:
    """Write the rows of a batch into a folder of its own, in place of what it has from an earlier attempt.

    `spark.read.parquet(folder)` reads all batches; the number of the batch is its column `batch`.
    """
    frame.write.format(form).mode("overwrite").save(os.path.join(os.fspath(folder), f"batch={batch_id}"))


def describe(
    applications: Sequence[Application],
    network: str | Path | None = None,
    *,
    cores: Mapping[str, float] | None = None,
    tuple_bytes: Mapping[tuple[str, str, str], float] | None = None,
) -> dict[str, Any]:
    """A problem file with these applications; without the network of another one, only that part of it.

    Args:
        applications: what runs.
        network: a problem file, of which all but the applications is taken over.
        cores: by node, for those of the network that don't say theirs: see `cores_of_workers`.
        tuple_bytes: by application and the ends of a stream, what a tuple of it weighs: see `measured_sizes`.

    Raises:
        BadInput: an application says something of itself that no problem file may.
    """
    whole: dict[str, Any] = {"format": "berth/v1", "name": "+".join(each.name for each in applications)}
    if network is not None:
        taken = read_document(Path(network))
        with mistakes_in(network):
            problem_from(taken)
        whole |= {key: taken[key] for key in taken if key not in ("format", "name", "applications")}
        for node in whole["network"]["nodes"]:
            if node["name"] in (cores or {}):
                node.setdefault("cores", (cores or {})[node["name"]])
    whole["applications"] = [described(each) for each in applications]
    for application in whole["applications"]:
        for stream in application["streams"]:
            size = (tuple_bytes or {}).get((application["name"], stream["from"], stream["to"]))
            if size is not None:
                stream["tuple_bytes"] = size
    if network is not None:
        problem_from(whole)
    else:
        _check_alone(whole)
    return whole


def described(application: Application) -> dict[str, Any]:
    """The application's entry in a problem file: its operators and the streams between them."""
    return {
        "name": application.name,
        **application.fields,
        "operators": [_operator(each) for each in application.in_order()],
        "streams": [{"from": sender, "to": receiver} for sender, receiver in application.streams],
    }


def _operator(operator: Operator) -> dict[str, Any]:
    several = {"parallelism": operator.parallelism} if operator.parallelism > 1 else {}
    return {"name": operator.name, **several, **operator.fields}


def _check_alone(document: dict[str, Any]) -> None:
    """Check the fields of an application as far as that can be done without its nodes and objects."""
    operators = [each for application in document["applications"] for each in application["operators"]]
    nodes = dict.fromkeys(name for each in operators for name in _nodes_of(each))
    objects = dict.fromkeys(read["object"] for each in operators for read in each.get("reads", ()))
    network = {"nodes": [{"name": name, "holds": list(objects)} for name in nodes or ["anywhere"]]}
    stand_in = {"network": network, "objects": [{"name": name, "bytes": 0} for name in objects]}
    try:
        problem_from(document | stand_in)
    except BadInput as error:
        about = [line for line in error.mistakes if line.startswith("applications[")]
        if about:
            raise BadInput(about) from None


def _nodes_of(operator: dict[str, Any]) -> list[str]:
    candidates = operator.get("candidates", [])
    pinned = [operator["pinned"]] if isinstance(operator.get("pinned"), str) else []
    return [*pinned, *(candidates if isinstance(candidates, list) else [])]
