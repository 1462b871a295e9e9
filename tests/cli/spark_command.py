"""A command on Spark for tests, run by the real entry point: `python spark_command.py work WHAT`."""

import sys
import time

from berth.cli import entry
from berth.cli.app import app
from berth.cli.options import Configuration, Master, session_for
from berth.cli.progress import watching


def slow(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@app.command()
def work(what: str, master: Master = None, configuration: Configuration = None) -> None:
    """Do something that takes its time or fails."""
    with session_for(master, configuration, "berth work") as session, watching(session, "working") as steps:
        print("started", flush=True)
        numbers = session.sparkContext.parallelize(range(4), 4)
        if what == "long":
            steps("sleeping")
            numbers.map(lambda _: slow(300)).count()
        if what in ("noise", "fail"):
            numbers.map(lambda _: print("noise", file=sys.stderr) or print("noise")).count()
            session.sparkContext._jvm.System.out.println("noise")
        if what == "fail":
            numbers.map(lambda number: 1 // number).count()
        print("done", flush=True)


if __name__ == "__main__":
    entry.main()
