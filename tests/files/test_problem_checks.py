"""Every kind of mistake in a problem document is one line with the path of the field."""

import math
from typing import Any

import pytest

from berth.files import problem_from
from berth.model import BadInput
from tests.files.documents import GONE, problem_document, put

NODE = "network.nodes[0]"
LINK = "network.links[0]"
FIRST = "applications[0]"
TAG = "applications[0].operators[1]"
STREAM = "applications[0].streams[1]"
RULE = "applications[0].rules[0]"
HUGE = 10**400

ONE_FIELD: list[tuple[str, Any, str]] = [
    # a path, what is written there, and what the line says after the path
    # what a file is
    ("format", "berth/v2", "expected 'berth/v1', found 'berth/v2'"),
    ("format", 1, "expected 'berth/v1', found 1"),
    ("format", GONE, "is needed"),
    ("name", GONE, "is needed"),
    ("name", "two words", "'two words' is not a valid name"),
    ("name", "", "'' is not a valid name"),
    ("name", "line\n", r"'line\n' is not a valid name"),
    ("name", None, "expected a string, found null"),
    ("network", GONE, "is needed"),
    ("network", [], "expected a mapping, found a list"),
    ("applications", GONE, "is needed"),
    ("applications", [], "at least 1 needed, found none"),
    ("applications", {}, "expected a list, found a mapping"),
    ("sharing", "no", "expected a boolean, found 'no'"),
    # unknown keys at every level
    ("applicatoins", [], "unknown key named 'applicatoins'; did you mean 'applications'?"),
    ("network.node", [], "unknown key named 'node'; did you mean 'nodes'?"),
    (f"{NODE}.cpu", 4, "unknown key named 'cpu'"),
    (f"{LINK}.delay", 4, "unknown key named 'delay'; did you mean 'delay_ms'?"),
    ("objects[0].size", 4, "unknown key named 'size'"),
    (f"{FIRST}.throughput", 4, "unknown key named 'throughput'; did you mean 'throughput_per_s'?"),
    (f"{FIRST}.containers.number", 4, "unknown key named 'number'"),
    (f"{RULE}.near", ["tag"], "unknown key named 'near'"),
    (f"{TAG}.work", 4, "unknown key named 'work'; did you mean 'work_ms'?"),
    (f"{STREAM}.rate", 4, "unknown key named 'rate'"),
    ("applications[1].operators[0].reads[0].rate", 4, "unknown key named 'rate'"),
    ("objective.latency", 1, "unknown key named 'latency'"),
    ("objective_bounds.latency", [0, 1], "unknown key named 'latency'"),
    ("network.<<", {"headroom": 0}, "unknown key named '<<'"),
    ("network.a\nb", 1, r"unknown key named 'a\nb'"),
    ("network.\x1bred", 1, r"unknown key named '\x1bred'"),
    # wrong types
    (f"{NODE}.capacity", 4, "expected a mapping, found 4"),
    (f"{NODE}.capacity.cpu", "four", "expected a number, found 'four'"),
    (f"{NODE}.capacity.cpu", True, "expected a number, found true"),
    (f"{NODE}.hosts", 1, "expected a boolean, found 1"),
    (f"{NODE}.hosts", "no", "expected a boolean, found 'no'"),
    (f"{NODE}.coordinates", 3.0, "expected a list, found 3.0"),
    (f"{NODE}.coordinates", [], "at least 1 needed, found none"),
    (f"{NODE}.labels.zone", None, "expected a string or a number or a boolean, found null"),
    (f"{NODE}.holds", "camera", "expected a list, found 'camera'"),
    (f"{LINK}.delay_ms", "22 ms", "expected a number, found '22 ms'"),
    (f"{LINK}.delay_ms", None, "expected a number, found null"),
    (f"{TAG}.parallelism", 1.5, "expected a whole number, found 1.5"),
    (f"{TAG}.parallelism", True, "expected a whole number, found true"),
    (f"{TAG}.parallelism", "2", "expected a whole number, found '2'"),
    (f"{TAG}.candidates", "rome", "expected a list, found 'rome'"),
    (f"{STREAM}.grouping", "some", "expected 'shuffle' or 'all' or 'global' or 'forward', found 'some'"),
    (f"{STREAM}.to", GONE, "is needed"),
    ("network.routing", "fastest", "expected 'direct' or 'shortest_path', found 'fastest'"),
    ("network.duplex", "both", "expected 'full' or 'half', found 'both'"),
    ("objective", "response_time", "expected a mapping or a list, found 'response_time'"),
    ("objective_scale", "log", "expected 'normalised' or 'raw', found 'log'"),
    ("objective_bounds.response_time", [1], "2 needed, found 1"),
    ("objective_bounds.response_time", [1, 2, 3], "2 needed, found 3"),
    # numbers out of bounds
    (f"{NODE}.speed", 0, "0 is not above 0"),
    (f"{NODE}.speed", -1, "-1 is not above 0"),
    (f"{NODE}.availability", 1.01, "1.01 is above 1"),
    (f"{NODE}.availability", -0.1, "-0.1 is below 0"),
    (f"{NODE}.run_queue", -1, "-1 is below 0"),
    (f"{NODE}.coordinates[0]", math.nan, "nan is not a finite number"),
    (f"{NODE}.height_ms", math.inf, "inf is not a finite number"),
    (f"{NODE}.nic_bytes_per_s", -math.inf, "-inf is not a finite number"),
    (f"{NODE}.cost_per_hour", HUGE, "a number beyond all bounds is not a finite number"),
    (f"{NODE}.capacity.cpu", -HUGE, "a number beyond all bounds is not a finite number"),
    ("network.headroom", 1, "1 is not below 1"),
    ("network.headroom", -0.5, "-0.5 is below 0"),
    (f"{LINK}.delay_ms", -1, "-1 is below 0"),
    (f"{LINK}.bandwidth_bytes_per_s", math.nan, "nan is not a finite number"),
    (f"{TAG}.work_ms", -1e-300, "-1e-300 is below 0"),
    (f"{TAG}.parallelism", 0, "0 is below 1"),
    (f"{TAG}.parallelism", HUGE, "a number beyond all bounds is not a finite number"),
    (f"{TAG}.parallelism", 200_000, "200000 is above 100000"),
    (f"{FIRST}.throughput_per_s", -1, "-1 is below 0"),
    (f"{FIRST}.min_availability", 90, "90 is above 1"),
    (f"{FIRST}.containers.count", 0, "0 is below 1"),
    ("objects[0].bytes", -5, "-5 is below 0"),
    ("objective.response_time", -1, "-1 is below 0"),
    ("objective.response_time", math.nan, "nan is not a finite number"),
    # names
    (f"{TAG}.name", "tag#1", "'tag#1' is not a valid name"),
    ("applications[1].name", "first", "an application named 'first' is there already"),
    (f"{LINK}.to", "pariss", "no node named 'pariss'; did you mean 'paris'?"),
    (f"{LINK}.to", "rome", "a node needs no link to itself"),
    (f"{TAG}.candidates[0]", "roma", "no node named 'roma'; did you mean 'rome'?"),
    (f"{TAG}.candidates[1]", "rome", "a node named 'rome' is there already"),
    (f"{TAG}.placement_cost.milan", 1, "no node named 'milan'"),
    (f"{TAG}.placement_cost.{{x}}", 1, "no node named '{x}'"),
    (f"{FIRST}.operators[0].pinned", "roem", "no node named 'roem'; did you mean 'rome'?"),
    ("applications[1].operators[0].reads[0].object", "gauge", "no object named 'gauge'"),
    (f"{STREAM}.to", "cuont", "no operator named 'cuont'; did you mean 'count'?"),
    (f"{STREAM}.from", "look", "no operator named 'look'"),
    (f"{RULE}.together[1]", "cuont", "no operator named 'cuont'; did you mean 'count'?"),
    (f"{RULE}.together[1]", "tag", "an operator named 'tag' is there already"),
    # what doesn't go together
    (f"{TAG}.pinned", "rome", "stands beside candidates; keep one of the two"),
    ("network.nodes[1].coordinates", [1, 2, 3], "3 dimensions, but 2 at network.nodes[0]"),
    (f"{FIRST}.operators", [], "at least 1 needed, found none"),
    (f"{RULE}.by", "zone", "does not go with together"),
    ("applications[0].rules[2].operators", GONE, "is needed"),
    ("objective_bounds.response_time", [90, 10], "best (90) must not be above worst (10)"),
    ("objective_bounds.availability", [0.5, 0.9], "best (0.5) must not be below worst (0.9)"),
    ("objective_bounds.availability", [0.5, 0], "availabilities above 0 and up to 1 are needed"),
    ("objective.processing_power", 1, "applications[1] has no throughput_per_s"),
]

OTHERS: list[tuple[str, dict[str, Any], list[str]]] = [
    # what it is, what is written where, and how the lines begin
    ("reads without a rate", {f"{TAG}.reads": [{"object": "camera"}]}, [f"{TAG}.reads[0].per_s: is needed"]),
    ("a read that is no mapping", {f"{TAG}.reads": ["camera"]}, [f"{TAG}.reads[0]: expected a mapping"]),
    (
        "an object read twice",
        {"applications[1].operators[0].reads[1]": {"object": "camera", "per_s": 1}},
        ["applications[1].operators[0].reads[1].object: an object named 'camera' is there already"],
    ),
    (
        "two objects of one name",
        {"objects[1]": {"name": "camera", "bytes": 1}},
        ["objects[1].name: an object"],
    ),
    ("an unknown object held", {f"{NODE}.holds": ["camrea"]}, [f"{NODE}.holds[0]: no object named 'camrea'"]),
    (
        "an object held twice",
        {"network.nodes[2].holds": ["camera", "camera"]},
        ["network.nodes[2].holds[1]: an object named 'camera' is there already"],
    ),
    (
        "two nodes of one name",
        {"network.nodes[3]": {"name": "rome"}, "network.delay_ms": [[None] * 4] * 4},
        ["network.nodes[3].name: a node named 'rome' is there already (network.nodes[0].name)"],
    ),
    ("a node with a bad name", {f"{NODE}.name": "a b"}, [f"{NODE}.name: 'a b' is not a valid name"]),
    (
        "two operators of one name",
        {"applications[1].operators[1].name": "look"},
        [
            "applications[1].operators[1].name: an operator named 'look' is there already",
            "applications[1].streams[0].to: no operator named 'show'",
        ],
    ),
    ("no nodes", {"network.nodes": []}, ["network.nodes: at least 1 needed, found none"]),
    (
        "two links of one kind",
        {"network.links[3]": {"from": "rome", "to": "paris", "delay_ms": 1}},
        ["network.links[3]: a link named 'rome -> paris' is there already (network.links[0])"],
    ),
    (
        "a link between unknown nodes",
        {"network.links[0]": {"from": "rom", "to": "pari", "delay_ms": 1}},
        [f"{LINK}.from: no node named 'rom'", f"{LINK}.to: no node named 'pari'"],
    ),
    ("a link without a delay", {"network.links[1].delay_ms": GONE}, ["network.links[1].delay_ms: is needed"]),
    (
        "a link without a delay where the matrix has none",
        {"network.links[1].delay_ms": GONE, "network.delay_ms": [[None] * 3] * 3},
        ["network.links[1].delay_ms: is needed"],
    ),
    (
        "a physical link without a delay",
        {f"{LINK}.delay_ms": GONE, "network.routing": "shortest_path"},
        [f"{LINK}.delay_ms: is needed"],
    ),
    (
        "a height without coordinates",
        {"network.nodes[2].height_ms": 1},
        ["network.nodes[2].height_ms: a height needs coordinates beside it"],
    ),
    (
        "a matrix with a row too few",
        {"network.delay_ms": [[0, 1, 1]] * 2},
        ["network.delay_ms: 2 rows, but 3 nodes"],
    ),
    (
        "a matrix with a row too many",
        {"network.cost": [[0, 1, 1]] * 4},
        ["network.cost: 4 rows, but 3 nodes"],
    ),
    (
        "a ragged matrix",
        {"network.availability": [[1, 1, 1], [1, 1], [1, 1, 1, 1]]},
        [
            "network.availability[1]: 2 entries, but 3 nodes",
            "network.availability[2]: 4 entries, but 3 nodes",
        ],
    ),
    ("an empty matrix", {"network.delay_ms": []}, ["network.delay_ms: 0 rows, but 3 nodes"]),
    (
        "a flat matrix",
        {"network.delay_ms": [1, 2, 3]},
        [f"network.delay_ms[{row}]: expected a list, found {row + 1}" for row in range(3)],
    ),
    (
        "NaN in a matrix",
        {"network.delay_ms": [[0, 1, 1], [1, 0, math.nan], [1, 1, 0]]},
        ["network.delay_ms[1][2]: nan is not a finite number"],
    ),
    (
        "infinity in a matrix",
        {"network.cost": [[0, math.inf, -math.inf], [1, 0, 1], [1, 1, 0]]},
        [
            "network.cost[0][1]: inf is not a finite number",
            "network.cost[0][2]: -inf is not a finite number",
        ],
    ),
    (
        "a negative entry in a matrix",
        {"network.price_per_gb": [[0, 1, 1], [1, 0, 1], [-1, 1, 0]]},
        ["network.price_per_gb[2][0]: -1 is below 0"],
    ),
    (
        "an availability above 1 in a matrix",
        {"network.availability": [[1, 1, 2], [1, 1, 1], [1, 1, 1]]},
        ["network.availability[0][2]: 2 is above 1"],
    ),
    (
        "a boolean in a matrix",
        {"network.delay_ms": [[0, 1, 1], [True, 0, 1], [1, 1, 0]]},
        ["network.delay_ms[1][0]: expected a number or null, found true"],
    ),
    (
        "text in a matrix",
        {"network.delay_ms": [[0, 1, 1], [1, 0, "1"], [1, 1, 0]]},
        ["network.delay_ms[1][2]: expected a number or null, found '1'"],
    ),
    (
        "a huge entry in a matrix",
        {"network.delay_ms": [[0, 1, 1], [1, 0, HUGE], [1, 1, 0]]},
        ["network.delay_ms[1][2]: a number beyond all bounds is not a finite number"],
    ),
    (
        "pinned on a node that hosts nothing",
        {f"{FIRST}.operators[0].pinned": "store"},
        [f"{FIRST}.operators[0]: no node may host 'source': none of its candidates (store) hosts"],
    ),
    ("no candidates", {f"{TAG}.candidates": []}, [f"{TAG}: no node may host 'tag'"]),
    (
        "no node hosts",
        {f"network.nodes[{number}].hosts": False for number in range(3)},
        [f"{FIRST}.operators[{number}]: no node may host" for number in range(3)]
        + [f"applications[1].operators[{number}]: no node may host" for number in range(2)],
    ),
    (
        "a cycle",
        {f"{FIRST}.streams[2]": {"from": "count", "to": "tag"}},
        [f"{FIRST}.streams[1]: part of a cycle (tag -> count -> tag)"],
    ),
    ("a loop", {f"{STREAM}.to": "tag"}, [f"{STREAM}: part of a cycle (tag -> tag)"]),
    (
        "a long cycle",
        {
            "applications[1].operators": [{"name": f"o{k}"} for k in range(30)],
            "applications[1].streams": [{"from": f"o{k}", "to": f"o{(k + 1) % 30}"} for k in range(30)],
        },
        ["applications[1].streams[0]: part of a cycle (o0 -> o1 -> o2 -> o3 -> o4 -> o5 -> o6 -> o7 -> ..."],
    ),
    (
        "two streams with the same ends",
        {f"{FIRST}.streams[2]": {"from": "tag", "to": "count"}},
        [f"{FIRST}.streams[2]: a stream named 'tag -> count' is there already ({FIRST}.streams[1])"],
    ),
    (
        "a rule of two kinds",
        {f"{RULE}.apart": ["source"]},
        [f"{RULE}: one of together, apart, spread and where is needed, found together and apart"],
    ),
    (
        "a rule of no kind",
        {RULE: {"by": "zone"}},
        [f"{RULE}: one of together, apart, spread and where is needed, found none"],
    ),
    ("spread without a number", {RULE: {"spread": ["tag"]}}, [f"{RULE}.most: is needed"]),
    ("spread over nothing", {RULE: {"spread": ["tag"], "most": 0}}, [f"{RULE}.most: 0 is below 1"]),
    ("most beside apart", {RULE: {"apart": ["tag"], "most": 2}}, [f"{RULE}.most: does not go with apart"]),
    ("a rule for nobody", {f"{RULE}.together": []}, [f"{RULE}.together: at least 1 needed, found none"]),
    ("an empty objective", {"objective": {}}, ["objective: one weight above 0 is needed"]),
    (
        "weights that are all 0",
        {"objective": {"response_time": 0, "traffic": 0.0}},
        ["objective: one weight above 0 is needed"],
    ),
    (
        "unknown rates in the objective",
        {"objective.traffic": 1},
        ["objective.traffic: applications[1].streams[0] (look -> show) has no rate"],
    ),
    (
        "unknown sizes in the objective",
        {"objective.loaded_response_time": 1},
        ["objective.loaded_response_time: applications[1].streams[0] (look -> show) has no size"],
    ),
    (
        "containers wanted but none there",
        {"objective.containers_used": 1, f"{FIRST}.containers": GONE},
        ["objective.containers_used: no application has containers"],
    ),
    (
        "equal operators that disagree",
        {
            "applications[1].operators[1]": {
                "name": "show",
                "type": "look",
                "work_ms": 4,
                "output_bytes": 1,
                "reads": [{"object": "camera", "per_s": 1}],
            },
            "applications[1].streams": [],
        },
        [
            "applications[1].operators[1].work_ms: 4 differs from 3 of second/look",
            "applications[1].operators[1].output_bytes: 1 differs from null of second/look",
        ],
    ),
    (
        "too many pairs of instances",
        {
            "applications[1].operators": [
                {"name": "look", "parallelism": 9000},
                {"name": "show", "parallelism": 9000},
            ],
        },
        ["applications[1].streams: 81,000,000 pairs of instances; at most 20,000,000 are handled"],
    ),
    (
        "too many instances",
        {
            "applications[1].operators": [{"name": f"o{k}", "parallelism": 100_000} for k in range(11)],
            "applications[1].streams": [],
        },
        ["applications: 1100004 instances in all; at most 1000000 are handled"],
    ),
    (
        "mistakes in several places",
        {"name": "a b", f"{NODE}.speed": 0, f"{TAG}.work_ms": -1, "colour": "red"},
        [
            "name: ",
            f"{NODE}.speed: ",
            f"{TAG}.work_ms: ",
            "colour: ",
        ],
    ),
]


@pytest.mark.parametrize(("path", "value", "text"), ONE_FIELD)
def test_one_field(path: str, value: Any, text: str) -> None:
    """One wrong field is one line, with its path and what is wrong."""
    document = problem_document()
    put(document, path, value)
    (line,) = mistakes_in(document)
    assert line.startswith(f"{printable(path)}: {text}")


@pytest.mark.parametrize(("changes", "lines"), [pytest.param(*case, id=name) for name, *case in OTHERS])
def test_other_mistakes(changes: dict[str, Any], lines: list[str]) -> None:
    """What only shows in relation to something else is a line at the field that has to change."""
    document = problem_document()
    for path, value in changes.items():
        put(document, path, value)
    found = mistakes_in(document)
    assert len(found) == len(lines)
    for line, beginning in zip(found, lines, strict=True):
        assert line.startswith(beginning)


@pytest.mark.parametrize("document", [None, [], "text", 3, True, math.nan])
def test_no_mapping_at_all(document: Any) -> None:
    """A file that holds something else than a mapping is one line."""
    (line,) = mistakes_in(document)
    assert line.startswith("the file: expected a mapping, found ")


def test_keys_that_are_no_names() -> None:
    """YAML keys may be numbers, booleans or null; here they may not."""
    document = problem_document()
    document["network"]["nodes"][0]["capacity"] = {7: 1, True: 2, None: 3}
    assert mistakes_in(document) == [
        f"{NODE}.capacity.{key}: expected a name as the key" for key in ("7", "true", "null")
    ]


def test_the_document_is_valid() -> None:
    """The document that all these tests break is right as it is."""
    problem_from(problem_document())


def test_each_mistake_is_one_line() -> None:
    """A line break in a name does not make two lines of one mistake."""
    document = problem_document()
    document["a\nb\r\u2028c"] = 1
    document["network"]["nodes"][0]["x\ud800"] = 1
    for line in mistakes_in(document):
        assert len(line.splitlines()) == 1
        line.encode()


def test_mistakes_without_end_are_cut() -> None:
    """A thousand mistakes are twenty lines and one that counts the others."""
    document = problem_document()
    document["network"]["links"] = [{"from": "rome", "to": "paris", "delay_ms": -1} for _ in range(1254)]
    found = mistakes_in(document)
    assert len(found) == 21
    assert found[-1] == "... and 1,234 more mistakes"


def test_mistakes_that_nobody_reads_are_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for a similar name takes its time: it is done for the lines that are told."""
    compared = []
    monkeypatch.setattr(
        "berth.model.errors.get_close_matches", lambda *given, **_: compared.append(given) or []
    )
    document = problem_document()
    document["network"]["links"] = [{"from": f"rme-{n}", "to": "paris", "delay_ms": 1} for n in range(500)]
    assert mistakes_in(document)[-1] == "... and 480 more mistakes"
    assert len(compared) == 20


@pytest.mark.parametrize("place", ["problem", "node", "operator"])
def test_long_names(place: str) -> None:
    """At most 200 characters; what is longer is not repeated."""
    for length, fits in ((200, True), (201, False), (1_000_000, False)):
        document = problem_document()
        name = "x" * length
        if place == "problem":
            document["name"] = name
        elif place == "node":
            document["network"]["nodes"].append({"name": name})
        else:
            document["applications"].append({"name": "long", "operators": [{"name": name}]})
        if fits:
            problem_from(document)
        else:
            (line,) = mistakes_in(document)
            assert f"has {length:,} characters; names have at most 200" in line
            assert len(line) < 200


def test_values_are_not_repeated_at_length() -> None:
    """Not as a value, nor as a key."""
    document = problem_document()
    document["k" * 1_000_000] = 1
    document["network"]["nodes"][0]["speed"] = "v" * 1_000_000
    document["network"]["nodes"][0]["capacity"]["r" * 1_000_000] = -1
    found = mistakes_in(document)
    assert len(found) == 3
    assert max(map(len, found)) < 700


def mistakes_in(document: Any) -> list[str]:
    """The lines that refuse a document."""
    with pytest.raises(BadInput) as caught:
        problem_from(document)
    return list(caught.value.mistakes)


def printable(path: str) -> str:
    """A path as it is printed."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in path)


def test_too_many_nodes_for_routes() -> None:
    """Tables of routes between so many nodes fit into no memory: said at once, and with a way out."""
    document = problem_document()
    document["network"]["routing"] = "shortest_path"
    document["network"]["nodes"] += [{"name": f"n{number}"} for number in range(20_000)]
    with pytest.raises(BadInput) as found:
        problem_from(document)
    assert [line for line in found.value.mistakes if "routing" in line] == [
        "network.routing: shortest paths between 20,003 nodes don't fit into memory (at most 10,000 nodes); "
        "give coordinates or direct links"
    ]


def test_mistakes_are_told_from_top_to_bottom() -> None:
    """In the order of the file; what is missing comes at the end of the mapping that it is missing in."""
    document = problem_document()
    document["network"]["nodes"][0] = {"speeed": 1, "capacity": {"memory": -1, "cpu": "x"}, "hosts": 2}
    document = {"colour": "red", **document, "name": 3}
    assert [line.partition(": ")[0] for line in mistakes_in(document)] == [
        "colour",
        "name",
        f"{NODE}.speeed",
        f"{NODE}.capacity.memory",
        f"{NODE}.capacity.cpu",
        f"{NODE}.hosts",
        f"{NODE}.name",
    ]
