"""Many problems, times policies, parameters and seeds, solved on the executors.

`problems.py` finds and reads problems, `requests.py` says what is to be solved and not there yet,
`transform.py` turns them into plans, `rounds.py` deals them to tasks, `stored.py` is the table of plans on
disk, and `job.py` puts all this together. `solver.py` and `isolation.py` are the part that runs in the
executors' Python and knows nothing of Spark.
"""

from berth.pipeline.many.job import Job, Run, prepare
from berth.pipeline.many.lock import locked
from berth.pipeline.many.problems import Inputs, find_problems, read_problems
from berth.pipeline.many.requests import requests_for
from berth.pipeline.many.schema import PLANS
from berth.pipeline.many.settings import SETTINGS
from berth.pipeline.many.solver import Terms
from berth.pipeline.many.summary import summary_of
from berth.pipeline.many.tally import Tally
from berth.pipeline.many.transform import solve_many
from berth.policies.variants import Variant, seeds_from, variants_for

__all__ = [
    "PLANS",
    "SETTINGS",
    "Inputs",
    "Job",
    "Run",
    "Tally",
    "Terms",
    "Variant",
    "find_problems",
    "locked",
    "prepare",
    "read_problems",
    "requests_for",
    "seeds_from",
    "solve_many",
    "summary_of",
    "variants_for",
]
