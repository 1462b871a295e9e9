"""`berth generate` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import berth as package
from berth.files import problem_document
from berth.generators import GENERATORS
from tests.cli.test_commands import TAG, berth

SMALL = ("--set", "processors=3", "--set", "applications=1", "--set", "most-operators=4")


@pytest.mark.parametrize("name", ["forest.json", "forest.yaml", "forest"])
def test_a_file(tmp_path: Path, name: str) -> None:
    """What is written is what Python makes, in the format of the file's name; no word on standard output."""
    file = tmp_path / name
    done = berth("generate", "forest", *SMALL, "--seed", "5", "--out", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert f"problem written to {file}" in done.stderr
    made = package.generate("forest", seed=5, processors=3, applications=1, most_operators=4)
    assert problem_document(package.load(file)) == problem_document(made)
    assert (file.read_text()[0] == "{") == (name != "forest.yaml")


def test_on_standard_output(tmp_path: Path) -> None:
    """Without a file it is printed, and nothing else."""
    for form, name in ((), "a.json"), (("--yaml",), "a.yaml"):
        done = berth("generate", "tag-and-count", *form)
        assert done.returncode == 0
        (tmp_path / name).write_text(done.stdout)
        assert package.load(tmp_path / name).name == "tag-and-count-0"


def test_many_files(tmp_path: Path) -> None:
    """A file for each seed, in a folder that is made; nothing is left aside."""
    folder = tmp_path / "new" / "problems"
    done = berth("generate", "fat", "--count", "3", "--seed", "8", "--out", str(folder))
    assert done.returncode == 0
    assert f"3 problems written to {folder}" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["fat-10.json", "fat-8.json", "fat-9.json"]
    for seed in (8, 9, 10):
        found = package.load(folder / f"fat-{seed}.json")
        assert problem_document(found) == problem_document(package.generate("fat", seed=seed))


def test_one_file_in_a_folder_that_is_there(tmp_path: Path) -> None:
    """The file's name is that of the problem."""
    done = berth("generate", "sequential", "--yaml", "--out", str(tmp_path))
    assert done.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["sequential-0.yaml"]


def test_the_same_seed_writes_the_same_file(tmp_path: Path) -> None:
    """Byte by byte."""
    texts = []
    for name in ("a.json", "b.json"):
        berth("generate", "stream-tree", "--set", "nodes=9", "--seed", "-3", "--out", str(tmp_path / name))
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1]


def test_lists() -> None:
    """All kinds; one kind with its parameters; both for programs."""
    every = berth("generate", "--list")
    assert every.returncode == 0
    assert all(f"\n{kind}\n" in f"\n{every.stdout}" for kind in GENERATORS)
    one = berth("generate", "forest", "--list")
    assert "--set processors=30" in one.stdout
    assert "--set least_operators=none" in one.stdout
    assert "--set one_port=true" in one.stdout
    listed = json.loads(berth("generate", "--list", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(GENERATORS)
    assert {key: listed[1]["parameters"][-1][key] for key in ("name", "default")} == {
        "name": "ports",
        "default": 4,
    }


def test_on_a_matrix(tmp_path: Path) -> None:
    """Half of the round trips, by the names in the file; a missing one is no link."""
    matrix = tmp_path / "rtt.csv"
    matrix.write_text("rome,paris,oslo\n0,10,\n10,0,30\n,30,0\n")
    target = tmp_path / "p.json"
    done = berth("generate", "sequential", "--network", str(matrix), "--out", str(target))
    assert done.returncode == 0
    network = package.load(target).network
    assert [node.name for node in network.nodes] == ["rome", "paris", "oslo"]
    expected = [[0, 5, np.nan], [5, 0, 15], [np.nan, 15, 0]]
    assert np.array_equal(network.matrices["delay_ms"], expected, equal_nan=True)


def test_on_the_network_of_a_problem(tmp_path: Path) -> None:
    """Its nodes as they are; its capacities are called slots, so nobody asks for cpu."""
    target = tmp_path / "p.json"
    done = berth("generate", "sequential", "--network", TAG, "--out", str(target))
    assert done.returncode == 0
    made, given = package.load(target), package.load(TAG)
    assert made.network.nodes == given.network.nodes
    assert not any(operator.demand for operator in made.applications[0].operators)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "KIND: is needed, one of "),
        (["forrest"], "KIND: no kind named 'forrest'; did you mean 'forest'?"),
        (["forrest", "--list"], "KIND: no kind named 'forrest'; did you mean 'forest'?"),
        (["forest", "--set", "processors"], "--set processors: expected key=value"),
        (["forest", "--set", "processors=-1"], "--set processors: -1 is below 1"),
        (["forest", "--set", "processors=1e9"], "--set processors: 1000000000 is above 2000"),
        (["forest", "--set", "processors=2.5"], "--set processors: expected a whole number, found '2.5'"),
        (["forest", "--set", "most_speed=fast"], "--set most_speed: expected a number, found 'fast'"),
        (["forest", "--set", "one_port=perhaps"], "--set one_port: expected true or false, found 'perhaps'"),
        (["stream-tree", "--set", "size=7"], "--set size: expected 6 or 12, found '7'"),
        (["forest", "--set", "seed=1"], "--set seed: kind forest has no parameter"),
        (["forest", "--set", "network=x"], "--set network: kind forest has no parameter"),
        (["forest", "--set", "kind=x"], "--set kind: kind forest has no parameter"),
        (["forest", "--count", "2"], "--count: needs a folder (--out DIR)"),
        (["forest", "--count", "0", "--out", "x"], "--count: 0 is not between 1 and 1,000,000"),
        (["forest", "--count", "2", "--out", TAG], f"{TAG}: no folder: file exists"),
        (["forest", "--out", "/nowhere/f.json"], "/nowhere/f.json: can't be written: no folder '/nowhere'"),
        (["forest", "--network", "/nowhere.csv"], "/nowhere.csv: no such file or directory"),
        (["forest", "--network", "/nowhere.json"], "/nowhere.json: no such file or directory"),
        (["fat-tree", "--network", TAG], "--network: kind fat-tree is a network itself"),
        (["fat", "--network", TAG, "--set", "nodes=3"], "--set nodes: the nodes are those of --network"),
    ],
)
def test_nonsense(arguments: list[str], line: str) -> None:
    """A line that says what to do, exit code 2, nothing printed."""
    done = berth("generate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(line)
