"""The options of an ingest are refused where they make no sense."""

import math

import pytest

from berth.model import BadInput
from berth.pipeline.options import IngestOptions


@pytest.mark.parametrize(
    ("field", "value", "option"),
    [
        ("window_s", 0, "--window"),
        ("window_s", -60, "--window"),
        ("window_s", 1e-4, "--window"),
        ("window_s", math.nan, "--window"),
        ("window_s", math.inf, "--window"),
        ("weight", 0, "--weight"),
        ("weight", 1.1, "--weight"),
        ("weight", math.nan, "--weight"),
        ("reference_mips", 0, "--reference-mips"),
        ("reference_mips", -1000, "--reference-mips"),
        ("reference_mips", math.nan, "--reference-mips"),
        ("reference_mips", math.inf, "--reference-mips"),
        ("carbon_intensity", -1, "--carbon-intensity"),
        ("carbon_intensity", math.nan, "--carbon-intensity"),
        ("carbon_intensity", math.inf, "--carbon-intensity"),
        ("clock_skew_s", -1, "--clock-skew"),
        ("clock_skew_s", math.nan, "--clock-skew"),
        ("clock_skew_s", math.inf, "--clock-skew"),
        ("watermark_s", -1, "--watermark"),
        ("watermark_s", math.nan, "--watermark"),
        ("every_s", 0, "--every"),
        ("every_s", math.nan, "--every"),
    ],
)
def test_nonsense_is_refused(field: str, value: float, option: str) -> None:
    """One line, with the option's name and the value."""
    with pytest.raises(BadInput) as caught:
        IngestOptions(**{field: value})
    (line,) = caught.value.mistakes
    assert line.startswith(f"{option}: {value:g} ")


def test_every_mistake_has_its_line() -> None:
    """Two mistakes, two lines."""
    with pytest.raises(BadInput) as caught:
        IngestOptions(window_s=0, weight=2)
    assert [line.split(":")[0] for line in caught.value.mistakes] == ["--window", "--weight"]


def test_ends_of_the_ranges_are_allowed() -> None:
    """The smallest window, a weight of 1, no skew and no watermark."""
    options = IngestOptions(window_s=0.001, weight=1, clock_skew_s=0, watermark_s=0)
    assert options.window_ms == 1


def test_a_window_is_a_whole_number_of_milliseconds() -> None:
    """Without one there is none."""
    assert IngestOptions().window_ms is None
    assert IngestOptions(window_s=0.3).window_ms == 300
