"""Many applications that share operators and data objects (paper 004): an engine, and six heuristics on it.

The engine holds a partial or whole plan and all its loads, and changes only what an operation touches. All
of it is compiled; call it from Python to try things, and from a function of your own with `@compiled` in
loops.

    case = case_of(setting)                  # the problem as arrays; never changes
    state = new_state(case)                  # nothing is placed, everything is wanted
    move(case, state, unit, node)            # compute a unit on a node, wherever it was; -1: nowhere
    move_operator(case, state, operator, node)
    can_reuse(case, state, taker, provider)  # equal, computed, and nobody takes the taker's own result
    reuse(case, state, taker, provider)      # take the result; what nobody needs any more is skipped
    compute(case, state, operator)           # end a reuse: it and what feeds it want nodes again
    holds(state)                             # whether all constraints that the engine knows are kept
    keep(state) / undo(state)                # accept all since the last of both, or put it back exactly
    parts_of(problem, case, state)           # nodes, reuse, skipped and downloads, as an `Answer` takes them
    state_of(problem, case, plan)            # the other way round

Units are instances, by the problem's numbers of instances; operators, nodes and objects by the problem's
numbers, too. `state.node`, `status`, `provider`, `hosted`, `throughput`, `load` and so on are for reading;
operations alone write. `state.figures[UNPLACED]` says how many wanted units have no node, `figures[BROKEN]`
how many loads are above their limit, `figures[BLOCKED]` which one exceeded its limit last (`shortage` says
it in words). Loads, in the order of `cells`: busy processors, cards, ports, marks (mistakes that can't be
allowed, and all bytes that cross), resources, links; `case.limit` has what each may be.

The engine knows capacities, processors, cards, one-port shares, links (both duplexes, physical ones where
routes are asked for), candidates, hosts and rules. It doesn't know containers and the applications'
requirements (`max_response_time_ms`, `min_availability`): the judge lists those.

A download's source is chosen when a node first needs the object: the linked holder with the most room on
its card and on the way. It stays until the node doesn't need the object any more, whatever else moves.
"""
