"""What the shell is told after a tab, by the protocol that its script speaks."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from berth.cli.app import COMMANDS
from berth.evaluation import METRIC_BY_NAME
from berth.policies import policy_names

HEAVY = {"ortools", "pyspark", "pandas", "pyarrow", "matplotlib", "scipy", "fastapi"}
ENTRY = [sys.executable, "-m", "berth.cli.entry"]


def asked(**variables: str) -> str:
    """What berth answers a shell."""
    environment = {**os.environ, **variables}
    done = subprocess.run(ENTRY, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


def offered(line: str) -> list[str]:
    """What bash would offer at the end of a line."""
    words = str(len(line.split()) - (not line.endswith(" ")))
    answer = asked(_BERTH_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=words)
    return answer.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("berth ", list(COMMANDS)),
        ("berth sol", ["solve", "solve-many"]),
        ("berth solve --policy ", policy_names()),
        ("berth solve --policy bw", ["bw-max", "bw-sum"]),
        ("berth solve problem.yaml --objective traffic --then nod", ["nodes_used"]),
        ("berth compare problem.yaml --policy odp --policy two", ["two-stage-exact"]),
        ("berth solve-many problems --policy t-h", ["t-heron"]),
        ("berth watch app.py --policy rou", ["round-robin"]),
        ("berth solve --objective ", list(METRIC_BY_NAME)),
        ("berth compare --objective moved", ["moved_instances", "moved_state"]),
        ("berth front --objective traffic --objective moved_s", ["moved_state"]),
        ("berth solve --policy search --set ", ["steps="]),
        ("berth solve --policy t-heron --set s", ["second_stage=", "samples="]),
        (
            "berth solve --policy t-heron --set second_stage=",
            [f"second_stage={n}" for n in ("best-fit", "exact", "mips")],
        ),
        ("berth solve --policy t-heron --set second-stage=m", ["second-stage=mips"]),
        ("berth solve --policy bw-sum --set reuse=", ["reuse=true", "reuse=false"]),
        ("berth solve --policy bw-sum --set gap=", []),
        ("berth solve --policy nonsense --set ", []),
        ("berth solve --set exact", ["exact_share="]),
        (
            "berth compare --policy search --policy t-storm --set ",
            ["steps=", "rounds=", "gamma=", "noise=", "alpha=", "period_s="],
        ),
        ("berth compare --set max_r", ["max_rounds="]),
        ("berth generate fa", ["fat", "fat-tree"]),
        ("berth solve ", []),
        ("berth evaluate problem.yaml ", []),
    ],
)
def test_words_that_are_offered(line: str, words: list[str]) -> None:
    """Policies, metrics, parameters of the chosen policies, their values; files are the shell's business."""
    assert offered(line) == words


def test_a_line_about_each() -> None:
    """Shells that show one get it: what a policy optimises, what a metric or a parameter is."""

    def told(line: str) -> str:
        return asked(_BERTH_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line)

    assert '"round-robin":"nothing' in told("berth solve --policy round")
    assert '"traffic":"data that goes from node to node"' in told("berth solve --objective tra")
    assert '"gap=":"' in told("berth solve --policy odp --set ga")
    assert told("berth solve ").strip() == "_files"


def test_names_of_policies_load_none_of_them() -> None:
    """bash shows names alone."""
    environment = {
        "_BERTH_COMPLETE": "complete_bash",
        "COMP_WORDS": "berth solve --policy ",
        "COMP_CWORD": "3",
    }
    command = [ENTRY[0], "-X", "importtime", *ENTRY[1:]]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    loaded = {each.rpartition("|")[2].strip() for each in done.stderr.splitlines()}
    assert "round-robin" in done.stdout.split()
    assert "berth.policies.registry" in loaded
    assert not loaded & {
        "berth.policies.round_robin",
        "berth.policies.t_storm",
        "berth.policies.two_stage.mips",
    }


@pytest.mark.parametrize(
    "line", ["berth solve --policy ", "berth compare --set ", "berth solve --objective "]
)
def test_nothing_heavy_is_loaded(line: str) -> None:
    """Whoever presses a tab does not wait for a solver."""
    environment = {**os.environ, "_BERTH_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "3"}
    command = [ENTRY[0], "-X", "importtime", *ENTRY[1:]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    loaded = {each.rpartition("|")[2].strip().partition(".")[0] for each in done.stderr.splitlines()}
    assert done.stdout.split()
    assert "numpy" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    ("words", "replies"),
    [
        (["solve", "--policy", "bw"], ["bw-max", "bw-sum"]),
        (["solve", "--policy", "=", "bw"], ["bw-max", "bw-sum"]),
        (["solve", "'a problem.yaml'", "--policy", "sbo"], ["sbon"]),
        (["solve", "--policy", "ffd", "--set", "second_stage", "=", ""], ["best-fit", "exact", "mips"]),
        (["solve", "--policy", "ffd", "--set", "second_stage", "="], ["best-fit", "exact", "mips"]),
        (["solve", "--policy", "ffd", "--set", "second_stage", "=", "e"], ["exact"]),
    ],
)
def test_bash(words: list[str], replies: list[str], tmp_path: Path) -> None:
    """bash breaks words at =, so that only the value is to be replied."""
    berth = tmp_path / "berth"
    berth.write_text(f'#!/bin/sh\nexec {shlex.join(ENTRY)} "$@"\n')
    berth.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    shown = [*ENTRY, "--show-completion", "bash"]
    script = subprocess.run(shown, env=environment, capture_output=True, text=True, check=True).stdout
    script += (
        f"\nCOMP_WORDS=(berth {shlex.join(words)}); COMP_CWORD={len(words)}; _berth_completion berth\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == replies
