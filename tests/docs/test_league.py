"""The page of the league table is generated, and no policy is missing from it."""

from pathlib import Path

from berth.experiments.league.experiment import FULL_LIMIT, QUICK_LIMIT
from berth.experiments.league.fixtures import GROUPS
from berth.experiments.league.page import COMMANDS, HEADER, READING
from berth.policies.registry import BUILT_IN

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "league.md").read_text()


def test_it_is_what_the_renderer_writes() -> None:
    headers = [
        HEADER.format(limit=limit, commands=COMMANDS.format(quick=quick))
        for limit, quick in ((FULL_LIMIT, ""), (QUICK_LIMIT, " --quick"))
    ]
    assert PAGE.startswith(tuple(headers))
    assert READING in PAGE
    for group in GROUPS:
        assert f"\n## {group.capitalize()}\n" in PAGE


def test_every_policy_is_there_and_links_to_its_page() -> None:
    for policy in BUILT_IN:
        assert f"[{policy}](policies/{policy}.md)" in PAGE
        assert (DOCS / "policies" / f"{policy}.md").is_file()
