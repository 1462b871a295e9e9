"""An independent, slow and obvious reading of the contract, to hold berth's evaluator and solvers against.

Nothing here imports berth. `network` and `workload` read a problem, `situation` puts a plan to it. `metrics`
says what the plan is worth, `constraints` what it breaks, `processors` how loaded nodes are, `losses` what
becomes of it where nodes fail; `reference` is all of that. `enumerate` finds an optimum by trying everything,
`goals` does so for goals in order. `problems` makes random valid problems and plans, and `additions` gives
them cores, tuples, losses and goals in order.
"""
