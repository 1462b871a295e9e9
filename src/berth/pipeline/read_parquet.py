"""Records from Parquet files, whatever types their columns have."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from berth.pipeline.feed import EXPECTED, SPARK_TYPES, Field, Folder
from berth.pipeline.times import time_from_text

_KINDS: dict[str, tuple[type[T.DataType], ...]] = {
    "name": (T.StringType, T.CharType, T.VarcharType, T.BinaryType, T.IntegralType),
    "flag": (T.BooleanType,),
    "number": (T.NumericType,),
    "time": (T.TimestampType, T.TimestampNTZType, T.DateType, T.NumericType, T.StringType),
}


def read_parquet(
    session: SparkSession, folder: Folder, paths: list[str], nanoseconds: frozenset[str]
) -> DataFrame:
    """The records of Parquet files of one schema."""
    rows = session.read.parquet(*paths)
    kinds = {item.name: item.dataType for item in rows.schema}
    values = {
        field.name: _value(field, kinds[field.name], field.name in nanoseconds)
        for field in folder.fields
        if field.name in kinds and isinstance(kinds[field.name], _KINDS[field.kind])
    }
    columns = [
        values.get(field.name, F.lit(None)).cast(SPARK_TYPES[field.kind]).alias(field.name)
        for field in folder.fields
    ]
    # a column of another kind, or a time that is none
    faults = [
        F.when(
            F.col(f"`{field.name}`").isNotNull() & values.get(field.name, F.lit(None)).isNull(),
            f"{field.name}: {EXPECTED[field.kind]}",
        )
        for field in folder.fields
        if field.name in kinds and (field.name not in values or field.kind == "time")
    ]
    return rows.select(
        *columns,
        F.coalesce(*faults, F.lit(None).cast("string")).alias("fault"),
        F.col("_metadata.file_path").alias("path"),
        F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("record"),
    )


def _value(field: Field, kind: T.DataType, nanoseconds: bool) -> Column:
    column = F.col(f"`{field.name}`")
    if field.kind != "time":
        return column
    if isinstance(kind, T.NumericType):
        # Spark has no nanoseconds: the session reads such times as whole numbers
        return F.floor(column / 1_000_000) if nanoseconds else column.try_cast("bigint")
    return (
        time_from_text(column) if isinstance(kind, T.StringType) else F.unix_millis(column.cast("timestamp"))
    )
