"""Many applications that share operators and data objects (paper 004).

- `case.py`: a problem as the arrays of the compiled engine, `berth.core.sharing`;
- `plan.py`: from a state of the engine to the parts of a plan, and what a plan lacks in words;
- `heuristics.py`: the paper's six heuristics with their four choices of processors;
- `forest.py`: our own policy: the heuristics' plans, improved by a search; `goals.py` has what it minimises
  and what no plan can go below, `search.py` the search, `previous.py` applications that join and leave;
- `exact.py`: the paper's integer programs, on the models of `berth.exact.sharing`.

The engine holds a partial or whole plan with all its loads, and changes only what an operation touches:

    case = Case(setting)                # the problem as arrays; never changes
    state = State(case.core)            # nothing is placed, everything is wanted
    state.move(instance, node)          # compute an instance on a node, wherever it was; -1: nowhere
    state.reuse(taker, provider)        # take a result, if state.can_reuse(taker, provider)
    state.compute(operator)             # end a reuse: it and what feeds it want nodes again
    state.holds, state.complete         # whether all limits are kept, and all that is wanted has a node
    state.keep(), state.undo()          # accept all since the last of both, or put it back exactly
    plan_parts(problem, state)          # nodes, reuse, skipped and downloads, as an `Answer` takes them

It knows place limits (capacities, processors, the rules `apart` and `spread`), cards, one-port shares, links
of both duplexes and routed ones, candidates, hosts, `where` and `together`. It knows neither containers nor
the requirements of applications: the judge lists what a plan breaks of these.

A download's source is chosen when a node first needs the object: the linked holder with the most room on its
card and on the way. It stays until the node doesn't need the object any more, whatever else moves.
"""
