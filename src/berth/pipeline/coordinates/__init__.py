"""Network coordinates for node sets too large for one machine: tables in, tables out.

`measurements.py` turns tables of probes into one delay for each pair of nodes. `rounds.py` deals nodes to
blocks and lets all blocks move their nodes at once, round by round. `job.py` puts them together and finds the
errors and the nodes that nothing joins, `network.py` does it for a problem's network.
"""

from berth.pipeline.coordinates.job import Located, Measurements, spark_coordinates
from berth.pipeline.coordinates.located import locate_on_spark
from berth.pipeline.coordinates.measurements import read_probe_tables

__all__ = ["Located", "Measurements", "locate_on_spark", "read_probe_tables", "spark_coordinates"]
