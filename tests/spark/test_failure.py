"""The one line of Spark's many that says why."""

from pathlib import Path

import pytest

from berth.spark.failure import SparkFailed, line_of

STAGE = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, "
    "most recent failure: Lost task 0.3 in stage 3.0 (TID 9) (10.0.0.7 executor 1): "
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03",
            "[PATH_NOT_FOUND] Path does not exist: file:/x.",
        ),
        (
            STAGE + "java.io.IOException: No space left on device\n\tat a.b(C.java:1)",
            "IOException: No space left on device",
        ),
        (
            "java.lang.RuntimeException: outer\n\tat a.b(C.java:1)\nCaused by: java.lang.Error: middle\n"
            "\tat a.b(C.java:2)\nCaused by: java.io.EOFException: inner\n\t... 3 more",
            "EOFException: inner",
        ),
        (
            STAGE + "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
            '  File "worker.py", line 1, in main\nValueError: no such node\n\n\tat org.apache.X(Y.scala:1)',
            "ValueError: no such node",
        ),
        ("java.lang.NullPointerException", "NullPointerException"),
        ("", ""),
    ],
)
def test_the_line_that_says_most(text: str, line: str) -> None:
    # Spark starts the trace of a worker on a line of its own
    assert line_of(text.replace("PythonException: Traceback", "PythonException: \nTraceback")) == line


def test_text() -> None:
    assert str(SparkFailed("why", Path("/x.log"))) == "why (Spark's log: /x.log)"
    assert str(SparkFailed("why", None)) == "why"
