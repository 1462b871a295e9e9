"""Finding the application in a user's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from berth.model import BadInput
from berth.runtime.loading import load_application, own_modules

APPLICATION = """
from helper_of_loading import limit
from berth.runtime import Application

{name} = Application("{name}")

@{name}.source
def lines(spark):
    return spark.read.text("lines").limit(limit)

@{name}.sink
def store(lines):
    lines.show()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a module that applications import."""
    (tmp_path / "helper_of_loading.py").write_text("limit = 3\n")
    return tmp_path


def written(folder: Path, text: str, name: str = "app.py") -> str:
    """The path of a file with this text."""
    (folder / name).write_text(text)
    return str(folder / name)


def refused(reference: str) -> str:
    """The one line about it."""
    with pytest.raises(BadInput) as caught:
        load_application(reference)
    (line,) = caught.value.mistakes
    return line


def test_the_only_application_is_found(folder: Path) -> None:
    """Also if the file has two names for it; modules beside it are sent along to the workers."""
    application = load_application(written(folder, APPLICATION.format(name="first") + "\nother = first\n"))
    assert list(application.operators) == ["lines", "store"]
    sent = sorted(module.__name__ for module in own_modules(application))
    assert len(sent) == 2
    assert sent[0].startswith("berth_application_app")
    assert sent[1] == "helper_of_loading"


def test_one_of_several_is_named(folder: Path) -> None:
    """Otherwise it is an error that says how."""
    file = written(folder, APPLICATION.format(name="first") + APPLICATION.format(name="second"))
    assert load_application(f"{file}:second").name == "second"
    assert refused(file) == f"{file}: has first, second; say which application: {file}:first"
    assert refused(f"{file}:third") == f"{file}: no Application named 'third'; there are: first, second"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n", "no Application in it"),
        ("def f(:\n", "line 1: SyntaxError"),
        ("\n\n1 / 0\n", "line 3: ZeroDivisionError: division by zero"),
        ("import no_such_module_anywhere\n", "line 1: ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)\n", "line 1: SystemExit: 3"),
        ("from berth.runtime import Application\nApplication('a/b')\n", "application: 'a/b' is no name"),
    ],
)
def test_bad_files_are_one_line(folder: Path, text: str, line: str) -> None:
    """With the line of the file where there is one."""
    file = written(folder, text)
    assert refused(file).startswith(f"{file}: {line}")


def test_missing_files(folder: Path) -> None:
    """Are named as they were asked for."""
    assert refused(str(folder / "no.py")).startswith(f"{folder / 'no.py'}: no such file")
