"""Private parts of PySpark and of Spark's Java side: used here, and nowhere else in berth.

Pinning stages, proving where tasks ran and ending Java for certain need more than Spark's public interface.
Two things have their present form since Spark 4.0: the steps `MapInArrow` and `MapInPandas` of a plan with a
resource profile, and `sql.classic.Dataset.ofRows`, which makes a DataFrame of a plan. The others are older:

- the Java objects behind a session, a context and a DataFrame (`_jvm`, `_jsparkSession`, `_jsc`, `_jdf`), not
  there in Spark Connect, and `internalCreateDataFrame` for rows that are computed already;
- the store of what Spark knows of stages and executors (`statusStore`);
- the session that Python takes for the active one (`_activeSession`, `_instantiatedSession`);
- `launch_gateway` with arguments for the process, and the gateway that PySpark keeps (`_gateway`);
- the server that takes accumulators' values (`_accumulatorServer`);
- the place where py4j takes a connection that wants to call Python: before a word of it is read, it goes
  through the `ssl_context` of the gateway's `callback_server_parameters`. That parameter is public; that
  PySpark starts its server with these parameters, whoever needs it first, is so since Spark 2.4;
- the call of a user-defined function, which is replaced for the time of a `with` block.

All of it was last run with Spark 4.3.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from berth.processes import system

_log = logging.getLogger(__name__)

# the plan of a query: looked at, taken apart and put together again

# the steps of a plan that need no shuffle: a function of these alone is one stage
ONE_STAGE = frozenset(
    [
        *("Project", "Filter", "Union", "Generate", "Expand", "Sample", "View"),
        *("SubqueryAlias", "ResolvedHint"),
        *("MapInArrow", "MapInPandas", "ArrowEvalPython", "BatchEvalPython", "EventTimeWatermark"),
        *("LocalRelation", "LogicalRDD", "OneRowRelation", "MapPartitions", "MapElements"),
        *("DeserializeToObject", "SerializeFromObject", "WithCTE", "CTERelationDef", "CTERelationRef"),
    ]
)
_ROW_FUNCTIONS = (PythonEvalType.SQL_BATCHED_UDF, PythonEvalType.SQL_ARROW_BATCHED_UDF)
# those that shuffle and remember nothing from one batch to the next
NO_STATE = frozenset(["Repartition", "RepartitionByExpression", "RebalancePartitions", "Sort"])


def _java_of(frame: DataFrame) -> Any:
    """A DataFrame as Spark's Java side has it."""
    found: Any = frame
    return found._jdf


def logical_plan(frame: DataFrame) -> Any:
    """The steps of a DataFrame, with all names resolved."""
    return _java_of(frame).queryExecution().analyzed()


def frame_of(session: Any, plan: Any) -> DataFrame:
    """A DataFrame of these steps."""
    datasets = session._jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(datasets.ofRows(session._jsparkSession, plan), session)


def name_of(node: Any) -> str:
    """What a step does: `Filter`, `Aggregate`, `MapInArrow`, ..."""
    return str(node.nodeName())


def children_of(node: Any) -> Sequence[Any]:
    """The steps whose rows a step takes."""
    return _elements(node.children())


def subqueries_of(node: Any) -> Sequence[Any]:
    """The plans inside of a step's expressions: `where exists (...)`, `where id > (select ...)`."""
    return _elements(node.subqueries())


def shuffles(node: Any) -> bool:
    """Whether a logical step may need a shuffle; Spark makes joins of subqueries."""
    return name_of(node) not in ONE_STAGE or bool(subqueries_of(node))


def keeps_state(node: Any) -> bool:
    """Whether a logical step of a stream remembers rows from one batch to the next."""
    name, children = name_of(node), children_of(node)
    if not children or name in ONE_STAGE | NO_STATE or not node.isStreaming():
        return False
    return name != "Join" or all(child.isStreaming() for child in children)


def is_pinned(node: Any) -> bool:
    """Whether a step, logical or physical, is one of ours."""
    return name_of(node) in ("MapInArrow", "MapInPandas") and bool(node.profile().isDefined())


def with_children(session: Any, node: Any, change: Callable[[Any], Any]) -> Any:
    """A step above changed ones; the same object where none has changed."""
    children = children_of(node)
    changed = [change(child) for child in children]
    if all(new is old for new, old in zip(changed, children, strict=True)):
        return node
    return node.withNewChildren(session._jvm.PythonUtils.toSeq(changed))


def step_above(session: Any, node: Any, add: Callable[[DataFrame], DataFrame]) -> Any:
    """The step that `add` puts above the rows of another one, with the very columns of that one.

    What is above finds columns by their identity, which a new step would not keep.
    """
    frame = frame_of(session, node)
    # two columns of one name can't go to Python
    plain = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
    step = logical_plan(add(plain))
    function, _, child, barrier, profile = (step.productElement(number) for number in range(5))
    return step.copy(function, node.output(), child, barrier, profile)


def executed_plan(frame: DataFrame) -> Any:
    """The physical steps of a DataFrame."""
    return _java_of(frame).queryExecution().executedPlan()


def computed_once(frame: DataFrame) -> DataFrame:
    """The same rows, bound to one computation: whoever takes them reads the shuffle that was written once."""
    session: Any = frame.sparkSession
    java = _java_of(frame)
    rows = session._jsparkSession.internalCreateDataFrame(java.queryExecution().toRdd(), java.schema(), False)
    return DataFrame(rows, session)


def _elements(sequence: Any) -> list[Any]:
    return [sequence.apply(number) for number in range(sequence.size())]


# what Spark knows of stages and executors


def _attempts(session: SparkSession, stages: Iterable[int]) -> dict[int, Any]:
    """The last attempt of each stage; what Spark has forgotten is left out."""
    context: Any = session.sparkContext._jsc.sc()
    # the store hears of a stage's end through a queue
    context.listenerBus().waitUntilEmpty()
    store, found = context.statusStore(), {}
    for stage in stages:
        with suppress(Py4JJavaError):
            found[stage] = store.lastStageAttempt(stage)
    return found


def run_ms_of(session: SparkSession, stages: Iterable[int]) -> dict[int, float]:
    """The time that the tasks of each stage took, all together; what Spark has forgotten is left out."""
    attempts = _attempts(session, stages)
    return {stage: float(attempt.executorRunTime()) for stage, attempt in attempts.items()}


def nodes_with_executors(session: SparkSession, nodes_by_resource: dict[str, str]) -> set[str]:
    """The nodes that have an executor now, by the resources that these were granted."""
    context: Any = session.sparkContext._jsc.sc()
    executors = _elements(context.statusStore().executorList(True))
    granted = {str(name) for each in executors for name in _elements(each.resources().keys().toList())}
    return {node for resource, node in nodes_by_resource.items() if resource in granted}


def waits_for_an_executor(session: SparkSession) -> bool:
    """Whether a stage that no operator has pinned could run, and no executor is there for it."""
    context: Any = session.sparkContext._jsc.sc()
    store = context.statusStore()
    waiting = [stage for stage in _elements(store.activeStages()) if stage.resourceProfileId() == 0]
    if not waiting or any(stage.numActiveTasks() or stage.numCompleteTasks() for stage in waiting):
        return False
    executors = _elements(store.executorList(True))
    return not any(each.resourceProfileId() == 0 and each.id() != "driver" for each in executors)


def jobs_of(session: SparkSession, group: str) -> set[int]:
    """The jobs of a group that Spark knows."""
    return set(session.sparkContext.statusTracker().getJobIdsForGroup(group))


def unpinned_stages(session: SparkSession, jobs: Iterable[int]) -> int:
    """How many stages of these jobs ran that no operator of ours has pinned."""
    tracker = session.sparkContext.statusTracker()
    infos = [tracker.getJobInfo(job) for job in jobs]
    stages = {stage for info in infos if info is not None for stage in info.stageIds}
    attempts = _attempts(session, stages).values()
    return sum(each.resourceProfileId() == 0 and each.numCompleteTasks() > 0 for each in attempts)


# the session that a user's function finds


@contextmanager
def in_session_of(*frames: DataFrame) -> Iterator[None]:
    """`SparkSession.builder.getOrCreate()` and `getActiveSession()` give the session of these rows.

    A batch of a stream has a session of its own, and so have the empty rows from which an operator's shape
    is learnt: a view that a function makes of its rows is found in the session of those rows only.
    """
    if not frames:
        yield
        return
    session: Any = frames[0].sparkSession
    kind: Any = SparkSession
    with _as_before(session):
        kind._instantiatedSession = kind._activeSession = session
        kind._get_j_spark_session_class(session._jvm).setActiveSession(session._jsparkSession)
        yield


@contextmanager
def another_session(session: SparkSession) -> Iterator[SparkSession]:
    """A session of its own for views and rows that must not stay; the one before is the active one again."""
    with _as_before(session):
        yield session.newSession()


@contextmanager
def _as_before(session: Any) -> Iterator[None]:
    """Whatever becomes the session that there is, in Python and in Java: afterwards it is the one before."""
    kind: Any = SparkSession
    java = kind._get_j_spark_session_class(session._jvm)
    before = kind._instantiatedSession, kind._activeSession, java.getActiveSession()
    try:
        yield
    finally:
        kind._instantiatedSession, kind._activeSession, active = before
        if active.isDefined():
            java.setActiveSession(active.get())
        else:
            java.clearActiveSession()


# how far it is


@dataclass(frozen=True)
class Tasks:
    """Tasks of the stages that run now: those that are done, and all."""

    done: int
    total: int


def tasks_now(session: SparkSession) -> Tasks | None:
    """The tasks of all stages that run now; None when nothing runs, or nothing any more."""
    context = session.sparkContext
    if context._jsc is None:
        return None
    try:
        tracker = context.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    except (Py4JError, OSError, AttributeError):
        # stopped between two questions: AttributeError is how a stopped context says so
        return None
    known = [stage for stage in stages if stage is not None]
    if not known:
        return None
    return Tasks(sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known))


# functions of users


@contextmanager
def wrapping_row_functions(wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """User-defined functions over the values of a row that are used in the block are wrapped ones.

    They may have been made long before, where the user's file was loaded, so it is their use that is caught.
    """
    plain: Any = UserDefinedFunction.__call__

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if self.evalType in _ROW_FUNCTIONS:
            self = UserDefinedFunction(
                wrap(self.func),
                self.returnType,
                name=self._name,
                evalType=self.evalType,
                deterministic=self.deterministic,
            )
        return plain(self, *arguments, **named)

    changed: Any = UserDefinedFunction
    changed.__call__ = call
    try:
        yield
    finally:
        changed.__call__ = plain


# the Java process


def start_jvm(settings: SparkConf, log: Path) -> JavaGateway:
    """Start the process, with all that it prints in the log.

    It leads a process group of its own, with the scripts that start it: a signal of the terminal reaches it
    only through us, and one signal of ours ends them all. Python workers end with it.
    """
    before = set(system.children_of(os.getpid()))
    with log.open("ab") as file:
        try:
            gateway: JavaGateway = launch_gateway(  # type: ignore[no-untyped-call]
                settings, {"stdout": file, "stderr": file, "process_group": 0}
            )
        except BaseException:
            for child in set(system.children_of(os.getpid())) - before:
                system.signal_group(child, signal.SIGKILL)
                os.waitpid(child, 0)
            raise
    gateway.callback_server_parameters.ssl_context = _OurUserOnly()
    return gateway


class _OurUserOnly:
    """Lets nobody but our own user call Python functions through the port that Java calls them by.

    `foreachBatch` and all else that Java calls back opens a port on 127.0.0.1, which every user of the
    machine reaches. py4j has a token for it, but PySpark sets none, and Java would not send it. Encryption
    is the other thing that py4j does to a connection before it reads from it: we do nothing to those of our
    own user, and others find theirs at its end.
    """

    def __init__(self) -> None:
        self._told = False

    def wrap_socket(self, connection: socket.socket, *, server_side: bool) -> socket.socket:
        """The connection itself, or one that has ended where somebody else is at the other end."""
        if system.is_from_our_user(connection):
            return connection
        connection.close()
        if not self._told:
            # once: nobody shall fill the disk with it
            self._told = True
            _log.warning("a connection to Python's callback server was refused: no process of this user")
        # an error would end the server, a closed socket would be one
        ended, other_end = socket.socketpair()
        other_end.close()
        return ended


def silence_accumulators(context: SparkContext) -> None:
    """Before Java is ended in the middle of its work: what takes its accumulators would print a traceback."""
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda request, address: None


def forget_jvm(context: SparkContext | None) -> None:
    """Let pyspark start another process for the next session instead of talking to one that is gone."""
    classes: Any = SparkContext, SparkSession
    context_class, session_class = classes
    if context is not None:
        dead: Any = context
        dead._jsc = None
        context.stop()
    gateway, context_class._gateway, context_class._jvm = context_class._gateway, None, None
    context_class._active_spark_context = None
    session_class._instantiatedSession = session_class._activeSession = None
    if gateway is not None:
        gateway.close()
