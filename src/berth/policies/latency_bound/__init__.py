"""Placement under a latency bound (paper 002).

`policy.py` is what is asked for and what is answered. `delays.py` is what paths take. `candidates.py` finds
where an operator might go, and knows how long queues are and when that is known. `satisfaction.py` chooses
the moves. `deployment.py` begins from MOPA's mapping and goes through the applications.
"""
