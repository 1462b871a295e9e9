"""What nodes say to proposals: yes, in an order, as long as there is room."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

ROUNDING = 1e-9
"""Amounts are compared with this relative tolerance, as the judge does."""
GRAPH = ("source", "application")


def takes_of(proposals: DataFrame) -> DataFrame:
    """A row for each operator and node of a proposal: what it takes there, and what is left there."""
    return proposals.where(F.col("parts").isNotNull()).select(*GRAPH, "priority", F.inline("parts"))


def answers_of(takes: DataFrame, columns: int) -> DataFrame:
    """For each operator of each graph whether all its nodes accept it.

    What has no choice comes first: others must not take its room. Then the graphs' priority decides.
    """
    order = Window.partitionBy("node").orderBy("chosen", "priority", *GRAPH, "operator")
    before = order.rowsBetween(Window.unboundedPreceding, -1)
    ahead = [F.coalesce(F.sum(F.col("amounts")[n]).over(before), F.lit(0.0)) for n in range(columns)]
    counted = takes.select("*", *(column.alias(f"ahead_{n}") for n, column in enumerate(ahead)))
    fits = F.forall(F.array(*(_fits(n) for n in range(columns))), lambda each: each)
    rooms = F.greatest(F.lit(0.0), *(_rooms_ahead(n) for n in range(columns)))
    judged = counted.select("*", fits.alias("fits"), F.ceil(rooms).alias("ahead"))
    refusal = F.when(~F.col("fits"), F.struct("node", "ahead"))
    return judged.groupBy(*GRAPH, "operator").agg(
        F.bool_and("fits").alias("accepted"),
        F.bool_and("chosen").alias("chosen"),
        F.bool_and("single").alias("single"),
        F.first("node").alias("node"),
        F.collect_list(refusal).alias("contested"),
    )


def verdicts_of(answers: DataFrame) -> DataFrame:
    """For each graph: whether it is `whole`, `homeless`, what is `fixed` now and what is `contested`.

    An operator that is accepted stays where it is, whatever becomes of the others; but not in a graph with
    something that has no choice and no room, and instances on several nodes only with all the rest.
    """
    whole = F.bool_and("accepted").alias("whole")
    homeless = F.bool_or(~F.col("chosen") & ~F.col("accepted")).alias("homeless")
    fixed = F.collect_list(F.when(F.col("accepted") & F.col("single"), F.struct("operator", "node")))
    contested = F.sort_array(F.flatten(F.collect_list("contested"))).alias("contested")
    return answers.groupBy(*GRAPH).agg(
        whole, homeless, F.map_from_entries(F.sort_array(fixed)).alias("newly_fixed"), contested
    )


def kept_of(takes: DataFrame, answers: DataFrame, verdicts: DataFrame) -> DataFrame:
    """The takes that hold from now on."""
    graphs = verdicts.where("NOT homeless").select(*GRAPH, "whole")
    stays = F.col("accepted") & (F.col("single") | F.col("whole"))
    operators = answers.join(graphs, [*GRAPH]).where(stays).select(*GRAPH, "operator")
    return takes.join(operators, [*GRAPH, "operator"], "left_semi")


def _fits(number: int) -> Column:
    needed = F.col(f"ahead_{number}") + F.col("amounts")[number]
    return (F.col("amounts")[number] == 0.0) | (needed <= F.col("room")[number] * (1.0 + ROUNDING))


def _rooms_ahead(number: int) -> Column:
    """How often what is left of the node is wanted by those before, where this operator needs any of it."""
    room = F.col("room")[number]
    wanted = F.col(f"ahead_{number}") / room
    return F.when((F.col("amounts")[number] > 0.0) & (room > 0.0), wanted).otherwise(0.0)
