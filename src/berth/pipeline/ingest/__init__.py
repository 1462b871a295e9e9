"""From raw telemetry to tables of what was measured, and to a problem updated with the measured values.

`files.py` finds files, `records.py` reads their records, `checks.py` says which make sense, `digest.py` turns
a folder's files into sums and quarantine rows. `tables.py` measures, `publish.py` updates the problem and
reports. `job.py` does it all at once, `follow.py` as files come, with `state.py` to go on from.
"""

from berth.pipeline.ingest.follow import follow
from berth.pipeline.ingest.job import ingest
from berth.pipeline.ingest.publish import PROBLEM_FILE, Summary
from berth.pipeline.options import IngestOptions

__all__ = ["PROBLEM_FILE", "IngestOptions", "Summary", "follow", "ingest"]
