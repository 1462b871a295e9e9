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

from berth.processes.system import adopt_orphans, die_with_parent, kill_descendants, signal_all

ENDING = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""The signals that tell a process to end."""
_AWAITED = ENDING | {signal.SIGCHLD}


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
    # blocked and waited for, not handled: a handler may run just before the call that it should interrupt
    signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    guarded = os.fork()
    if guarded == 0:
        os._exit(_work(work, clean_up, guard))
    in_guard()
    code = _wait_for(guarded)
    kill_descendants()
    clean_up(code)


def _work(work: Callable[[], int], clean_up: Callable[[int], None], guard: int) -> int:
    adopt_orphans()
    die_with_parent(guard, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)
    code = 1
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    kill_descendants()
    if os.getppid() != guard:
        clean_up(code)
    return code


def _wait_for(guarded: int) -> int:
    """The exit code of the guarded process, below 0 for a signal; the guard passes on what tells it to end.

    Orphans are collected as they end.
    """
    while True:
        if signal.sigwait(_AWAITED) != signal.SIGCHLD:
            signal_all([guarded], signal.SIGTERM)
            continue
        ended = -1
        while ended != 0:  # one signal may stand for several children
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == guarded:
                return os.waitstatus_to_exitcode(status)
