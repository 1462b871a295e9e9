"""An independent, slow and obvious reading of the contract, to hold berth's evaluator and solvers against.

Nothing here imports berth: `reference` evaluates a plan, `enumerate` finds an optimum by trying everything,
`problems` makes random valid problems and plans.
"""
