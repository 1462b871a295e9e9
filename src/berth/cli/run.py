"""`berth run`, and what `berth watch` shares with it: options, how a run is shown and how it ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.markup import escape

from berth.cli.exit_codes import FAILED, KEPT, MISPLACED
from berth.cli.options import (
    AppFiles,
    AsJson,
    Configuration,
    as_option,
    leaving_on_signals,
    option,
    spark_settings_from,
)
from berth.cli.output import out, print_json, tell
from berth.cli.progress import stopping_on_signals, waiting
from berth.cli.run_view import RunView, print_report
from berth.runtime.observer import RunObserver

if TYPE_CHECKING:
    from berth.runtime import RunOptions
    from berth.runtime.runner import RunResult
    from berth.runtime.running import Run
    from berth.runtime.tally import RunTally

RUN_EXAMPLES = """Examples:

  berth describe app.py --network machines.yaml --out problem.yaml

  berth solve problem.yaml --out plan.json

  berth run app.py --problem problem.yaml --plan plan.json

  berth run app.py --problem problem.yaml --plan plan.json --once --emulate-network 1

  berth run one.py two.py --problem problem.yaml --plan plan.json

Every operator runs on its planned node, or the run ends with an error (exit code 6). Ctrl-C ends a stream;
the same command goes on where it stopped.
"""

ClusterUrl = Annotated[
    str | None,
    as_option(
        "The cluster: spark://host:7077. Default: the running one of 'berth cluster start' that has the "
        "problem's nodes, else one that is started for this command.",
        "URL",
        "--master",
    ),
]
MasterPage = Annotated[
    str | None,
    as_option(
        "The page of that cluster's master, http://host:8080; it says which nodes are up.",
        "URL",
        "--master-ui",
    ),
]
SecretFile = Annotated[
    Path | None,
    as_option(
        "The file with that cluster's secret, readable by you alone. Default: where "
        "BERTH_CLUSTER_SECRET_FILE says; the clusters of 'berth cluster start' need none.",
        "FILE",
        "--secret-file",
    ),
]
Encrypt = Annotated[
    bool,
    as_option(
        "Encrypt what goes over the network and what is shuffled to disk; that cluster has to be set up so.",
        name="--encrypt",
    ),
]
EmulateNetwork = Annotated[
    float | None,
    as_option(
        "Make rows wait for the problem's delays between nodes, so many times as long: 1, or 50 where "
        "batches of a second would hide them.",
        "TIMES",
        "--emulate-network",
    ),
]
Every = Annotated[
    float,
    as_option("Seconds from one batch to the next; 0: whenever there is something.", "S", "--batch-every"),
]
Once = Annotated[bool, as_option("Take in what is there now, then end.", name="--once")]
Seconds = Annotated[float | None, as_option("End after so many seconds.", "S", "--for")]
Fresh = Annotated[
    bool, as_option("Begin anew: drop checkpoint and telemetry of earlier runs.", name="--fresh")
]
ExecutorMemory = Annotated[str, as_option("Memory of the executor on each node.", "SIZE")]
ProblemFile = Annotated[Path, as_option("Problem file: the nodes and the network.", "PROBLEM")]


def run(
    apps: AppFiles,
    problem: ProblemFile,
    plan: Path = option(..., "Plan file: where every operator runs.", "PLAN"),
    folder: Path | None = option(
        None,
        "For checkpoint, telemetry and report.json. Default: NAME.run, by the application's name.",
        "DIR",
        "--out",
    ),
    once: Once = False,
    seconds: Seconds = None,
    fresh: Fresh = False,
    emulate_network: EmulateNetwork = None,
    batch_every: Every = 0.0,
    executor_memory: ExecutorMemory = "512m",
    master: ClusterUrl = None,
    master_ui: MasterPage = None,
    secret_file: SecretFile = None,
    encrypt: Encrypt = False,
    conf: Configuration = None,
    as_json: AsJson = False,
) -> None:
    """Run applications on Spark with every operator on its planned node.

    Several run as one: results that the plan lets them share (reuse) are computed once.
    """
    from berth.cli.plan_files import read_own_plan
    from berth.files import load
    from berth.runtime import load_application
    from berth.runtime import run as run_applications

    options = run_options_from(
        emulate_network,
        batch_every,
        executor_memory,
        conf,
        once=once,
        fresh=fresh,
        seconds=seconds,
        secret_file=secret_file,
        encrypt=encrypt,
    )
    loaded = load(problem)
    chosen = read_own_plan(loaded, plan)
    applications = [load_application(app) for app in apps]
    with RunDisplay() as display:
        result = run_applications(
            applications,
            loaded,
            chosen,
            folder=folder,
            options=options,
            master_url=master,
            ui_url=master_ui,
            observer=display,
        )
    if as_json:
        print_json(result.document)
    else:
        print_report(result.tally)
        written = "checkpoint, telemetry and report.json"
        out.print(f"\n{written} are in {escape(str(result.folder))}", soft_wrap=True)
    if code := exit_code_of(result):
        raise typer.Exit(code)


def run_options_from(
    emulate_network: float | None,
    batch_every: float,
    executor_memory: str,
    configuration: list[str] | None,
    *,
    once: bool,
    fresh: bool,
    seconds: float | None,
    secret_file: Path | None,
    encrypt: bool,
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
        secret_file=secret_file,
        encrypt=encrypt,
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
        self._steps(text)

    def note(self, line: str) -> None:
        """A line on standard error."""
        tell(line)

    @contextmanager
    def running(self, run: Run, tally: RunTally) -> Iterator[None]:
        """Show the run as long as it goes on."""
        self._starting.close()
        self._view = RunView(tally, run.placement.application)
        ending = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
        with stopping_on_signals(run.stop, *ending), self._view.shown():
            yield


def exit_code_of(result: RunResult) -> int:
    """The exit code of a run, after a line that says why it failed, if it did."""
    from berth.runtime.observer import Misplaced

    if result.error is None:
        return KEPT
    tell(str(result.error))
    return MISPLACED if isinstance(result.error, Misplaced) else FAILED
