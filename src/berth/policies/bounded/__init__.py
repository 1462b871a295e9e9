"""Placement under a latency bound (paper 002): the parts of `latency-bound`.

`parameters.py` and `bounds.py` are what is asked for. `delays.py` (with `kernels.py`) is what paths take,
`loads.py` how long queues are and when that is known, `state.py` where everything is. `candidates.py` finds
where an operator might go, `satisfaction.py` chooses the moves. `start.py` begins, `deployment.py` goes
through the applications, `report.py` makes the answer.
"""
