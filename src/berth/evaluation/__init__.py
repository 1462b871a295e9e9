"""Problem and plan to metrics and violations: the single definition of every metric."""

from berth.evaluation.evaluate import Evaluation, evaluate
from berth.evaluation.metrics import METRIC_BY_KEY, METRIC_BY_NAME, METRICS, metric_change, metric_text
from berth.evaluation.situation import Occupied, Setting, Situation

__all__ = [
    "METRICS",
    "METRIC_BY_KEY",
    "METRIC_BY_NAME",
    "Evaluation",
    "Occupied",
    "Setting",
    "Situation",
    "evaluate",
    "metric_change",
    "metric_text",
]
