"""The problem file, field by field: the one description that reading, checking and `berth schema` follow.

A field of the same name in `berth.model` takes the value as it is, and has the default.
"""

from typing import TYPE_CHECKING, Annotated, Literal, Required

from pydantic import Field
from typing_extensions import TypedDict

from berth.evaluation import METRIC_BY_NAME
from berth.files.format import (
    LARGEST_AMOUNT,
    Amount,
    Format,
    Labels,
    Name,
    Names,
    Number,
    Share,
    about,
    by_kind,
    closed,
    listed,
    mapping,
    text,
    whole,
)

PROBLEM_FORMAT = "berth/v1"
SLOWEST, FASTEST = 1e-12, 1e12
"""Speeds that a node may have."""
MOST_INSTANCES = 100_000

Amounts = dict[str, Amount]
Matrix = list[list[Amount | None]]
if TYPE_CHECKING:
    MetricName = str
else:
    MetricName = Literal[tuple(METRIC_BY_NAME)]


@closed
class NodeDocument(TypedDict, total=False):
    """A machine."""

    name: Required[Name]
    hosts: Annotated[bool, about("false: holds data, runs no operator")]
    capacity: Annotated[Amounts, about("amounts by resource; a resource that is not named is 0")]
    speed: Annotated[
        float,
        Field(gt=0, ge=SLOWEST, le=FASTEST, allow_inf_nan=False),
        about("of each core, against the reference processor"),
    ]
    cores: Annotated[
        float,
        Field(gt=0, ge=SLOWEST, le=FASTEST, allow_inf_nan=False),
        about("processors, each of its speed"),
    ]
    availability: Share
    run_queue: Annotated[Amount, about("processes that wait for the processor already")]
    nic_bytes_per_s: Annotated[Amount, about("the network card: sent plus received")]
    cost_per_hour: Annotated[Amount, about("money, while it hosts anything")]
    carbon_g_per_hour: Annotated[Amount, about("grams of carbon dioxide, while it hosts anything")]
    coordinates: Annotated[list[Number], Field(min_length=1), about("in ms, as many for every node")]
    height_ms: Annotated[Amount, about("beside coordinates: the way into the network")]
    holds: Annotated[list[Name], about("the objects that this node can serve")]
    labels: Annotated[Labels, about("values by name, for rules")]


_Ends = TypedDict("_Ends", {"from": Required[Name], "to": Required[Name]})


@closed
class LinkDocument(_Ends, total=False):
    """What lies between two nodes."""

    delay_ms: Annotated[Amount, about("needed unless the matrix or coordinates have it")]
    availability: Annotated[Share, about("multiplies along a path")]
    bandwidth_bytes_per_s: Amount
    cost: Annotated[Amount, about("the price of one unit of traffic; default: delay_ms")]
    price_per_gb: Annotated[Amount, about("money for 10^9 bytes")]


@closed
class NetworkDocument(TypedDict, total=False):
    """The machines and what lies between them."""

    symmetric: Annotated[
        bool, about("an entry of links holds both ways, unless there is one for the other way")
    ]
    routing: Annotated[
        Literal["direct", "shortest_path"], about("shortest_path: links and matrices are physical")
    ]
    duplex: Annotated[Literal["full", "half"], about("half: both directions of a link share its bandwidth")]
    one_port: Annotated[
        bool, about("at each node the shares of link bandwidth in use sum to at most 1, each way")
    ]
    headroom: Annotated[
        float, Field(ge=0, lt=1, allow_inf_nan=False), about("the share of every capacity that stays free")
    ]
    max_utilisation: Annotated[
        float,
        Field(gt=0, le=1, allow_inf_nan=False),
        about("the share of its processors that a node, and of one core that an instance, may keep busy"),
    ]
    nodes: Required[Annotated[list[NodeDocument], Field(min_length=1)]]
    links: list[LinkDocument]
    delay_ms: Annotated[Matrix, about("in node order: row sends, column receives; null: no link")]
    availability: list[list[Share | None]]
    bandwidth_bytes_per_s: Matrix
    cost: Matrix
    price_per_gb: Matrix


@closed
class ObjectDocument(TypedDict):
    """Something that operators read."""

    name: Name
    bytes: Amount


@closed
class ReadDocument(TypedDict):
    """What an operator reads, and how often."""

    object: Name
    per_s: Amount


@closed
class OperatorDocument(TypedDict, total=False):
    """A step of an application."""

    name: Required[Name]
    pinned: Annotated[Name, about("the one node where it must be; not beside candidates")]
    candidates: Annotated[list[Name], about("the nodes where it may be; default: all that host")]
    demand: Annotated[Amounts, about("amounts by resource, of each instance")]
    work_ms: Annotated[Amount, about("time for one data unit on the reference processor")]
    parallelism: Annotated[int, Field(ge=1, le=MOST_INSTANCES), whole, about("number of instances")]
    emits_bytes_per_s: Annotated[Amount, about("a source's total output")]
    selectivity: Annotated[Amount, about("output bytes / input bytes")]
    output_bytes: Annotated[Amount, about("size of one result")]
    type: Annotated[str, about("operators of one type over equal inputs compute the same thing")]
    reads: list[ReadDocument]
    state_bytes: Annotated[Amount, about("what a migration of one instance must move")]
    placement_cost: Annotated[Amounts, about("a price for hosting one instance, by node")]


@closed
class StreamDocument(_Ends, total=False):
    """What one operator sends to another."""

    bytes_per_s: Annotated[Amount, about("the total rate; default: derived")]
    tuple_bytes: Annotated[
        float,
        Field(gt=0, le=LARGEST_AMOUNT, allow_inf_nan=False),
        about("the size of one data unit; default: the sender's output_bytes"),
    ]
    grouping: Annotated[
        Literal["shuffle", "all", "global", "forward"], about("forward: instance k sends to instance k")
    ]


@closed
class ContainersDocument(TypedDict):
    """What the instances of an application are packed into."""

    count: Annotated[int, Field(ge=1), whole]
    capacity: Amounts


@closed
class RuleDocument(TypedDict, total=False):
    """A rule of one kind, with what goes with it."""

    together: Annotated[Names, about("on one node")]
    apart: Annotated[Names, about("no two of these instances on one node, or with the same label")]
    spread: Annotated[Names, about("at most so many of these instances on one node, or with the same label")]
    most: Annotated[int, Field(ge=1), whole, about("how many instances spread allows")]
    by: Annotated[str, about("the label that apart and spread go by")]
    where: Annotated[Labels, about("only on nodes with these labels")]
    operators: Annotated[Names, about("whom where is about")]


@closed
class ApplicationDocument(TypedDict, total=False):
    """A graph of operators with its requirements."""

    name: Required[Name]
    throughput_per_s: Annotated[Amount, about("results per second to be kept up")]
    max_response_time_ms: Annotated[Amount, about("requirement on the slowest path")]
    min_availability: Annotated[Share, about("requirement on the availability of this application")]
    containers: ContainersDocument
    rules: list[RuleDocument]
    operators: Required[Annotated[list[OperatorDocument], Field(min_length=1)]]
    streams: list[StreamDocument]


Weights = dict[MetricName, Amount]


@closed
class SurviveDocument(TypedDict):
    """The loss of all nodes with one value of a label."""

    label: str


@closed
class ProblemDocument(TypedDict, total=False):
    """A whole problem file."""

    format: Required[Literal["berth/v1"]]
    name: Required[Name]
    network: Required[NetworkDocument]
    objects: Annotated[list[ObjectDocument], about("what operators read")]
    applications: Required[Annotated[list[ApplicationDocument], Field(min_length=1)]]
    sharing: Annotated[bool, about("false: every application computes everything for itself")]
    objective: Annotated[
        Annotated[Weights, mapping] | Annotated[list[Weights], Field(min_length=1), listed],
        by_kind,
        about("weights by metric, or a list of them: goals in order"),
    ]
    objective_within: Annotated[
        list[Amount], about("by goal of the list, how near to its best value is near enough")
    ]
    objective_scale: Annotated[
        Literal["normalised", "raw"], about("raw: the weighted sum of the metrics as they are")
    ]
    objective_bounds: Annotated[
        dict[MetricName, Annotated[list[Number], Field(min_length=2, max_length=2)]],
        about("[best, worst] by metric, for the normalisation"),
    ]
    survive: Annotated[
        Annotated[Name, text] | Annotated[SurviveDocument, mapping],
        by_kind,
        about("'node', or the label whose values are lost: the losses that a plan survives"),
    ]


PROBLEM = Format(ProblemDocument, "berth problem")
