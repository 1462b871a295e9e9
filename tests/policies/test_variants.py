"""Policies times parameters times seeds, as typed."""

import pytest

from berth.model import BadInput
from berth.policies.variants import Variant, seeds_from, variants_for


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("3", [3]),
        ("0:4", [0, 1, 2, 3]),
        (":2", [0, 1]),
        ("0,5,7", [0, 5, 7]),
        ("9,0:3,1", [9, 0, 1, 2]),
        ("-2:1", [-2, -1, 0]),
    ],
)
def test_seeds(text: str, seeds: list[int]) -> None:
    """A number, a range without its end, a list, or a list of all these; each seed once."""
    assert seeds_from(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "1:", "0:10:2", "5:5", "3:1", "1.5", "0:2000000", "1,,2"])
def test_no_seeds(text: str) -> None:
    """What is no seed, or no seeds at all, is refused by name."""
    with pytest.raises(BadInput, match="--seeds"):
        seeds_from(text)


def test_a_policy_takes_the_parameters_that_it_has() -> None:
    """The sweep multiplies odp; round-robin, which has no gap, is there once for each seed."""
    variants = variants_for(["odp", "round-robin"], {"gap": ["0", "0.1"]}, [0, 1])
    assert variants == [
        Variant("odp", 0, {"gap": "0"}),
        Variant("odp", 1, {"gap": "0"}),
        Variant("odp", 0, {"gap": "0.1"}),
        Variant("odp", 1, {"gap": "0.1"}),
        Variant("round-robin", 0, {}),
        Variant("round-robin", 1, {}),
    ]


def test_what_is_given_twice_counts_once() -> None:
    """The same policy or value twice makes no second row."""
    assert len(variants_for(["odp", "odp"], {"gap": ["0", "0"]}, [0])) == 1


@pytest.mark.parametrize(
    ("policies", "choices", "line"),
    [
        (["odd"], {}, "--policy: no policy"),
        (["round-robin"], {"gap": ["0"]}, "--set gap: none of the policies round-robin has"),
        (["odp", "round-robin"], {"gab": ["0"]}, "did you mean 'gap'"),
        (["odp"], {"gap": ["0", "wide"]}, "--set gap: expected a number, found 'wide'"),
        (["odp"], {"gap": ["7"]}, "gap: 7.0 is not"),
    ],
)
def test_mistakes(policies: list[str], choices: dict[str, list[str]], line: str) -> None:
    """Unknown policies, parameters that nobody has and values of a wrong kind are bad input."""
    with pytest.raises(BadInput, match=line):
        variants_for(policies, choices, [0])
