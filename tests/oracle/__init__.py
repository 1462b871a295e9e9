"""An independent, slow and obvious reading of the contract, to hold berth's evaluator and solvers against.

Nothing here imports berth. `network` and `workload` read a problem, `situation` puts a plan to it, `metrics` and
`constraints` say what it is worth and what it breaks, and `reference` is both. `enumerate` finds an optimum by
trying everything, `problems` makes random valid problems and plans.
"""
