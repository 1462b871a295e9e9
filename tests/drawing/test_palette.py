from __future__ import annotations

from berth.drawing.palette import COLOURS, SHADES, node_colour, text_colour


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_has_enough_contrast_on_every_colour() -> None:
    """WCAG 2 asks for 4.5 to 1."""
    for node in range(len(COLOURS) * len(SHADES)):
        lighter, darker = sorted((luminance(node_colour(node)), luminance(text_colour(node_colour(node)))))[
            ::-1
        ]
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_many_nodes_have_colours_of_their_own() -> None:
    """No two of the first hundred nodes look the same."""
    assert len({node_colour(node) for node in range(100)}) == 100


def test_there_is_a_colour_for_every_number() -> None:
    """However many nodes there are."""
    assert node_colour(10**6).startswith("#")
