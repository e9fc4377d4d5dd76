"""The cost of a dataset over all machines that flew it: simulator time, processor time, bytes and failures, by scene.

Read from the ledger and the manifests alone. Attempts that were killed with their process left no time behind; of a scene that
was flown again the last flight counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from uavsim.store.commit import committed_bytes
from uavsim.store.ledger import LedgerEntry, SceneFacts, read_ledger
from uavsim.store.output import Output


@dataclass(frozen=True, slots=True)
class SceneBill:
    """The bill of one scene, or of several.

    Attributes:
        machine: host that flew it; empty before it is committed.
        samples: keyframes.
        images: RGB images.
        simulator_s: seconds in simulators of its flight; on a card of its own they are the card's.
        lost_s: seconds in simulators of its failed attempts.
        core_s: processor seconds of its flight and labels; of a simulator only where the run started it as a process.
        size_bytes: of its files.
        failed: attempts.
    """

    machine: str = ""
    samples: int = 0
    images: int = 0
    simulator_s: float = 0.0
    lost_s: float = 0.0
    core_s: float = 0.0
    size_bytes: int = 0
    failed: int = 0


def bill_of(output: Output) -> dict[str, SceneBill]:
    """Return the bill of every scene with an attempt, by name."""
    return {name: _bill(entry, size_bytes=committed_bytes(output, name)) for name, entry in read_ledger(output).items()}


def _bill(entry: LedgerEntry, *, size_bytes: int) -> SceneBill:
    facts = entry.facts or SceneFacts()
    return SceneBill(
        machine=facts.machine,
        samples=facts.samples,
        images=facts.images,
        simulator_s=facts.fly_s,
        lost_s=entry.lost_s,
        core_s=facts.core_s,
        size_bytes=size_bytes,
        failed=len(entry.failures),
    )


def total(bills: Iterable[SceneBill], *, machine: str = "") -> SceneBill:
    """Add bills up, under the name of a machine."""
    names = [field.name for field in fields(SceneBill) if field.name != "machine"]
    listed = list(bills)
    return SceneBill(machine, *(round(sum(getattr(bill, name) for bill in listed), 2) for name in names))
