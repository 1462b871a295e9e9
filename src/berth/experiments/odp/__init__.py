"""Paper 000 (ODP, DEBS 2016), section 7: Tag-and-Count under several schedulers, over time.

`setups.py` draws the problems, `coordinates.py` is Vivaldi as it goes on while the application runs,
`rounds.py` asks policies again and again, `timeline.py` lets the simulator run what they say, `figures.py`
sums it up, `panels.py` draws it; `program.py` is the paper's integer program. The others are the experiments.
"""
