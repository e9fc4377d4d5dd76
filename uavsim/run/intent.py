"""Preview of a run that starts and writes nothing: ``uavsim generate --dry-run``."""

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
        dataset: name of the dataset.
        address: folder or URL of the dataset.
        samples: samples per scene.
        images_per_scene: RGB images per scene.
        by_town: names of scenes to fly by town, in order.
        unchanged: committed scenes that stay.
        replaced: committed scenes among the scenes to fly.
    """

    dataset: str
    address: str
    samples: int
    images_per_scene: int
    by_town: dict[str, tuple[str, ...]]
    unchanged: tuple[str, ...]
    replaced: tuple[str, ...] = ()

    @property
    def to_fly(self) -> tuple[str, ...]:
        """Scenes to fly in all towns."""
        return tuple(name for names in self.by_town.values() for name in names)

    def as_json(self) -> JsonDict:
        """Return the intent as JSON values."""
        return {
            "dataset": self.dataset,
            "address": self.address,
            "samples": self.samples,
            "images": len(self.to_fly) * self.images_per_scene,
            "scenes": {town: list(names) for town, names in self.by_town.items()},
            "kept": list(self.unchanged),
            "replaced": list(self.replaced),
        }


def intent_of(request: Request, on_top: OnTop = NOTHING) -> Intent:
    """Check a request like a run, and compare it with the committed scenes; writes nothing.

    Args:
        request: the request.
        on_top: functions of higher packages.

    Raises:
        InputError: a name, a key or a number is wrong, or the output has another dataset.
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
        unchanged=tuple(ready.unchanged),
        replaced=tuple(name for name in ready.to_fly if name in ledger and ledger[name].state == "committed"),
    )
