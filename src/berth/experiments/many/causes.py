"""Why claims of paper 004 come out otherwise here, in words for the report."""

LIGHT = (
    "By the paper's own numbers all applications together need about a tenth of the speed of 30 "
    "processors: strategies that don't block gather everything on few of them, so that even random "
    "heuristics and those without reuse find plans."
)
GATHERS = (
    "TopDownBFS places all roots while nothing else is on a card, so that with biggest-card-remaining they "
    "gather on one processor, and most of their trees, too: it finds plans longest and enrols least, where "
    "the paper has others before it."
)
UNKNOWN = "Why is not known: the paper's trees and programs are not published (E4.14)."
SCALE = (
    "Which work and result sizes make up a ratio is not published (E4.13): results are ratio x work here, "
    "with a mean work of 0.05 Mop, chosen so that success begins to fall near 60."
)
CLOSE = "The two are nearly as good as each other here, and forests differ."
