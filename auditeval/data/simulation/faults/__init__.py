"""What can go wrong in a simulated edit: costs, the reasons for them, and effect of each fault."""

from auditeval.data.simulation.faults import (
    coding,
    content,
    decoding,
    editing,
    recording,
    separating,
    strength,
)
from auditeval.data.simulation.faults.fault import Fault

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for module in (content, strength, separating, editing, recording, coding, decoding)
    for fault in vars(module).values()
    if isinstance(fault, Fault)
}
"""All of these modules. Those of one stage act in this order."""
