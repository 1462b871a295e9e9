"""What the shell offers after a tab: policies, metrics, parameters and their values.

Files are the shell's own business. Nothing that takes long is loaded: no solver, no Spark, no pictures.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

import typer

Offer = tuple[str, str]
"""What can stand there, and a line about it."""

BASH = r"""
%(complete_func)s() {
    # bash takes = for a word of its own: KEY=VALUE is one word here, and only what follows is offered
    local IFS=$'\n' last="" word i
    local -a words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if ((i)) && [[ "$word" == "=" || "$last" == "=" ]]; then
            words[-1]+="$word"
        else
            words+=("$word")
        fi
        last="$word"
    done
    word="${words[-1]}"
    COMPREPLY=( $( env COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) \
                   %(autocomplete_var)s=complete_bash $1 2> /dev/null ) )
    [[ "$word" == *=* ]] && COMPREPLY=( "${COMPREPLY[@]#"${word%%%%=*}="}" )
    [[ "${COMPREPLY[0]}" == *= ]] && compopt -o nospace
    return 0
}

complete -o default -F %(complete_func)s %(prog_name)s
"""


def use_our_script() -> None:
    """Let `--install-completion` and `--show-completion` give bash a script that knows `KEY=VALUE`."""
    from typer import _completion_shared

    getattr(_completion_shared, "_completion_scripts", {})["bash"] = BASH


def policies(incomplete: str) -> list[Offer]:
    """For `--policy`: every policy, with what it optimises where the shell shows that.

    To know it all of them have to be loaded, and bash shows names alone.
    """
    from berth.policies.registry import policy_names

    names = [name for name in policy_names() if name.startswith(incomplete)]
    shown = os.environ.get("_BERTH_COMPLETE") != "complete_bash"
    return [(name, _optimises(name) if shown else "") for name in names]


def _optimises(name: str) -> str:
    from berth.model import BadInput
    from berth.policies.registry import find_policy

    try:
        return find_policy(name).about.optimises
    except BadInput as error:  # of another package, which can't be loaded
        return str(error)


def metrics(incomplete: str) -> list[Offer]:
    """For `--objective`: every metric."""
    from berth.evaluation import METRIC_BY_NAME

    return [(name, metric.about) for name, metric in METRIC_BY_NAME.items() if name.startswith(incomplete)]


def policy_settings(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """For `--set`: the parameters of the policies that are chosen, those of all where none is."""
    from berth.policies.registry import DEFAULT, find_policy, policy_names

    chosen, known = ctx.params.get("policy"), policy_names()
    several = any(item.name == "policy" and item.multiple for item in ctx.command.params)
    names = chosen or known if several else [chosen or DEFAULT]
    return _settings((find_policy(name).parameters for name in names if name in known), incomplete)


def generators(incomplete: str) -> list[Offer]:
    """For the kinds of `berth generate`."""
    from berth.generators import GENERATORS, find_generator

    return [(name, find_generator(name).about.makes) for name in GENERATORS if name.startswith(incomplete)]


def _settings(kinds: Iterable[type], incomplete: str) -> list[Offer]:
    """`key=` for every parameter; its values once that is written, where there are only some."""
    from berth.model.parameters import choices_of, described

    offers: dict[str, str] = {}
    for kind in kinds:
        about = {item["name"]: item["help"] for item in described(kind)}
        offers |= dict(_written(about, choices_of(kind), incomplete))
    return [(word, text) for word, text in offers.items() if word.startswith(incomplete)]


def _written(
    about: Mapping[str, str], choices: Mapping[str, tuple[str, ...]], incomplete: str
) -> Iterator[Offer]:
    key, equals, _ = incomplete.partition("=")
    if not equals:
        yield from ((f"{name}=", text) for name, text in about.items())
        return
    # names may be written with dashes, too
    name = key.replace("-", "_")
    yield from ((f"{key}={value}", about[name]) for value in choices.get(name, ()))
