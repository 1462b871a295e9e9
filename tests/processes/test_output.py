"""The line of a log that says why a process of Java has ended."""

from pathlib import Path

import pytest

from berth.processes import complaint_in


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], ""),
        (["26/11/15 14:53:29 INFO Master: Started daemon"], "Started daemon"),
        (
            [
                "26/11/15 14:53:29 INFO Master: fine",
                "26/11/15 14:53:30 ERROR Inbox: Ignoring error",
                "java.net.BindException: taken",
                "\tat org.x(y)",
            ],
            "BindException: taken",
        ),
        (
            ["26/11/15 14:53:30 ERROR Worker: All masters are unresponsive! Giving up."],
            "All masters are unresponsive! Giving up.",
        ),
        (
            ['Exception in thread "main" java.net.BindException: Failed to bind to /127.0.0.1:1', "\tat x"],
            "BindException: Failed to bind to /127.0.0.1:1",
        ),
        (
            [
                "Invalid maximum heap size: -Xmxlots",
                "Error: Could not create the Java Virtual Machine.",
                "Error: A fatal exception has occurred. Program will exit.",
            ],
            "Invalid maximum heap size: -Xmxlots",
        ),
        (
            ["Error: Could not create the Java Virtual Machine."] * 2,
            "Error: Could not create the Java Virtual Machine.",
        ),
        (
            ["26/11/15 14:53:29 INFO Worker: last", "26/11/15 14:53:30 ERROR Worker: RECEIVED SIGNAL TERM"],
            "RECEIVED SIGNAL TERM",
        ),
    ],
)
def test_the_first_complaint(lines: list[str], words: str, tmp_path: Path) -> None:
    """The first complaint, without who said it and when; else the last line."""
    log = tmp_path / "log"
    log.write_text("".join(line + "\n" for line in lines))
    assert complaint_in(log) == words


def test_no_words_at_all(tmp_path: Path) -> None:
    """A log that isn't there says nothing."""
    assert complaint_in(tmp_path / "log") == ""


def test_a_jvm_that_does_not_come_up(tmp_path: Path) -> None:
    """Its first complaint, without the heading over it; else whatever it said last."""
    log = tmp_path / "log"
    log.write_text("Error occurred during initialization of VM\nCould not reserve enough space\n")
    assert complaint_in(log) == "Could not reserve enough space"
    log.write_text(
        'Picked up X\nException in thread "main" org.apache.spark.SparkException: no yarn\n\tat a.b(C:1)\n'
    )
    assert complaint_in(log) == "no yarn"
    log.write_text("one\ntwo\n\n")
    assert complaint_in(log) == "two"
    log.write_text("")
    assert complaint_in(log) == ""
