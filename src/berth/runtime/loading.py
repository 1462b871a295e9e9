"""Finding applications in users' Python files, and putting several of them together into one run."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from berth.model import BadInput, Plan, Problem
from berth.runtime.application import Application, Operator

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
            raise BadInput(f"{path}: no Application named {variable!r}; there are: {there}")
        return _whole(found[variable])
    different = {id(value): name for name, value in reversed(found.items())}
    if not different:
        raise BadInput(f"{path}: no Application in it; write app = Application('name'): docs/running.md")
    if len(different) > 1:
        several = sorted(different.values())
        raise BadInput(f"{path}: has {', '.join(several)}; say which application: {path}:{several[0]}")
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
        raise BadInput(f"{path}: no such file; an application is a Python file such as app.py")
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
        raise BadInput(f"{path}: not a Python file; its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BadInput as error:
        raise error.reworded(lambda line: f"{path}: {line}") from error
    except (Exception, SystemExit) as error:
        if _NO_SESSION in str(error):
            raise NeedsSession from error
        raise BadInput(f"{path}: {_where(error, path)}{type(error).__name__}: {error}") from error
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


class United(Application):
    """Applications that run as one, each operator under `application/operator`.

    An operator that takes another's result (`reuse` in the plan) is not there: its consumers take the rows of
    the one that computes it. Neither is one that nobody needs because of that (`skipped`). Equal operators
    that the plan puts on the same nodes count once for it, and run once.
    """

    def __init__(self, parts: Sequence[Application], plan: Plan, problem: Problem) -> None:
        """Unite them by a plan.

        Raises:
            BadInput: the plan shares what can't be shared in this run, or the applications don't go together.
        """
        modes = {each.output_mode for each in parts if each.output_mode is not None}
        mistakes = [*_doubled(parts), *_unknown(parts, plan)]
        if len(modes) > 1:
            mistakes.append(f"the applications want different output modes: {', '.join(sorted(modes))}")
        if mistakes:
            raise BadInput(mistakes)
        super().__init__("+".join(each.name for each in parts), output_mode=modes.pop() if modes else None)
        self.parts = tuple(parts)
        twins = _twins(parts, plan, problem)
        self._reuse = {**plan.reuse, **twins}
        needless = _needless(parts, self._reuse, frozenset(plan.skipped))
        self.merged = frozenset(twins) | needless
        self.left_out = self.merged | frozenset(plan.reuse) | frozenset(plan.skipped)
        self._origins: dict[str, tuple[str, str]] = {}
        self._stream_origins: dict[tuple[str, str], tuple[str, str, str]] = {}
        for part in parts:
            for operator in part.in_order():
                self._unite(part, operator)
        if any(each.reload is not None for each in parts):
            self.reload = lambda: United(
                [each.reload() if each.reload else each for each in parts], plan, problem
            )

    def _unite(self, part: Application, operator: Operator) -> None:
        name = self.name_of(part, operator.name)
        if name in self.left_out:
            return
        inputs = []
        for sender in operator.inputs:
            own = self.name_of(part, sender)
            inputs.append(_provider(self._reuse, own))
            self._stream_origins[inputs[-1], name] = (part.name, sender, operator.name)
        self._origins[name] = (part.name, operator.name)
        self.operators[name] = replace(operator, name=name, inputs=tuple(inputs))

    def name_of(self, part: Application, operator: str) -> str:
        """The name of a part's operator in this run."""
        return f"{part.name}/{operator}"

    def full_name(self, instance: str) -> str:
        """An instance as plans name it: here it has that name already."""
        return instance

    def origin(self, operator: str) -> tuple[str, str]:
        """The application that an operator is from, and its name there."""
        return self._origins[operator]

    def stream_origin(self, sender: str, receiver: str) -> tuple[str, str, str]:
        """The application that a stream is the receiver's of, and the names of its ends there."""
        return self._stream_origins[sender, receiver]


def together(parts: Sequence[Application], plan: Plan, problem: Problem) -> Application:
    """What runs: the application itself, or several, or one that shares results within itself, united."""
    shared = any(name.partition("/")[0] in {each.name for each in parts} for name in plan.reuse)
    if len(parts) == 1 and not shared and not _twins(parts, plan, problem):
        return parts[0]
    return United(parts, plan, problem)


def _provider(reuse: Mapping[str, str], operator: str) -> str:
    """Who computes the result of an operator."""
    while operator in reuse:
        operator = reuse[operator]
    return operator


def _twins(parts: Sequence[Application], plan: Plan, problem: Problem) -> dict[str, str]:
    """Operators that are equal to an earlier one on the same nodes, and that one; sinks never are."""
    if not problem.sharing or not problem.sharing_keys.possible:
        return {}
    graph, classes = problem.instances, problem.sharing_keys.classes
    kinds = {f"{part.name}/{each.name}": each.kind for part in parts for each in part.operators.values()}
    first: dict[object, str] = {}
    twins = {}
    for number, item in enumerate(graph.operators):
        name = item.name
        instances = graph.names[item.first : item.first + item.operator.parallelism]
        homes = tuple(plan.assignment.get(instance) for instance in instances)
        if kinds.get(name, "sink") == "sink" or None in homes or name in plan.reuse or name in plan.skipped:
            continue
        earlier = first.setdefault((int(classes[number]), homes), name)
        if earlier != name:
            twins[name] = earlier
    return twins


def _needless(
    parts: Sequence[Application], reuse: Mapping[str, str], skipped: frozenset[str]
) -> frozenset[str]:
    """Operators whose rows nobody takes any more, because twins of their consumers run elsewhere."""
    needless: set[str] = set()
    while True:
        gone = needless.union(reuse, skipped)
        taken = {
            _provider(reuse, f"{part.name}/{sender}")
            for part in parts
            for each in part.operators.values()
            if f"{part.name}/{each.name}" not in gone
            for sender in each.inputs
        }
        more = {
            name
            for part in parts
            for each in part.operators.values()
            if each.kind != "sink" and (name := f"{part.name}/{each.name}") not in gone | taken
        }
        if not more:
            return frozenset(needless)
        needless |= more


def _doubled(parts: Sequence[Application]) -> Iterator[str]:
    names = [each.name for each in parts]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"application {name!r}: there are two of that name"


def _unknown(parts: Sequence[Application], plan: Plan) -> Iterator[str]:
    """What a plan shares that this run doesn't have, a line each."""
    running = {each.name: each for each in parts}
    for name in (*plan.reuse, *plan.skipped):
        application, _, operator = name.partition("/")
        if application in running and operator not in running[application].operators:
            yield f"plan: {name}: the application has no such operator"
    for taker, provider in plan.reuse.items():
        application, _, operator = provider.partition("/")
        if taker.partition("/")[0] not in running:
            continue
        if application not in running:
            yield (
                f"plan: {taker}: takes the result of {provider}; name that application's file, too: "
                "what they share is computed where both run"
            )
        elif operator not in running[application].operators:
            yield f"plan: {taker}: takes the result of {provider}, and there is no such operator"
        elif provider in plan.reuse or provider in plan.skipped:
            yield f"plan: {taker}: takes the result of {provider}, which is not computed itself"
