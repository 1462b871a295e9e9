import pytest

from berth.experiments import registry
from berth.experiments.registry import _words, chosen_from, everything
from berth.model import BadInput
from tests.experiments.toy import EXPERIMENT


@pytest.fixture(autouse=True)
def places(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"X3.10": "mopa.a:A", "X3.2": "mopa.b:B", "X0.1": "odp.c:C", "X2.1": "latency_bound.d:D"}
    names["league"] = "league.e:E"
    monkeypatch.setattr(registry, "PLACES", names)
    monkeypatch.setattr(registry, "loaded", lambda place: EXPERIMENT)


def names(*given: str) -> list[str]:
    return [item.name for item in chosen_from(given)]


def test_no_name_is_all_of_them_in_the_papers_order() -> None:
    """What is no paper's is run only if it is named, and stands behind the others."""
    assert names() == ["X0.1", "X2.1", "X3.2", "X3.10"]
    assert names("league") == ["league"]
    assert [item.name for item in everything()] == [*names(), "league"]


@pytest.mark.parametrize("given", ["003", "3", "x3", "X3", "mopa", "MOPA", " mopa "])
def test_a_paper_by_number_or_system(given: str) -> None:
    assert names(given) == ["X3.2", "X3.10"]


def test_names_are_joined_and_none_is_there_twice() -> None:
    assert names("x3.2", "X0.1", "mopa") == ["X0.1", "X3.2", "X3.10"]
    assert names("latency-bound") == names("latency_bound") == ["X2.1"]


def test_the_place_is_what_executors_import() -> None:
    assert chosen_from(["X3.2"])[0].place == "berth.experiments.mopa.b:B"


def test_every_unknown_name_is_told_with_the_one_that_is_near() -> None:
    with pytest.raises(BadInput) as error:
        chosen_from(["mopaa", "X3.2", "zebra"])
    first, second = error.value.mistakes
    assert "named 'mopaa'; did you mean 'mopa'?" in first
    assert "'zebra'" in second
    assert "--list" in second


def test_words_of_the_real_ones_are_unlike_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A paper's number stands for its experiments only."""
    assert not _words("X3.2") & _words("X0.1")
