"""Child processes, supervised: the one place that starts them, keeps them within limits and ends them.

`ChildProcess` is a program or a module of ours, `ForkedProcess` a function of this process. Both end with
this process, however that ends. `run_guarded` is for a process that must leave nothing behind.
"""

from berth.processes.channel import Channel, new_channel
from berth.processes.child import ChildProcess, Limits, begin_child
from berth.processes.forked import ForkedProcess, begin_forked
from berth.processes.guard import ENDING, run_guarded
from berth.processes.output import complaint_in
from berth.processes.system import ProcessIdentity, identity_of

__all__ = [
    "ENDING",
    "Channel",
    "ChildProcess",
    "ForkedProcess",
    "Limits",
    "ProcessIdentity",
    "begin_child",
    "begin_forked",
    "complaint_in",
    "identity_of",
    "new_channel",
    "run_guarded",
]
