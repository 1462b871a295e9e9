"""Reading files of any kind, and writing them whole or not at all."""

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from berth.files import document_from, load, write_bytes, write_text
from berth.files.document import document_text, held, read_document
from berth.model import BadInput
from tests.files.documents import problem_document


def refusal(file: Path, content: bytes | str | None = None) -> str:
    """The one line that refuses a file."""
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput) as caught:
        read_document(file)
    (line,) = caught.value.mistakes
    assert line.startswith(f"{file}:")
    return line.removeprefix(f"{file}:").lstrip()


def test_the_same_problem_in_json_and_yaml(tmp_path: Path) -> None:
    """JSON is YAML: whatever the file is called, the data are the same."""
    document = problem_document()
    for name in ("p.json", "p.JSON", "p.yaml", "p.yml", "p.txt", "p"):
        (tmp_path / name).write_text(json.dumps(document))
        assert read_document(tmp_path / name) == document
        load(tmp_path / name)


def test_yaml_without_an_ending(tmp_path: Path) -> None:
    """What doesn't begin like JSON is YAML."""
    (tmp_path / "p").write_text("a: 1e3\n")
    assert read_document(tmp_path / "p") == {"a": 1000.0}


@pytest.mark.parametrize("name", ["p.json", "p.yaml"])
def test_byte_order_mark(tmp_path: Path, name: str) -> None:
    """Windows' byte order mark is no part of the text."""
    (tmp_path / name).write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_document(tmp_path / name) == {"a": 1}


@pytest.mark.parametrize(
    ("name", "content", "beginning"),
    [
        ("p.yaml", "a: né".encode("latin-1"), "not UTF-8 text (byte 4)"),
        ("p.yaml", "a: 1".encode("utf-16"), "not UTF-8 text (byte 0)"),
        ("p.json", b"\xff", "not UTF-8 text (byte 0)"),
        ("p.json", "", "1:1: not valid JSON: "),
        ("p.yaml", "", "one YAML document expected, found none"),
        ("p.json", '{"a": 1,\n "b" 2}', "2:6: not valid JSON: "),
        ("p.json", '{"a": 1} {}', "1:10: not valid JSON: "),
        ("p.json", '{"a": 1, "b": {"c": 1, "c": 2}}', "1:24: key 'c' is there twice"),
        ("p.json", '{"a": "\\ud800"}', "not valid JSON: half a character"),
        ("p.json", '{"\\udc00": 1}', "not valid JSON: half a character"),
        ("p.json", '{"a": ' + "9" * 5000 + "}", "a whole number has thousands of digits"),
        ("p.json", "[" * 10_000, "nested more than 100 deep"),
        ("p.json", '{"a":' * 10_000, "nested more than 100 deep"),
        ("p.json", "[" * 10_000 + "]" * 10_000, "nested more than 100 deep"),
        ("p.yaml", "- " * 10_000, "1:201: nested more than 100 deep"),
        ("p.yaml", "{a: " * 10_000, "1:401: nested more than 100 deep"),
    ],
)
def test_refused(tmp_path: Path, name: str, content: bytes | str, beginning: str) -> None:
    """What can't be read is one line with the file's name, and the place in it."""
    assert refusal(tmp_path / name, content).startswith(beginning)


def test_whole_characters_in_json(tmp_path: Path) -> None:
    """A character beyond 16 bits is written as two halves in JSON, and is one character."""
    (tmp_path / "p.json").write_text('{"a": "\\ud83d\\ude00"}')
    assert read_document(tmp_path / "p.json") == {"a": "\U0001f600"}


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1", "9" * 400])
def test_numbers_in_json_that_are_no_amounts(tmp_path: Path, text: str) -> None:
    """What Python's JSON lets through is refused at its field."""
    file = tmp_path / "p.json"
    document = json.dumps(problem_document()).replace('"speed": 1.5', f'"speed": {text}')
    file.write_text(document)
    with pytest.raises(BadInput, match=r":1: network\.nodes\[0\]\.speed: [^\n]*$"):
        load(file)


@pytest.mark.parametrize("text", [".nan", ".inf", "-.inf", "1e999", "-1", "9" * 5000])
def test_numbers_in_yaml_that_are_no_amounts(tmp_path: Path, text: str) -> None:
    """The same for YAML."""
    file = tmp_path / "p.yaml"
    file.write_text(json.dumps(problem_document()).replace('"speed": 1.5', f'"speed": {text}'))
    with pytest.raises(BadInput, match=r":1: network\.nodes\[0\]\.speed: [^\n]*$"):
        load(file)


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is one line."""
    assert refusal(tmp_path / "p.yaml") == "no such file or directory"


def test_folder(tmp_path: Path) -> None:
    """A folder is no file."""
    assert refusal(tmp_path) == "this is a folder, not a file"


def test_huge_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 100 MB is refused without being read."""
    file = tmp_path / "p.json"
    with file.open("wb") as stream:
        stream.truncate(100_000_000)

    def read(*_: Any, **__: Any) -> str:
        raise AssertionError("the file was read")

    monkeypatch.setattr(Path, "read_text", read)
    assert refusal(file).startswith("more than 64 MiB")


def test_writing(tmp_path: Path) -> None:
    """A file is written, and replaced with its mode kept."""
    file = tmp_path / "plan.json"
    write_text(file, "old ä")
    assert file.read_text(encoding="utf-8") == "old ä"
    file.chmod(0o600)
    write_bytes(file, b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_writing_through_a_link(tmp_path: Path) -> None:
    """A symbolic link stays one; the file that it leads to is replaced."""
    file, link = tmp_path / "plan.json", tmp_path / "latest.json"
    file.write_text("old")
    link.symlink_to(file)
    write_text(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def fail(*_: Any, **__: Any) -> None:
    """Stand in for a system call on a full disk."""
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt(*_: Any, **__: Any) -> None:
    """Stand in for a system call while Ctrl-C is pressed."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("call", ["replace", "fchmod", "fdopen", "fsync"])
def test_failing_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """If a write fails, the old file is there as it was, and nothing else."""
    file = tmp_path / "plan.json"
    file.write_text("old")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(BadInput, match="can't be written: no space left on device"):
        write_text(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_interrupted_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for Ctrl-C."""
    file = tmp_path / "plan.json"
    file.write_text("old")
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_writing_where_it_is_impossible(tmp_path: Path) -> None:
    """A folder that is not there, and a folder in the place of the file, are one line each."""
    with pytest.raises(BadInput, match="can't be written: no such file or directory"):
        write_text(tmp_path / "none" / "plan.json", "new")
    with pytest.raises(BadInput, match="can't be written: is a directory"):
        write_text(tmp_path, "new")


def test_writing_to_a_device() -> None:
    """What is no file, such as /dev/null, is written to and stays what it is."""
    write_text("/dev/null", "new")
    assert not Path("/dev/null").is_file()


ODD = [
    "1e9",
    "1.5",
    "no",
    "on",
    "null",
    "~",
    "",
    "0o17",
    "0x1F",
    "-",
    "- a",
    "a: b",
    "é",
    "true",
    ".inf",
    "1_0",
    "+3",
]


@pytest.mark.parametrize("name", ["p.yaml", "p.yml", "p.json", "p"])
def test_text_reads_as_the_same(tmp_path: Path, name: str) -> None:
    """By YAML 1.2 too, where 1e9 is a number and no is a word."""
    shared = [1.0, 2e-7, 1e30, None]
    document = {"odd": ODD, **{f"key {text}": text for text in ODD}, "one": shared, "other": shared, "n": 3}
    text = document_text(document, name)
    again = document_from(text.encode(), name)
    assert again == document
    assert [type(value) for value in again["odd"]] == [str] * len(ODD)


def test_large_documents_take_no_more_room_than_they_need() -> None:
    """Indented for people while they are small."""
    assert "\n  " in document_text({"a": [1]}, "p.json")
    assert document_text({"a": [1] * 100_000}, "p.json").count("\n") == 1


def test_keys_that_are_there_twice_are_found_quickly(tmp_path: Path) -> None:
    """In a large mapping, too: comparing every key with every other one would take minutes."""
    keys = [f'"k{number}": 1' for number in range(200_000)]
    content = "{" + ", ".join([*keys, '"k199999": 2']) + "}"
    assert refusal(tmp_path / "p.json", content) == "1:2688892: key 'k199999' is there twice"


def test_a_folder_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    """The second one is told so; afterwards the folder is free again, even if the first one failed."""
    folder = tmp_path / "new" / "folder"
    with held(folder), pytest.raises(BadInput, match="another run is writing there"), held(folder):
        pytest.fail("held twice")
    with pytest.raises(RuntimeError), held(folder):
        raise RuntimeError
    with held(folder):
        assert folder.is_dir()


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    """However that ends: nobody has to clean up after a run that was killed."""
    script = (
        "import sys, time; from pathlib import Path; from berth.files.document import held\n"
        "with held(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    )
    other = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    with pytest.raises(BadInput, match="another run is writing there"), held(tmp_path):
        pytest.fail("held twice")
    other.kill()
    other.wait()
    with held(tmp_path):
        pass


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    """Where a file is in the way, that is said."""
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(BadInput, match=r"file/folder: can't be written: not a directory"),
        held(tmp_path / "file" / "folder"),
    ):
        pytest.fail("held")
