"""Where the `berth` command starts: nothing that goes wrong becomes a traceback."""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import suppress
from contextvars import ContextVar
from typing import Self

from berth.cli.exit_codes import BAD_INPUT, FAILED, INTERRUPTED, KEPT, NOT_FOUND

BEGAN: ContextVar[float] = ContextVar("began")
"""When the command began, by the monotonic clock: it takes a while to load, and on a busy machine seconds."""
FILES = ("PROBLEM", "PLAN", "EVENTS")
"""What options call the files that people mix up."""


def main() -> None:
    """Run the command; bad input becomes one line for each mistake and exit code 2."""
    BEGAN.set(time.monotonic())
    with _Outputs() as outputs:
        try:
            sys.exit(_run())
        except KeyboardInterrupt:
            if _plans():
                _complain("interrupted: no plan")
                sys.exit(NOT_FOUND)
            _complain("interrupted")
            sys.exit(INTERRUPTED)
        except MemoryError as error:
            _complain(f"out of memory: {error}" if str(error) else "out of memory")
            sys.exit(FAILED)
        except OSError as error:
            outputs.drop()
            if isinstance(error, BrokenPipeError) and outputs.unread:
                sys.exit(KEPT)
            where = "standard output: can't be written" if error.filename is None else error.filename
            _complain(f"{where}: {(error.strerror or str(error)).lower()}")
            sys.exit(BAD_INPUT)


class _Outputs:
    """Standard output and standard error, whatever becomes of their numbers: rich drops what nobody reads."""

    def __enter__(self) -> Self:
        self._kept = {}
        for number in (1, 2):
            with suppress(OSError):  # it may be closed
                self._kept[number] = os.dup(number)
        return self

    def __exit__(self, *_: object) -> None:
        for kept in self._kept.values():
            os.close(kept)

    @property
    def unread(self) -> list[int]:
        """Which of them nobody reads any more: head and less have seen enough."""
        watch = select.poll()
        for kept in self._kept.values():
            watch.register(kept, 0)
        gone = {kept for kept, event in watch.poll(0) if event & select.POLLERR}
        return [number for number, kept in self._kept.items() if kept in gone]

    def drop(self) -> None:
        """Let nothing more be written where it can't be, not even by Python at its end."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in self.unread or [1]:
            os.dup2(nowhere, number)


def _run() -> int:
    if sys.stdout is None:
        raise OSError("it is closed")
    from berth.cli.app import app

    try:
        app(prog_name="berth")
    except SystemExit as stop:
        if _because_of(stop, KeyboardInterrupt):
            raise KeyboardInterrupt from stop
        if _because_of(stop, BrokenPipeError):
            raise BrokenPipeError from stop
        # What is still buffered may fail, too: now is the time to hear of it.
        sys.stdout.flush()
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception as error:
        return _complain_of(error)
    return 0


def _complain_of(error: Exception) -> int:
    """The exit code for an error that users can do something about, after a line for each mistake.

    What these errors are is looked up when there is one: a command that starts doesn't wait for it.
    """
    from berth.model import BadInput

    if isinstance(error, BadInput):
        order = _order_of_arguments(error)
        for line in error.mistakes:
            _complain(f"{line}{order}")
        return BAD_INPUT
    failure = _line_of_spark(error)
    if failure is None:
        raise error
    _complain(failure)
    return FAILED


def _order_of_arguments(error: Exception) -> str:
    """Which file goes where, for whoever gave one of another kind."""
    from berth.cli.app import COMMANDS, load_command
    from berth.files.kinds import WrongKind

    if not isinstance(error, WrongKind) or _command() not in COMMANDS:
        return ""
    words = []
    for item in load_command(_command()).params:
        if item.param_type_name == "argument" or item.metavar in FILES:
            option = "" if item.param_type_name == "argument" else f"{item.opts[0]} "
            words.append(f"{option}{item.metavar}" if item.required else f"[{option}{item.metavar}]")
    usage = " ".join(words)
    return f"; expected: berth {_command()} {usage}" if any(name in usage for name in FILES) else ""


def _command() -> str:
    """The command that was asked for."""
    return next((argument for argument in sys.argv[1:] if not argument.startswith("-")), "")


def _plans() -> bool:
    """Whether the command is one that ends with a plan or without."""
    return _command() in ("solve", "compare")


def _because_of(stop: BaseException, kind: type[BaseException]) -> bool:
    """Whether the command's end was Ctrl-C or a broken pipe: typer and rich make an exit code of these."""
    cause = stop.__cause__ or (None if stop.__suppress_context__ else stop.__context__)
    return isinstance(stop, kind) or (cause is not None and _because_of(cause, kind))


def _line_of_spark(error: Exception) -> str | None:
    """What to say about an error of Spark; None: it is not Spark's."""
    if "berth.spark" not in sys.modules:
        return None
    from berth.spark import SparkFailed

    if not isinstance(error, SparkFailed):
        return None
    return f"Spark failed: {error.line}" + (f" (its log: {error.log})" if error.log else "")


def _complain(line: str) -> None:
    if sys.stderr is not None:
        print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
