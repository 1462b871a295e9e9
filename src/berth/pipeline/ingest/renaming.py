"""Records that call nodes, operators and instances by other names than the problem does."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.files.names_file import Names
from berth.pipeline.feeds.feed import Feed
from berth.pipeline.ingest.checks import literal


def renamed(records: DataFrame, feed: Feed, names: Names | None) -> DataFrame:
    """The records with the problem's names; those that nobody renames stay, and are judged as they are."""
    if names is None:
        return records
    columns: dict[str, Column] = {}
    moved: list[Column] = []
    has_instances = any(field.of == "instance" for field in feed.fields)
    for field in feed.fields:
        own = F.col(f"`{field.name}`")
        if field.of == "node":
            columns[field.name] = F.coalesce(_looked_up(names.nodes, own), own)
        elif field.of == "operator":
            # an instance that has a name of its own tells its operator
            of_instance = [F.substring_index(_instance(names), "#", 1)] if has_instances else []
            new = F.coalesce(_in_application(names.operators, own), *of_instance)
            columns[field.name] = F.coalesce(_name(new), own)
            moved.append(_application(new))
        elif field.of == "instance":
            operator = F.substring_index(own, "#", 1)
            by_operator = F.concat(
                _name(_in_application(names.operators, operator)), F.substr(own, F.length(operator) + 1)
            )
            columns[field.name] = F.coalesce(_name(_instance(names)), by_operator, own)
            moved.append(_application(_instance(names)))
    if moved:
        columns["application"] = F.coalesce(*moved, F.col("application"))
    return records.withColumns(columns)


def _instance(names: Names) -> Column:
    return _in_application(names.instances, F.col("instance"))


def _in_application(names: Mapping[str, str], own: Column) -> Column:
    """What a name within an application is called: a name for this application comes before one for all."""
    full = F.concat_ws("/", F.col("application"), own)
    return F.coalesce(_looked_up(names, full), _looked_up(names, own))


def _looked_up(names: Mapping[str, str], own: Column) -> Column:
    """The new name of an old one; null where it has none."""
    if not names:
        return F.lit(None).cast("string")
    texts = (literal(text) for pair in names.items() for text in pair)
    # as text it is one message to Java, and not one for each name
    return F.try_element_at(F.expr(f"map({', '.join(texts)})"), own)


def _name(full: Column) -> Column:
    """The part behind the application's name, or all of it."""
    return F.substring_index(full, "/", -1)


def _application(full: Column) -> Column:
    """The application in a name that has one; null otherwise."""
    return F.when(F.contains(full, F.lit("/")), F.substring_index(full, "/", 1))
