"""berth finds a berth for every stream operator.

>>> import berth
>>> problem = berth.load("examples/tag-and-count.yaml")
>>> plan = berth.solve(problem)
>>> plan.status, round(plan.metrics["response_time_ms"], 3)
('optimal', 31.836)
>>> berth.evaluate(problem, plan).violations
()
"""

from berth.evaluation import Evaluation, evaluate
from berth.files import load, load_plan, save_plan
from berth.model import BadInput, Plan, Problem
from berth.policies import solve

__version__ = "0.1.0"

__all__ = ["BadInput", "Evaluation", "Plan", "Problem", "evaluate", "load", "load_plan", "save_plan", "solve"]
