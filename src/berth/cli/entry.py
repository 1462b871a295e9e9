"""Where the `berth` command starts: nothing that goes wrong becomes a traceback."""

from __future__ import annotations

import os
import sys

from berth.cli.exit_codes import BAD_INPUT, NOT_FOUND


def main() -> None:
    """Run the command; bad input becomes one line for each mistake and exit code 2."""
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        _complain("interrupted: no plan")
        sys.exit(NOT_FOUND)
    except BrokenPipeError:
        # The reader (head, less) has seen enough; Python must not complain at exit either.
        _drop_output()
        sys.exit(1)
    except OSError as error:
        _drop_output()
        _complain(f"standard output: can't be written: {(error.strerror or str(error)).lower()}")
        sys.exit(BAD_INPUT)


def _run() -> int:
    if sys.stdout is None:
        raise OSError("it is closed")
    from berth.cli.app import app
    from berth.model import BadInput

    try:
        app()
    except SystemExit as stop:
        # What is still buffered may fail, too: now is the time to hear of it.
        sys.stdout.flush()
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BadInput as error:
        for line in error.mistakes:
            _complain(line)
        return BAD_INPUT
    return 0


def _complain(line: str) -> None:
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
