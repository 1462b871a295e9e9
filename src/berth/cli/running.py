"""What `berth run` and `berth watch` share: their options, and how they show a run and end it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from berth.cli.exit_codes import FAILED, KEPT, MISPLACED
from berth.cli.options import leaving_on_signals, spark_settings_from, stopping_on_signals
from berth.cli.output import err
from berth.cli.progress import waiting
from berth.cli.run_view import RunView
from berth.runtime.observer import RunObserver

if TYPE_CHECKING:
    from berth.runtime import RunOptions
    from berth.runtime.runner import RunResult
    from berth.runtime.running import Run
    from berth.runtime.tally import RunTally

ClusterUrl = Annotated[
    str | None,
    typer.Option(
        "--master",
        help="The cluster: spark://host:7077. Default: the running one of 'berth cluster start' that has the "
        "problem's nodes, else one that is started for this command.",
        metavar="URL",
    ),
]
MasterPage = Annotated[
    str | None,
    typer.Option(
        "--master-ui",
        help="The page of that cluster's master, http://host:8080; it says which nodes are up.",
        metavar="URL",
    ),
]
EmulateNetwork = Annotated[
    float | None,
    typer.Option(
        "--emulate-network",
        help="Make rows wait for the problem's delays between nodes, so many times as long: 1, or 50 where "
        "batches of a second would hide them.",
        metavar="TIMES",
    ),
]
Every = Annotated[
    float,
    typer.Option(
        "--batch-every",
        help="Seconds from one batch to the next; 0: whenever there is something.",
        metavar="S",
    ),
]
Once = Annotated[bool, typer.Option("--once", help="Take in what is there now, then end.")]
Seconds = Annotated[float | None, typer.Option("--for", help="End after so many seconds.", metavar="S")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Begin anew: drop checkpoint and telemetry of earlier runs.")
]
ExecutorMemory = Annotated[str, typer.Option(help="Memory of the executor on each node.", metavar="SIZE")]


def run_options_from(
    emulate_network: float | None,
    batch_every: float,
    executor_memory: str,
    configuration: list[str] | None,
    *,
    once: bool,
    fresh: bool,
    seconds: float | None,
) -> RunOptions:
    """How an application runs, as the command line says.

    Raises:
        BadInput: a line for each number that makes no sense.
    """
    from berth.runtime import RunOptions
    from berth.runtime.executors import ExecutorSize

    return RunOptions(
        emulate=emulate_network,
        every_s=batch_every,
        once=once,
        executor=ExecutorSize(executor_memory),
        settings=spark_settings_from(configuration),
        fresh=fresh,
        seconds=seconds,
    )


class RunDisplay(RunObserver):
    """Shows on standard error how a run starts and goes on, for the time of a `with` block.

    While it runs, the first Ctrl-C (or SIGTERM, SIGHUP) stops it. Any other one leaves at once.
    """

    def __init__(self) -> None:
        self._view: RunView | None = None

    def __enter__(self) -> Self:
        with ExitStack() as entering:
            catch = entering.enter_context(leaving_on_signals())
            catch(signal.SIGINT)
            self._starting = entering.enter_context(ExitStack())
            self._steps = self._starting.enter_context(waiting("starting"))
            self._until_the_end = entering.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._until_the_end.__exit__(kind, error, trace)

    def step(self, text: str) -> None:
        """What is being done before it runs."""
        self._steps.step(text)

    def note(self, line: str) -> None:
        """A line on standard error."""
        err.print(line, markup=False)

    @contextmanager
    def running(self, run: Run, tally: RunTally) -> Iterator[None]:
        """Show the run as long as it goes on."""
        self._starting.close()
        self._view = RunView(tally, run.placement.application)
        with stopping_on_signals(run.stop), self._view.shown():
            yield


def exit_code_of(result: RunResult) -> int:
    """The exit code of a run, after a line that says why it failed, if it did."""
    from berth.runtime.observer import Misplaced

    if result.error is None:
        return KEPT
    err.print(str(result.error), markup=False, soft_wrap=True)
    return MISPLACED if isinstance(result.error, Misplaced) else FAILED
