"""What each experiment is about, for people who have not read its paper: two sentences or three."""

from __future__ import annotations

import inspect
import sys

from berth.experiments.framework.choice import Chosen

ABOUT = {
    "X0.1": (
        "An application that counts words runs on eight machines, half of which are down 1 % of the time. "
        "Placed for the shortest response time it is fast but loses data; placed for availability it "
        "loses none and is slower."
    ),
    "X0.2": (
        "A heuristic from another paper treats streams as springs and lets operators move to where the "
        "forces are in balance; it works with estimated delays that never come to rest. It is compared "
        "over time with the placement that is proved best for its own goal, and every move that it makes "
        "is counted."
    ),
    "X0.3": (
        "MOPA, a heuristic that keeps little data in flight, improves its placement step by step while "
        "the application runs. It is compared over time with the placement that is proved best for the "
        "same goal."
    ),
    "X0.4": (
        "A heuristic sorts operators by their traffic and puts each where it adds the least traffic "
        "between machines, by rates that it measures. It is compared over time with the placement that is "
        "proved best."
    ),
    "X0.5": (
        "The placements that are proved best in X0.1 to X0.4 have to be computed first. Here it is "
        "measured how long that takes."
    ),
    "X0.6": (
        "Proving that a placement is the best one takes longer for more operators, more machines or less "
        "room on them. The time is measured for operators in a row and for a wide graph, by berth and by "
        "the paper's integer program."
    ),
    "X0.7": (
        "Two ways to save time: each operator may run on some of the machines only, or the search is "
        "stopped early. Measured are the time saved, and how much worse the placement gets."
    ),
    "X1.1": (
        "Instances of operators are packed into containers, and containers are placed on the servers of a "
        "data centre; both cost traffic. A tree search for both steps is compared with the packing of "
        "three systems in use, on two kinds of networks."
    ),
    "X1.2": (
        "The tree search weighs traffic against the number of containers by a factor alpha, and gets "
        "better with more samples. Both are varied."
    ),
    "X1.3": (
        "How much the tree search tries what it knows little about is set by a factor omega. It is varied."
    ),
    "X2.1": (
        "Graphs of operators arrive one after the other, each with a bound on its latency, and machines "
        "fill up. Four ways to choose candidate machines are compared by the latency that they lead to."
    ),
    "X2.2": (
        "The same deployments as in X2.1, judged by the network: how much data is in flight between machines."
    ),
    "X2.3": (
        "The same deployments as in X2.1, judged by their effort: how many messages are sent until a set "
        "of candidates is known."
    ),
    "X3.1": (
        "Small graphs are placed by MOPA and by the springs of SBON on measured networks, and also by "
        "trying all placements. The ratio of the data in flight to the least possible is shown as a "
        "distribution."
    ),
    "X3.2": (
        "Streams change their rates, and the placement adapts. Counted are the messages that MOPA and "
        "SBON exchange until they are at rest again."
    ),
    "X3.3": (
        "The same changes of rates as in X3.2. Counted are the operators that move to another machine, "
        "which costs more than a message."
    ),
    "X4.1": (
        "Many applications share operators, and six heuristics look for processors for all of them, with "
        "four strategies for choosing among processors. The number of processors is varied: the fewer, "
        "the rarer a plan."
    ),
    "X4.2": ("As X4.1, with more and more applications on the same processors."),
    "X4.3": ("As X4.1, with larger and larger applications."),
    "X4.4": ("As X4.1, with more and more communication for the same computation."),
    "X4.5": ("As X4.1, with two applications only, which have fewer and fewer operators in common."),
}


def about(chosen: Chosen) -> str:
    """What an experiment is about; of one that is not listed, what its module's docstring says."""
    text = ABOUT.get(chosen.name) or inspect.getdoc(sys.modules[chosen.module]) or chosen.experiment.title
    return " ".join(text.split())
