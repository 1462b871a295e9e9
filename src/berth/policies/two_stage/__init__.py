"""Two stages (paper 001): instances into containers, containers onto servers.

A first stage and a second stage are functions with these signatures, by name in `stages.py`:

    def first_stage(stage: StageOne, generator: np.random.Generator, parameters: Any, budget: Budget)
        -> Assigned | Stuck        # Assigned.bins[i]: the container of instance i, 0 .. len(stage.room) - 1
    def second_stage(stage: StageTwo, generator: np.random.Generator, parameters: Any, budget: Budget)
        -> Assigned | Stuck        # Assigned.bins[c]: the server of container c, 0 .. len(stage.room) - 1

`parameters` is the policy's own parameter object (of a class that extends `TwoStageParameters`), so that any
first stage goes with any second one. `generator` is the one generator of the whole solve. `Assigned.trace` is
what the stage has to tell; it is in the plan's trace under the application's name.

An item fits a bin where `(demand[item] <= room[bin]).all()`: `room` has the judge's tolerance in it, and
what is put in is subtracted from it. Stages see no sharing of equal operators: what the judge counts once is
at most what they count.

What a stage is given stands in `StageOne` and `StageTwo`. A container needs a server that all instances in it
may run on: the `group_servers` rows of their groups must have one in common. With one group there is nothing
to check.

`run.two_stages(task, policy, first, goal)` does the rest: one application after another on what is left,
empty containers deleted between the stages, T, U and W by the judge. A policy's parameter class extends
`TwoStageParameters`. The L columns behind the resources are limits of single nodes (processors, `apart`,
`spread`); `shared` are those of places that several nodes belong to (`spread` by a label).
"""
