"""Ids that are safe in addresses and lead nowhere else."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berth.model import BadInput
from berth.web.workspace import id_of, new_name, path_of, plain_name

PARTS = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20)
VISIBLE = PARTS.filter(lambda part: not part.startswith("."))


@given(st.lists(VISIBLE, min_size=1, max_size=5))
def test_there_and_back(parts: list[str]) -> None:
    """Every visible path has one id, of plain signs only."""
    path = PurePosixPath(*parts)
    identity = id_of(path)
    assert path_of(identity) == path
    assert identity.isascii()
    assert not set(identity) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-~=")


def test_as_the_documentation_says() -> None:
    """The example of the reference."""
    assert id_of(PurePosixPath("night/plan 1.json")) == "night~plan=201.json"


@given(st.text(max_size=40))
def test_no_text_leads_out(text: str) -> None:
    """Whatever is asked for: a path inside, without anything hidden, or nothing."""
    path = path_of(text)
    if path is not None:
        assert not path.is_absolute()
        assert not any(part.startswith(".") for part in path.parts)
        assert id_of(path) == text


@pytest.mark.parametrize(
    "identity",
    [
        "..",
        "..~x.yaml",
        "a~..~b.yaml",
        "~etc~passwd",
        ".berth~jobs",
        "a~~b",
        "=2E=2E",
        "a=2Fb",
        "=00",
        "a=2e",
    ],
)
def test_ids_that_are_none(identity: str) -> None:
    """Ways out, hidden files, and second spellings of the same."""
    assert path_of(identity) is None


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "x",
            "x.txt",
            ".x.yaml",
            "../x.yaml",
            "/x.yaml",
            "a/../x.yaml",
            "a//x.yaml",
            "./x.yaml",
            ".yaml",
        ),
        *(
            "a\\x.yaml",
            "a\nx.yaml",
            "a\0x.yaml",
            "x" * 300 + ".yaml",
            "a/b/c/d/e/f/g/h.yaml",
            ".berth/x.yaml",
        ),
    ],
)
def test_names_that_no_new_file_gets(name: str) -> None:
    """Each with a line that names the field."""
    with pytest.raises(BadInput) as refused:
        new_name(name, (".yaml",))
    assert all(line.startswith("name: ") for line in refused.value.mistakes)


def test_names_that_are_fine() -> None:
    """Also with spaces and letters of other languages."""
    assert new_name("Nächte/plan 1.yaml", (".yaml",)) == PurePosixPath("Nächte/plan 1.yaml")
    assert new_name(f"{plain_name('../a b/ü?')}.json", (".json",)) == PurePosixPath("a-b-ü.json")
    assert plain_name("///") == "unnamed"
