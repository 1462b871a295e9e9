"""Weaving: what streams and what works on batches, what is pinned where, and what is refused before it runs.

Nothing runs here: the plans that Spark makes of the woven DataFrames are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from pyspark.resource import ResourceProfile
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from berth.model import BadInput
from berth.runtime.application import Application
from berth.runtime.executors import ExecutorSize, profiles_for, settings_for_pinning
from berth.runtime.placement import Placement
from berth.runtime.weave import Weaver

NODES = ("rome", "paris", "tokyo")
# what plans depend on, as in a run
SETTINGS = {
    key: value
    for key, value in settings_for_pinning("rome", ExecutorSize()).items()
    if key.startswith("spark.sql.")
}
Weave = Callable[..., Weaver]


@pytest.fixture(scope="module", autouse=True)
def settings(spark: SparkSession) -> Iterator[None]:
    """The shared session as if it had been started for a run; sessions made from it look at the context."""
    context: Any = spark.sparkContext._jsc.sc().conf()
    before = {key: spark.conf.get(key) for key in SETTINGS}
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
        context.set(key, value)
    yield
    for key, value in before.items():
        spark.conf.set(key, value)
        context.set(key, value)


@pytest.fixture(scope="module")
def profiles(spark: SparkSession) -> dict[str, ResourceProfile]:
    return profiles_for(dict.fromkeys(NODES, 2), ExecutorSize())


@pytest.fixture
def weave(spark: SparkSession, profiles: dict[str, ResourceProfile]) -> Weave:
    """Weaves an application: everything in Rome but for what is said otherwise."""

    def woven(app: Application, **homes: tuple[str, ...]) -> Weaver:
        nodes = {
            name: homes.get(name, ("rome",) * operator.parallelism)
            for name, operator in app.operators.items()
        }
        placement = Placement(app.name, nodes)
        return Weaver(spark, app, placement, profiles, lambda report: None, lambda one, other: 0.0)

    return woven


def mistake(weave: Weave, app: Application, **homes: tuple[str, ...]) -> str:
    """The one line that says why an application is refused."""
    with pytest.raises(BadInput) as caught:
        weave(app, **homes)
    (line,) = caught.value.mistakes
    return line


def ticks(app: Application, **options: Any) -> None:
    """A source that streams: `at` and `id`."""

    @app.source(**options)
    def ticks(spark: SparkSession) -> DataFrame:
        return spark.readStream.format("rate").load().toDF("at", "id")


def kept(app: Application, name: str) -> None:
    """A sink for the rows of an operator."""

    @app.sink(name=f"{name}_sink", inputs=[name])
    def keep(frame: DataFrame) -> None: ...


def steps(frame: DataFrame) -> list[str]:
    """The names of all steps of a plan, from the top."""

    def walk(node: Any) -> Iterator[str]:
        yield str(node.nodeName())
        for number in range(node.children().size()):
            yield from walk(node.children().apply(number))

    java: Any = frame
    return list(walk(java._jdf.queryExecution().analyzed()))


# what streams


def counted_windows(**options: Any) -> Application:
    """ticks -> marked -> windows; ticks -> doubled; a sink behind each."""
    app = Application("windows", **options)
    ticks(app)

    @app.operator
    def marked(ticks: DataFrame) -> DataFrame:
        return ticks.withWatermark("at", "5 seconds").withColumn("key", F.col("id") % 3)

    @app.operator(parallelism=3, key="key")
    def windows(marked: DataFrame) -> DataFrame:
        return marked.groupBy(F.window("at", "10 seconds"), "key").count()

    @app.operator(parallelism=2)
    def doubled(ticks: DataFrame) -> DataFrame:
        return ticks.withColumn("id", F.col("id") * 2)

    kept(app, "windows")
    kept(app, "doubled")
    return app


def test_state_is_kept_for_every_instance_and_stateless_operators_work_on_batches(weave: Weave) -> None:
    """What leads to state has to stream; for the rest a batch is better: its rows are fixed."""
    weaver = weave(counted_windows(output_mode="append"))
    assert weaver.streams
    assert weaver.stateful == ["windows"] * 3
    names = steps(weaver.stream())
    assert names.count("Aggregate") == 3
    # one for each instance: a shuffle that several read hides the watermark from Spark
    assert names.count("EventTimeWatermark") == 3


@pytest.mark.parametrize(
    "session", [SparkSession.getActiveSession, lambda: SparkSession.builder.getOrCreate()]
)
def test_the_session_that_there_is_has_the_views_of_an_operators_rows(
    weave: Weave, spark: SparkSession, session: Callable[[], SparkSession]
) -> None:
    """Also where rows are in a session of their own, as those of a stream's batches are."""
    app = Application("views")

    @app.source
    def rows(spark: SparkSession) -> DataFrame:
        return spark.range(3)

    @app.operator
    def chosen(rows: DataFrame) -> DataFrame:
        rows.createOrReplaceTempView("rows_of_chosen")
        return session().sql("SELECT id FROM rows_of_chosen WHERE id > 0")

    kept(app, "chosen")
    assert weave(app).shapes["chosen"].schema.names == ["id"]
    assert SparkSession.builder.getOrCreate() is spark
    assert SparkSession.getActiveSession() is spark
    assert not spark.catalog.tableExists("rows_of_chosen")


def test_windows_that_several_take_keep_their_watermark(weave: Weave) -> None:
    """Without it none would ever come out."""
    app = Application("windows", output_mode="append")
    ticks(app)

    @app.operator
    def windows(ticks: DataFrame) -> DataFrame:
        return ticks.withWatermark("at", "5 seconds").groupBy(F.window("at", "10 seconds")).count()

    kept(app, "windows")

    @app.sink
    def board(windows: DataFrame) -> None: ...

    assert steps(weave(app).stream()).count("EventTimeWatermark") == 1


@pytest.mark.parametrize(
    "homes",
    [
        {"windows": ("rome", "paris", "tokyo"), "doubled": ("rome", "tokyo")},
        {"windows": ("paris", "rome", "paris"), "doubled": ("tokyo", "tokyo"), "ticks": ("tokyo",)},
    ],
)
def test_the_streaming_plan_is_the_same_for_every_placement(
    weave: Weave, homes: dict[str, tuple[str, ...]]
) -> None:
    """Its checkpoint numbers sources and states by where they stand in the plan."""
    app = counted_windows(output_mode="append")
    assert steps(weave(app, **homes).stream()) == steps(weave(app).stream())


def test_without_streams_it_is_one_batch(weave: Weave) -> None:
    app = Application("table")

    @app.source
    def rows(spark: SparkSession) -> DataFrame:
        return spark.range(3)

    kept(app, "rows")
    weaver = weave(app)
    assert not weaver.streams
    assert weaver.stateful == []


@pytest.mark.parametrize(
    ("function", "mode"),
    [
        (lambda frame: frame.withColumn("id", F.col("id") + 1), "append"),
        (lambda frame: frame.groupBy("id").count(), "update"),
        (lambda frame: frame.dropDuplicates(["id"]), "update"),
        (lambda frame: frame.withWatermark("at", "1 second").dropDuplicatesWithinWatermark(["id"]), "update"),
    ],
)
def test_changed_rows_come_out_where_there_is_state(
    weave: Weave, function: Callable[[DataFrame], DataFrame], mode: str
) -> None:
    """Unless the application asks for something else."""
    app = Application("modes")
    ticks(app)
    app.operator(function, name="work", inputs=["ticks"])
    kept(app, "work")
    weaver = weave(app)
    assert weaver.output_mode() == mode
    assert weaver.stateful == (["work"] if mode == "update" else [])


def test_two_streams_joined_come_out_once(weave: Weave) -> None:
    """Spark joins streams in append mode only."""
    app = Application("joined")
    ticks(app)

    @app.source
    def tocks(spark: SparkSession) -> DataFrame:
        return spark.readStream.format("rate").load().toDF("then", "number")

    @app.operator
    def joined(ticks: DataFrame, tocks: DataFrame) -> DataFrame:
        return ticks.join(tocks, ticks.id == tocks.number)

    kept(app, "joined")
    weaver = weave(app)
    assert weaver.output_mode() == "append"
    assert weaver.stateful == ["joined"]


# what is pinned


def stages_of(frame: DataFrame, profiles: dict[str, ResourceProfile]) -> list[tuple[set[str], set[str]]]:
    """For every stage of a physical plan, the steps in it and the nodes that it is pinned to."""
    nodes = {profile.id: node for node, profile in profiles.items()}
    found: list[tuple[set[str], set[str]]] = []

    def walk(node: Any, stage: tuple[set[str], set[str]]) -> None:
        name = str(node.nodeName()).partition(" ")[0]
        if name in ("Exchange", "BroadcastExchange"):
            stage = (set(), set())
            found.append(stage)
        else:
            stage[0].add(name)
        if name in ("MapInArrow", "MapInPandas") and node.profile().isDefined():
            stage[1].add(nodes[node.profile().get().id()])
        for inner in (node.children(), node.subqueries()):
            for number in range(inner.size()):
                walk(inner.apply(number), stage)

    java: Any = frame
    found.append((set(), set()))
    walk(java._jdf.queryExecution().executedPlan(), found[0])
    return found


def by_sql(rows: DataFrame, more: DataFrame) -> DataFrame:
    """A subquery that becomes a join."""
    rows.createOrReplaceTempView("these")
    more.createOrReplaceTempView("those")
    return rows.sparkSession.sql("SELECT * FROM these WHERE id IN (SELECT id FROM those WHERE word > 'a')")


def first_of(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.head(1)


def numbered(rows: DataFrame) -> DataFrame:
    return rows.withColumn("row", F.row_number().over(Window.partitionBy("word").orderBy("id")))


WORK: dict[str, Callable[[DataFrame, DataFrame], DataFrame]] = {
    "aggregation": lambda rows, more: rows.union(more).groupBy("word").agg(F.sum("id").alias("sum")),
    "two aggregations": lambda rows, more: rows.groupBy("word").count().groupBy("count").count(),
    "distinct values": lambda rows, more: rows.groupBy("word").agg(F.count_distinct("id").alias("ids")),
    "both": lambda rows, more: rows.intersect(more),
    "merge join": lambda rows, more: rows.hint("merge").join(more, "id"),
    "broadcast join": lambda rows, more: rows.join(F.broadcast(more), "id"),
    "cross join": lambda rows, more: rows.crossJoin(more.toDF("a", "b")),
    "window": lambda rows, more: numbered(rows),
    "sorted": lambda rows, more: rows.union(more).orderBy("id").limit(3),
    "pandas": lambda rows, more: rows.groupBy("word").applyInPandas(first_of, "id long, word string"),
    "repartitioned": lambda rows, more: rows.repartition(3, "word").sortWithinPartitions("id"),
    "subquery": by_sql,
    "one stage": lambda rows, more: rows.union(more).where("id > 1").withColumn("word", F.upper("word")),
}


@pytest.mark.parametrize(
    ("kind", "instances"),
    [*((kind, 1) for kind in WORK), *((kind, 2) for kind in WORK if kind not in ("distinct values", "both"))],
)
def test_every_stage_of_an_operator_is_on_its_node(
    weave: Weave, profiles: dict[str, ResourceProfile], kind: str, instances: int
) -> None:
    """Whatever it shuffles: no stage is pinned nowhere or twice, and what works is in Paris."""
    app = Application("pins")

    @app.source
    def rows(spark: SparkSession) -> DataFrame:
        return spark.createDataFrame([(1, "one")], "id long, word string")

    @app.source
    def more(spark: SparkSession) -> DataFrame:
        return spark.createDataFrame([(1, "one")], "id long, word string")

    @app.operator(parallelism=instances, key="word")
    def work(rows: DataFrame, more: DataFrame) -> DataFrame:
        return WORK[kind](rows, more)

    kept(app, "work")
    ((_, _, (frame,)),) = weave(app, work=("paris",) * instances, work_sink=("tokyo",)).sinks(None)
    stages = stages_of(frame, profiles)
    assert [pins for _, pins in stages if len(pins) != 1] == []
    assert {pin for _, pins in stages for pin in pins} == set(NODES)
    at_work = {"HashAggregate", "SortAggregate", "SortMergeJoin", "BroadcastHashJoin", "Window", "Sort"}
    assert [pins for names, pins in stages if names & at_work and pins != {"paris"}] == []


def test_columns_keep_their_names_and_types(weave: Weave) -> None:
    """Names with dots, spaces and backticks, twins, and two of one name; types that Arrow has to carry."""
    app = Application("columns")
    expressions = [
        F.col("id").alias("a.b"),
        F.col("id").alias("with space"),
        F.col("id").alias("tick`ed"),
        F.col("id").alias("Twin"),
        F.col("id").alias("twin"),
        F.col("id").alias("twin"),
        F.create_map(F.lit("key"), F.array("id")).alias("map"),
        F.struct(F.col("id").alias("in.ner"), F.lit(1).cast("decimal(9,2)")).alias("struct"),
        F.lit(None).alias("nothing"),
        F.lit(b"bytes").alias("bytes"),
        F.current_date().alias("date"),
    ]

    @app.source
    def rows(spark: SparkSession) -> DataFrame:
        return spark.range(3)

    @app.operator
    def odd(rows: DataFrame) -> DataFrame:
        return rows.select(*expressions)

    @app.operator(parallelism=2)
    def same(odd: DataFrame) -> DataFrame:
        return odd

    kept(app, "same")
    weaver = weave(app)
    assert weaver.shapes["same"].schema.simpleString() == weaver.shapes["odd"].schema.simpleString()
    ((_, _, (frame,)),) = weaver.sinks(None)
    plain = weaver.session.range(3).select(*expressions)
    assert frame.columns == plain.columns
    assert frame.schema.simpleString() == plain.schema.simpleString()


# what is refused


def test_rows_that_belong_together_need_a_key(weave: Weave) -> None:
    app = Application("keyless")
    ticks(app)
    app.operator(lambda ticks: ticks.groupBy("id").count(), name="count", parallelism=2)
    kept(app, "count")
    assert mistake(weave, app).startswith("operator 'count': has 2 instances, and rows that belong together")


def test_a_key_is_a_column_of_every_input(weave: Weave) -> None:
    app = Application("key")
    ticks(app)
    app.operator(lambda ticks: ticks.groupBy("id").count(), name="count", parallelism=2, key="ID_")
    kept(app, "count")
    assert mistake(weave, app) == "operator 'count': key: 'ticks' has no column 'ID_'; it has at, id"


@pytest.mark.parametrize("name", ["ticks", "keep"])
def test_ends_on_several_nodes_are_called_for_each(weave: Weave, name: str) -> None:
    """So they have to know which one they are."""
    app = Application("ends")
    ticks(app, parallelism=2)

    @app.sink(parallelism=2)
    def keep(ticks: DataFrame) -> None: ...

    line = mistake(weave, app, **{name: ("rome", "paris")})
    assert line.startswith(f"operator '{name}': a ")
    assert line.endswith("give its function a parameter 'instance'")


def test_state_behind_state_is_not_shared(weave: Weave) -> None:
    """Spark would keep the state of the first one twice, and count differently."""
    app = Application("twice")
    ticks(app)
    app.operator(lambda ticks: ticks.dropDuplicates(["id"]), name="new")
    app.operator(lambda new: new.groupBy("id").count(), name="count", parallelism=2, key="id")
    kept(app, "count")
    assert mistake(weave, app).startswith("operator 'count': state is kept in it or behind it")


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (lambda ticks: ticks.selectExpr("nmae"), "operator 'work': AnalysisException: [UNRESOLVED_COLUMN"),
        (lambda ticks: 1 // 0, "operator 'work': ZeroDivisionError: "),
        (lambda ticks: None, "operator 'work': gave NoneType, expected a DataFrame of Spark"),
        (lambda ticks: ticks.toDF("a"), "operator 'work': AnalysisException: [ASSIGNMENT_ARITY"),
    ],
)
def test_a_function_that_does_not_work_is_named(
    weave: Weave, function: Callable[[DataFrame], Any], line: str
) -> None:
    app = Application("broken")
    ticks(app)
    app.operator(function, name="work")
    kept(app, "work")
    assert mistake(weave, app).startswith(line)


def test_a_schema_that_is_none_is_named(weave: Weave) -> None:
    app = Application("schema")
    ticks(app)
    app.map_in_arrow("id lnog", name="work")(lambda ticks: ticks)
    kept(app, "work")
    assert mistake(weave, app).startswith("operator 'work': schema 'id lnog': ")


def test_rows_need_columns(weave: Weave) -> None:
    """Without any, Arrow forgets how many rows there are."""
    app = Application("empty")
    ticks(app)
    app.operator(lambda ticks: ticks.select(), name="none")
    kept(app, "none")
    assert mistake(weave, app) == "operator 'none_sink': the rows of 'none' have no columns"
