"""`python -m berth.experiments.league RESULTS PAGE`: the page of the docs from a folder of results."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from berth.experiments.league.experiment import FULL_LIMIT, QUICK_LIMIT
from berth.experiments.league.page import page
from berth.files import write_bytes


def write_page(results: Path, target: Path) -> None:
    """Render the page of the league that is stored in a folder of `berth reproduce`."""
    table: pd.DataFrame = pq.read_table(results / "league" / "results").to_pandas()
    # The full form has a second seed.
    quick = int(table["seed"].nunique()) == 1
    write_bytes(target, page(table, QUICK_LIMIT if quick else FULL_LIMIT, quick).encode())


if __name__ == "__main__":
    if len(sys.argv) != 3 or not (Path(sys.argv[1]) / "league" / "results").is_dir():
        sys.exit(
            "usage: python -m berth.experiments.league RESULTS PAGE\n"
            "RESULTS is the folder that 'berth reproduce league' wrote to (--out)"
        )
    write_page(Path(sys.argv[1]), Path(sys.argv[2]))
