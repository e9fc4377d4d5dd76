"""The intent of a run, known before anything is started or written: ``uavsim generate --dry-run``."""

from dataclasses import dataclass

from uavsim.run.context import prepared
from uavsim.run.on_top import NOTHING, OnTop
from uavsim.run.request import Request
from uavsim.store.ledger import read_ledger
from uavsim.typing import JsonDict


@dataclass(frozen=True, slots=True)
class Intent:
    """The intent of a run.

    Attributes:
        dataset: its name.
        address: folder or URL of the dataset.
        samples: of a scene.
        images_per_scene: RGB images.
        by_town: names of the scenes that would be flown, towns in their order.
        kept: scenes that are committed and would stay.
        replaced: of those that would be flown, the scenes that are committed already.
    """

    dataset: str
    address: str
    samples: int
    images_per_scene: int
    by_town: dict[str, tuple[str, ...]]
    kept: tuple[str, ...]
    replaced: tuple[str, ...] = ()

    @property
    def to_fly(self) -> tuple[str, ...]:
        """Scenes of all towns that would be flown."""
        return tuple(name for names in self.by_town.values() for name in names)

    def as_json(self) -> JsonDict:
        """Write it for machines."""
        return {
            "dataset": self.dataset,
            "address": self.address,
            "samples": self.samples,
            "images": len(self.to_fly) * self.images_per_scene,
            "scenes": {town: list(names) for town, names in self.by_town.items()},
            "kept": list(self.kept),
            "replaced": list(self.replaced),
        }


def intent_of(request: Request, on_top: OnTop = NOTHING) -> Intent:
    """Check what a run checks, and look at what is committed already; writes nothing.

    Args:
        request: the request.
        on_top: functions of higher packages.

    Raises:
        InputError: a name, a key or a number is wrong, or the output holds something else.
    """
    ready = prepared(request, on_top)
    job, flown = ready.job, set(ready.to_fly)
    ledger = read_ledger(ready.output) if flown else {}
    return Intent(
        dataset=job.dataset,
        address=ready.output.address,
        samples=job.samples,
        images_per_scene=job.images_per_scene,
        by_town={town: tuple(s.name for s in job.scenes_of(town) if s.name in flown) for town in job.towns},
        kept=tuple(ready.there),
        replaced=tuple(name for name in ready.to_fly if name in ledger and ledger[name].state == "committed"),
    )
