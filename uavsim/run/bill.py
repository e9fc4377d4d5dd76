"""The cost of a dataset over all machines that flew it: simulator time, processor time, bytes and failures, by scene.

Only the ledger and the manifests are read. Attempts killed with their process have no recorded time; of a scene flown again,
the last flight counts.
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
        machine: host of the flight; empty before the commit.
        samples: keyframes.
        images: RGB images.
        simulator_s: simulator seconds of the flight; card seconds if the simulator has a card of its own.
        lost_s: simulator seconds of failed attempts.
        core_s: processor seconds of flight and labels; includes a simulator that the run started as a process.
        size_bytes: size of the scene's files.
        failed: number of failed attempts.
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
    """Return the bills of all attempted scenes by name."""
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
    """Return the sum of bills, labelled with a machine."""
    names = [field.name for field in fields(SceneBill) if field.name != "machine"]
    listed = list(bills)
    return SceneBill(machine, *(round(sum(getattr(bill, name) for bill in listed), 2) for name in names))
