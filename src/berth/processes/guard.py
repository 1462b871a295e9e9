"""A guarded process: whatever it starts, nothing of that outlives it.

The guard is the parent of the process. Every process below the guard whose own parent ends becomes a child
of the guard. So when the guard has no child left, nothing is left. When the guard is killed, the guarded
process is told to end; it then does the guard's work itself.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from types import FrameType

from berth.processes.system import adopt_orphans, die_with_parent, kill_descendants, signal_all

ENDING = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""The signals that tell a process to end."""


def run_guarded(
    work: Callable[[], int], *, in_guard: Callable[[], None], clean_up: Callable[[int], None]
) -> None:
    """Fork a process for some work, wait for its end, and kill all that it left.

    Args:
        work: what the process does; its result is the exit code.
        in_guard: called in the guard at once, to close what only the work needs.
        clean_up: called once, with the exit code (below 0 for a signal), when nothing is left.
    """
    adopt_orphans()
    guard = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    guarded = os.fork()
    if guarded == 0:
        os._exit(_work(work, clean_up, guard))
    in_guard()
    _pass_on_signals(guarded)
    code = _wait_for(guarded)
    kill_descendants()
    clean_up(code)


def _work(work: Callable[[], int], clean_up: Callable[[int], None], guard: int) -> int:
    adopt_orphans()
    die_with_parent(guard, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    code = 1
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    kill_descendants()
    if os.getppid() != guard:
        clean_up(code)
    return code


def _pass_on_signals(guarded: int) -> None:
    def pass_on(_number: int, _frame: FrameType | None) -> None:
        signal_all([guarded], signal.SIGTERM)

    for number in ENDING:
        signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def _wait_for(guarded: int) -> int:
    """The exit code of the guarded process, below 0 for a signal; meanwhile orphans are collected."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == guarded:
            for number in ENDING:
                signal.signal(number, signal.SIG_IGN)
            return os.waitstatus_to_exitcode(status)
