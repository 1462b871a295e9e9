"""Many problems, times policies, parameters and seeds, solved on the executors.

`problems.py` finds and reads problems, `requests.py` says what is to be solved and not there yet, and deals
it to tasks, `plans.py` is the table of plans on disk, and `job.py` turns requests into plans and puts all
this together. `solver.py` is the part that runs in the executors' Python and knows nothing of Spark.
"""

from berth.pipeline.many.job import SETTINGS, Job, Run, Tally, prepare, solve_many
from berth.pipeline.many.plan_table import PLANS, locked, summary_of
from berth.pipeline.many.problem_files import Inputs, find_problems, read_problems
from berth.pipeline.many.solver import Terms
from berth.pipeline.many.variants_to_solve import requests_for
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
