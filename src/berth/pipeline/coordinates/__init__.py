"""Network coordinates for node sets too large for one machine: tables in, tables out.

`judging.py` and `samples.py` turn measurements into one delay for each pair, `numbering.py` gives nodes
numbers, `neighbours.py` says which samples each node uses and deals nodes to blocks. `rounds.py` lets all
blocks move their nodes at once, round by round; `block.py` is what a task does there, `flattening.py` takes
dimensions away. `islands.py` finds nodes that nothing joins, `figures.py` the errors; `job.py` does it all.
`reading.py` reads tables of probes.
"""

from berth.pipeline.coordinates.job import Located, Measurements, spark_coordinates
from berth.pipeline.coordinates.reading import read_probe_tables

__all__ = ["Located", "Measurements", "read_probe_tables", "spark_coordinates"]
