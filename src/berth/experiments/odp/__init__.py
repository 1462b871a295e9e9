"""Paper 000 (ODP, DEBS 2016), section 7: Tag-and-Count under several schedulers, over time.

`setups.py` draws the problems, `rounds.py` asks policies again and again while coordinates move,
`timeline.py` lets the simulator run what they say and draws it, `claims.py` sums it up; `solving.py` has the
paper's integer program. The others are the experiments.
"""
