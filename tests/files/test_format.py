"""The published schemas, and checks by them, held against a validator that others use.

BERTH_EXAMPLES=5000 looks at so many random documents a test instead of a few fixed ones.
"""

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies
from jsonschema import Draft202012Validator

from berth.files import PLAN, PROBLEM, plan_document, problem_from
from berth.files.document import read_document
from berth.files.format import Format
from berth.model import BadInput, Download, Plan
from tests.files.documents import problem_document
from tests.oracle.problems import plans, problems, sharing_problems

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
RANDOM = os.environ.get("BERTH_EXAMPLES")
some = settings(
    max_examples=int(RANDOM or 80),
    derandomize=RANDOM is None,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("schema", [PROBLEM.schema, PLAN.schema], ids=["problem", "plan"])
def test_schemas_are_schemas(schema: dict[str, Any]) -> None:
    """Both are valid by draft 2020-12 and survive JSON."""
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_examples_fit(file: Path) -> None:
    """Every example fits the published schema."""
    Draft202012Validator(PROBLEM.schema).validate(read_document(file))


def test_document_fits() -> None:
    """So does the document that other tests break."""
    Draft202012Validator(PROBLEM.schema).validate(problem_document())


def test_our_plans_fit() -> None:
    """What berth writes fits the plan schema."""
    plan = Plan(
        {"a/b": "rome"},
        containers={"a/b": "a/c0"},
        downloads=(Download("camera", "rome", "paris"),),
        reuse={"b/b": "a/b"},
        skipped=("b/a",),
        metrics={"nodes_used": 1.0},
        trace={"messages": 1},
    )
    Draft202012Validator(PLAN.schema).validate(plan_document(plan))


SCALARS = [None, True, False, 0, 1, -1, 0.5, 1.0, 2.5, 1e9, "", "rome", "a b", "a/b", "x\n", "all", "half"]
LISTS = [[], [1], [None], ["tag"], [[0, 1], [1, 0]], [{}]]
MAPPINGS = [{}, {"cpu": 1}, {"cpu": "1"}, {"zone": "a"}, {"name": "x"}]
VALUES = strategies.sampled_from([*SCALARS, *LISTS, *MAPPINGS])
KEYS = strategies.sampled_from(["name", "cpu", "delay_ms", "hosts", "by", "from", "reads", "objects", "ä"])


@strategies.composite
def broken(draw: strategies.DrawFn, documents: strategies.SearchStrategy[Any]) -> Any:
    """A document with one to three random changes: a value replaced, a key added or taken out."""
    document = copy.deepcopy(draw(documents))
    for _ in range(draw(strategies.integers(1, 3))):
        places = list(_collections(document))
        place = draw(strategies.sampled_from(places))
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        change = draw(strategies.sampled_from(["replace", "replace", "remove", "add"]))
        if change == "add" or not keys:
            _add(place, draw(KEYS), draw(VALUES))
        elif change == "remove":
            del place[draw(strategies.sampled_from(keys))]
        else:
            place[draw(strategies.sampled_from(keys))] = copy.deepcopy(draw(VALUES))
    return document


def _collections(value: Any) -> Any:
    if isinstance(value, dict | list):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _collections(item)


def _add(place: Any, key: str, value: Any) -> None:
    if isinstance(place, dict):
        place[key] = copy.deepcopy(value)
    else:
        place.append(copy.deepcopy(value))


def assert_same_verdict(document: Any, kind: Format[Any]) -> None:
    """Berth's own checks and jsonschema both find mistakes, or neither does."""
    ours = list(kind.mistakes(document))
    theirs = [error.message for error in Draft202012Validator(kind.schema).iter_errors(document)]
    assert bool(ours) == bool(theirs), (ours, theirs)


@some
@given(broken(strategies.builds(problem_document) | problems() | sharing_problems()))
def test_same_verdict_on_problems(document: Any) -> None:
    """On mistakes that a schema can see, berth agrees with jsonschema."""
    assert_same_verdict(document, PROBLEM)


@some
@given(broken(problems(max_operators=2, max_nodes=3).flatmap(plans)))
def test_same_verdict_on_plans(document: Any) -> None:
    """The same for plans."""
    assert_same_verdict(document, PLAN)


@some
@given(broken(strategies.builds(problem_document) | sharing_problems()))
def test_broken_documents_are_refused_or_fine(document: Any) -> None:
    """Whatever is written, a document is a problem or bad input with lines of their own."""
    for line in lines_about(document):
        assert ": " in line
        assert len(line.splitlines()) == 1


def lines_about(document: Any) -> tuple[str, ...]:
    """The mistakes in a document; none if it is a problem."""
    try:
        problem_from(document)
    except BadInput as error:
        return error.mistakes
    return ()
