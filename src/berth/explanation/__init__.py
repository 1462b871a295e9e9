"""Why the operators are where they are, what binds, and what would help."""

from berth.explanation.document import document
from berth.explanation.explain import DEFAULT_TIME_LIMIT, Explanation, explain
from berth.explanation.what_if import Depth

__all__ = ["DEFAULT_TIME_LIMIT", "Depth", "Explanation", "document", "explain"]
