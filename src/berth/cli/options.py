"""Options that several commands share: how they are written, and what they ask for."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from berth.budget import Budget
from berth.cli import completion
from berth.cli.entry import BEGAN
from berth.cli.progress import waiting
from berth.evaluation import METRIC_BY_NAME
from berth.files import check_writable
from berth.model import BadInput, Problem
from berth.model.errors import one_of

if TYPE_CHECKING:
    from berth.spark import SparkSession


def option(default: Any, about: str, value: str | None = None, name: str | None = None, **more: Any) -> Any:
    """The default of a parameter that is an option.

    Args:
        default: what it is unless it is given; `...`: it has to be.
        about: what it is for.
        value: what its value is called in the help.
        name: `--out`; None: that of the parameter.
        more: as typer takes it.
    """
    return typer.Option(default, *([] if name is None else [name]), help=about, metavar=value, **more)


def flag(name: str, about: str) -> Any:
    """The default of a parameter that is an option without a value, and without a `--no-` of it."""
    return typer.Option(False, name, help=about)


def as_option(about: str, value: str | None = None, name: str | None = None, **more: Any) -> Any:
    """An option that several commands have: for the type of a parameter; each has a default of its own."""
    return typer.Option(*([] if name is None else [name]), help=about, metavar=value, **more)


def argument(about: str, value: str | None = None, **more: Any) -> Any:
    """An argument: what it is for, and what it is called."""
    return typer.Argument(help=about, metavar=value, **more)


ProblemFile = Annotated[Path, argument("Problem file, YAML or JSON (berth/v1).", "PROBLEM")]
PlanFiles = Annotated[
    list[Path],
    argument(
        "Plan file, JSON (berth-plan/v1); or what 'berth export' writes: files, or a folder of them.", "PLAN"
    ),
]
AsJson = Annotated[bool, as_option("Print JSON and nothing else on standard output.", name="--json")]
Previous = Annotated[Path | None, as_option("The plan before: what has moved counts against it.", "PLAN")]
TimeLimit = Annotated[float, as_option("Seconds after which the best plan so far is taken; inf: none.", "S")]
Seed = Annotated[int, as_option("The same seed gives the same plan.", "N")]
Policy = Annotated[
    str,
    as_option("The policy; 'berth policies' lists them.", "NAME", autocompletion=completion.policies),
]
PolicySettings = Annotated[
    list[str] | None,
    as_option(
        "A parameter of the policy. Can be repeated.",
        "KEY=VALUE",
        "--set",
        autocompletion=completion.policy_settings,
    ),
]
PoliciesSettings = Annotated[
    list[str] | None,
    as_option(
        "A parameter, for the policies that have it. Can be repeated.",
        "KEY=VALUE",
        "--set",
        autocompletion=completion.policy_settings,
    ),
]
Objectives = Annotated[
    list[str] | None,
    as_option(
        "Instead of the problem's objective: NAME or NAME=WEIGHT. Can be repeated.",
        "NAME[=WEIGHT]",
        "--objective",
        autocompletion=completion.metrics,
    ),
]
Then = Annotated[
    list[str] | None,
    as_option(
        "What is minimised next, among the plans that are near enough to the best so far. Can be repeated.",
        "NAME[=WEIGHT][,...]",
        "--then",
        autocompletion=completion.metrics,
    ),
]
Within = Annotated[
    list[str] | None,
    as_option(
        "How near to the best is near enough for what comes next, or for --alternatives: 5% or 0.05. "
        "Once for each goal, in order.",
        "SHARE",
        "--within",
    ),
]
APP_HELP = "A Python file with an Application in it; app.py:name if it has several."
AppFile = Annotated[str, argument(APP_HELP, "APP")]
AppFiles = Annotated[
    list[str], argument(f"{APP_HELP} Several files: applications that run together.", "APP...")
]
Master = Annotated[
    str | None,
    as_option(
        "Where Spark runs: local[2], spark://host:7077, yarn, ... "
        "Default: what spark-defaults.conf says, else local[*], all processors of this machine.",
        "URL",
        envvar="BERTH_MASTER",
    ),
]
Configuration = Annotated[
    list[str] | None,
    as_option("A setting of Spark, such as spark.driver.memory=8g. Can be repeated.", "KEY=VALUE", "--conf"),
]


def picture_format(option: str, file: Path) -> Literal["png", "svg"]:
    """What a picture's name asks for.

    Raises:
        BadInput: it asks for something else.
    """
    formats: dict[str, Literal["png", "svg"]] = {".png": "png", ".svg": "svg"}
    if file.suffix.lower() not in formats:
        raise BadInput(f"{option} {file}: expected a name that ends in .png or .svg")
    return formats[file.suffix.lower()]


def folder_for(option: str, folder: Path, file: str) -> None:
    """Make a folder and see that a file can be written there, before anything takes its time.

    Raises:
        BadInput: it can't be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{option} {folder}: no folder: {(error.strerror or str(error)).lower()}") from None
    check_writable(folder / file)


def with_objective(
    problem: Problem,
    given: list[str] | None,
    then: list[str] | None = None,
    within: list[str] | None = None,
) -> Problem:
    """The problem with the objective of the command line, if it names one, and what comes after it."""
    weights = objective_from(given)
    if weights:
        problem = problem.for_goal(weights)
    if then:
        levels = tuple(objective_from(item.split(","), "--then") for item in then)
        problem = replace(problem, then=(*(problem.then or ()), *levels))
    if within:
        if problem.then is None:
            raise BadInput("--within: near enough for what? Nothing comes after the goal; add --then NAME")
        if len(within) > len(problem.objectives):
            goals = len(problem.objectives)
            raise BadInput(f"--within: {len(within)} of them, but {goals} goal{'s' if goals > 1 else ''}")
        problem = replace(problem, objective_within=tuple(map(share_from, within)))
    return problem


def share_from(text: str) -> float:
    """A share as people write it: 5%, or 0.05."""
    number, percent, rest = text.strip().partition("%")
    try:
        share = float(number) / (100.0 if percent else 1.0)
    except ValueError:
        share = -1.0
    if rest or not 0 <= share < float("inf"):
        raise BadInput(f"--within {text}: expected a share of at least 0, such as 5% or 0.05")
    if share > 1 and not percent:
        raise BadInput(f"--within {text}: {text}% or {100 * share:g}%? Write the one that is meant")
    return share


def objective_from(given: list[str] | None, option: str = "--objective") -> dict[str, float]:
    """The weights that the command line names; none where it names no objective."""
    weights: dict[str, float] = {}
    for item in given or []:
        name, _, weight = item.partition("=")
        if name not in METRIC_BY_NAME:
            raise BadInput(f"{option}: no metric {one_of(name, METRIC_BY_NAME)}")
        if name in weights:
            raise BadInput(f"{option} {item}: {name} has a weight already; give it once")
        weights[name] = _weight(option, item, weight or "1")
    return weights


def _weight(option: str, item: str, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 < weight < float("inf"):
        raise BadInput(f"{option} {item}: the weight must be a number above 0")
    return weight


def settings_from(items: list[str] | None) -> dict[str, str]:
    """`key=value` options as a mapping."""
    settings = {}
    for item in items or []:
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise BadInput(f"--set {item}: expected key=value")
        settings[key.replace("-", "_")] = value
    return settings


def time_limit_from(seconds: float) -> float | None:
    """The time limit; None where it is infinite."""
    if not seconds > 0:
        raise BadInput(f"--time-limit: {seconds} is not above 0")
    return None if seconds == float("inf") else seconds


LEAST_SHARE = 0.25
"""Of a time limit, what solving gets however long the command took to load."""


def budget_for(limit: float | None) -> Budget:
    """What is left of a command's time limit."""
    now = time.monotonic()
    passed = now - BEGAN.get(now)
    return Budget(None if limit is None else max(limit - passed, LEAST_SHARE * limit))


@contextmanager
def session_for(
    master: str | None,
    configuration: list[str] | None,
    name: str,
    ours: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """The Spark session that `--master` and `--conf` ask for, stopped at the end of the `with` block.

    Settings of `ours` hold where `--conf` says nothing else.

    pyspark is imported here and not before: commands without Spark don't wait for it.
    """
    settings = {**(ours or {}), **_secret_settings(master), **spark_settings_from(configuration)}
    with ExitStack() as until_the_end:
        catch = until_the_end.enter_context(leaving_on_signals())
        with waiting("starting Spark"):
            from berth.spark import spark_session

            session = until_the_end.enter_context(spark_session(master or None, name=name, settings=settings))
        # pyspark's own handler talks to Java in the middle of whatever is being said to it
        catch(signal.SIGINT)
        yield session


def _secret_settings(master: str | None) -> dict[str, str]:
    """What lets us into the cluster at this address, if anything is needed."""
    if not (master or "").startswith("spark://"):
        return {}
    from berth.runtime.cluster.access import secret_for

    secret = secret_for(str(master))
    return {} if secret is None else secret.session_settings()


def spark_settings_from(items: list[str] | None) -> dict[str, str]:
    """`--conf key=value` options as a mapping; the last one of a key counts."""
    settings = {}
    mistakes = []
    for item in items or []:
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals or not key:
            mistakes.append(f"--conf {item}: expected key=value")
        elif not key.startswith("spark."):
            mistakes.append(f"--conf {item}: the keys of Spark's settings start with 'spark.'")
        elif key == "spark.master":
            mistakes.append(f"--conf {item}: use --master for this")
        elif key == "spark.authenticate.secret":
            # not repeated here: what is printed may be kept
            mistakes.append(
                f"--conf {key}: every user of this machine can read the arguments of a command; "
                "put a new secret into a file, chmod 600, and name that in BERTH_CLUSTER_SECRET_FILE"
            )
        settings[key] = value.strip()
    if mistakes:
        raise BadInput(mistakes)
    return settings


class _ToldToEnd(KeyboardInterrupt):
    """Told to end by a signal. py4j lets go of its connection for a KeyboardInterrupt only."""


@contextmanager
def leaving_on_signals() -> Iterator[Callable[[int], None]]:
    """Leave by the front door when told to end or when the terminal closes: Spark's processes end with us.

    Yields:
        A function that does the same for another signal.
    """
    ended: list[int] = []
    before: dict[int, Any] = {}

    def leave(number: int, _frame: FrameType | None) -> None:
        ended.append(number)
        raise _ToldToEnd

    def catch(number: int) -> None:
        if threading.current_thread() is threading.main_thread():
            before[number] = signal.signal(number, leave)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            catch(number)
    try:
        yield catch
    except BaseException as error:
        if not ended:
            raise
        # in the middle of a talk with Java the signal may come out as a failure of Spark
        log = getattr(error, "log", None)
        if log is not None:
            log.unlink(missing_ok=True)
        if ended[0] == signal.SIGINT:
            raise KeyboardInterrupt from None
        raise SystemExit(128 + ended[0]) from None
    finally:
        for caught, handler in before.items():
            signal.signal(caught, handler)
