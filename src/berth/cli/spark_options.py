"""Options that the commands on Spark share, and the session that they ask for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from berth.cli.spark_progress import waiting
from berth.model import BadInput

if TYPE_CHECKING:
    from berth.spark import SparkSession

Master = Annotated[
    str | None,
    typer.Option(
        help="Where Spark runs: local[2], spark://host:7077, yarn, ... "
        "Default: what spark-defaults.conf says, else local[*], all processors of this machine.",
        metavar="URL",
        envvar="BERTH_MASTER",
    ),
]
Configuration = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        help="A setting of Spark, such as spark.driver.memory=8g. Can be repeated.",
        metavar="KEY=VALUE",
    ),
]


@contextmanager
def session_for(master: str | None, configuration: list[str] | None, name: str) -> Iterator[SparkSession]:
    """The Spark session that `--master` and `--conf` ask for, stopped at the end of the `with` block.

    pyspark is imported here and not before: commands without Spark don't wait for it.
    """
    settings = spark_settings_from(configuration)
    with ExitStack() as until_the_end:
        catch = until_the_end.enter_context(leaving_on_signals())
        with waiting("starting Spark"):
            from berth.spark import spark_session

            session = until_the_end.enter_context(spark_session(master or None, name=name, settings=settings))
        # pyspark's own handler talks to Java in the middle of whatever is being said to it
        catch(signal.SIGINT)
        yield session


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
