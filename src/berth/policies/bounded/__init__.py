"""Placement under a latency bound (paper 002): the parts of `latency-bound`.

`delays.py` (with `kernels.py`) is what paths take, `loads.py` how long queues are and when that is known,
`candidates.py` where an operator might go, `satisfaction.py` which moves are made.
"""
