"""Tables judged and drawn side by side: drawing takes about a second for each experiment."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

import pandas as pd

from berth.experiments.experiment import Setting
from berth.experiments.framework.outcome import Judged, judged
from berth.processes import begin_forked
from berth.spark.machine import processors


def all_judged(
    modules: Sequence[str], setting: Setting, tables: Sequence[pd.DataFrame], most: int | None = None
) -> Iterator[Judged]:
    """Each table judged and drawn, in their order.

    Args:
        modules: the experiments' modules.
        setting: the setting of all of them.
        tables: their tables.
        most: how many processes work at once; None: as many as there are processors.
    """
    workers = min(most or processors(), len(tables))
    settings = [setting] * len(tables)
    if workers <= 1:
        yield from map(judged, modules, settings, tables)
        return
    with (
        warnings.catch_warnings(),
        ProcessPoolExecutor(
            workers, multiprocessing.get_context("fork"), initializer=begin_forked, initargs=(os.getpid(),)
        ) as pool,
    ):
        # the threads that this process has hold no lock that drawing needs
        warnings.simplefilter("ignore", DeprecationWarning)
        yield from pool.map(judged, modules, settings, tables)
