"""The guard: the parent of a keeper, who sees to it that nothing outlives the keeper.

Every process below the guard whose own parent ends becomes the guard's child. So, when it has no child left,
no process of the cluster is left. A guard that is killed takes the keeper, and so the cluster, with it.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from berth.runtime.cluster.events import ENDING
from berth.runtime.cluster.leash import Leash
from berth.runtime.cluster.processes import adopt_orphans, die_with_parent, kill_descendants, signal_all
from berth.runtime.cluster.state import ENDED, keep_logs, remove


def guarded(folder: Path, leash: Leash, keep: Callable[[Path, Leash], int]) -> None:
    """Fork a keeper, wait for its end, end all that it left, and clear the cluster's folder."""
    adopt_orphans()
    guard = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    keeper = os.fork()
    if keeper == 0:
        os._exit(_keep(folder, leash, keep, guard))
    leash.close()
    _pass_on_signals(keeper)
    code = _wait_for(keeper)
    kill_descendants()
    if code < 0:
        (folder / ENDED).write_text(f"its keeper was killed by signal {-code}\n")
    _clear(folder, code)


def _keep(folder: Path, leash: Leash, keep: Callable[[Path, Leash], int], guard: int) -> int:
    """The keeper's life, whatever happens in it."""
    adopt_orphans()
    die_with_parent(guard, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    code = 1
    try:
        code = keep(folder, leash)
    except BaseException:
        traceback.print_exc()
    kill_descendants()
    if os.getppid() != guard:
        _clear(folder, code)
    return code


def _pass_on_signals(keeper: int) -> None:
    def pass_on(_number: int, _frame: FrameType | None) -> None:
        # once for all: the keeper notes it, and ends
        signal_all([keeper], signal.SIGTERM)

    for number in ENDING:
        signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def _wait_for(keeper: int) -> int:
    """The keeper's exit code, below 0 for a signal; orphans that end in the meantime are collected."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == keeper:
            for number in ENDING:
                signal.signal(number, signal.SIG_IGN)
            return os.waitstatus_to_exitcode(status)


def _clear(folder: Path, code: int) -> None:
    if code == 0:
        remove(folder)
    else:
        keep_logs(folder)
