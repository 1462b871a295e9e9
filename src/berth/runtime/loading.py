"""Finding the application in a user's Python file."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from berth.model import BadInput
from berth.runtime.application import Application

PREFIX = "berth_application_"
_NO_SESSION = "SESSION_OR_CONTEXT_NOT_EXISTS"
_SMALL = {"spark.driver.memory": "512m"}


def load_application(reference: str) -> Application:
    """The application that `app.py`, or `app.py:variable` if it has several, means.

    A file that needs a session of Spark to be loaded gets one for that time, and has to be loaded again in
    the session that it runs in: `reload` does that.

    Raises:
        BadInput: there is no such file, it can't be run, or it doesn't have exactly one application.
    """
    path, variable = _parts(reference)
    try:
        return _application(path, variable, _module(path))
    except NeedsSession:
        from berth.spark import spark_session

        with spark_session("local[1]", name="berth load", settings=_SMALL):
            loaded = _application(path, variable, _module(path))
    loaded.reload = lambda: _application(path, variable, _module(path))
    return loaded


class NeedsSession(Exception):  # noqa: N818
    """A file that talks to Spark while it is loaded: `@udf("long")` parses its type there."""


def _application(path: Path, variable: str, module: ModuleType) -> Application:
    found = {name: value for name, value in vars(module).items() if isinstance(value, Application)}
    if variable:
        if variable not in found:
            there = ", ".join(found) or "none"
            raise BadInput([f"{path}: no Application named {variable!r}; there are: {there}"])
        return _whole(found[variable])
    different = {id(value): name for name, value in reversed(found.items())}
    if not different:
        raise BadInput([f"{path}: no Application in it; write app = Application('name'): docs/running.md"])
    if len(different) > 1:
        several = sorted(different.values())
        raise BadInput([f"{path}: has {', '.join(several)}; say which application: {path}:{several[0]}"])
    return _whole(found[next(iter(different.values()))])


def own_modules(application: Application) -> list[ModuleType]:
    """The modules that an application is from and that workers don't have: they are sent along."""
    modules = [sys.modules[operator.function.__module__] for operator in application.operators.values()]
    folders = {
        Path(str(module.__file__)).resolve().parent
        for module in modules
        if module.__name__.startswith(PREFIX)
    }
    return [
        module
        for module in list(sys.modules.values())
        if (file := getattr(module, "__file__", None)) and Path(file).resolve().parent in folders
    ]


def _parts(reference: str) -> tuple[Path, str]:
    if Path(reference).is_file():
        return Path(reference), ""
    name, colon, variable = reference.rpartition(":")
    path = Path(name if colon else reference)
    if not path.is_file():
        raise BadInput([f"{path}: no such file; an application is a Python file such as app.py"])
    return path, variable


def _whole(application: Application) -> Application:
    application.in_order()
    return application


def _module(path: Path) -> ModuleType:
    """The file as a module; modules beside it can be imported, as in `python app.py`."""
    folder = str(path.resolve().parent)
    name = _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput([f"{path}: no Python file; its name has to end in .py"])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BadInput as error:
        raise BadInput([f"{path}: {line}" for line in error.mistakes]) from error
    except (Exception, SystemExit) as error:
        if _NO_SESSION in str(error):
            raise NeedsSession from error
        raise BadInput([f"{path}: {_where(error, path)}{type(error).__name__}: {error}"]) from error
    return module


def _module_name(path: Path) -> str:
    """A name of its own for every file: two applications may both be called app.py."""
    name, number = PREFIX + path.stem, 1
    while (there := sys.modules.get(name)) is not None and Path(
        str(there.__file__)
    ).resolve() != path.resolve():
        number += 1
        name = f"{PREFIX}{path.stem}_{number}"
    return name


def _where(error: BaseException, path: Path) -> str:
    """The last line of the user's own file that led to the error."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: "
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"line {lines[-1]}: " if lines else ""
