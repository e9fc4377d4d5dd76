"""The job of a command, decided completely before anything is started or written."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from uavsim.records.codec import pack_plan
from uavsim.records.plan import ScenePlan
from uavsim.typing import JsonDict


def plan_digest(plan: ScenePlan) -> str:
    """Return the hash by which the ledger knows a plan."""
    return hashlib.sha256(pack_plan(plan)).hexdigest()


@dataclass(frozen=True, slots=True)
class SceneRef:
    """One scene of a job."""

    name: str
    index: int
    town: str


@dataclass(frozen=True, slots=True)
class Job:
    """Scenes of one dataset, ready to be flown.

    Attributes:
        dataset: its name.
        seed: of the dataset.
        topology: simulator backend.
        identity: goes to ``.uavsim/dataset.json``; its ``fingerprint`` names the dataset.
        scenes: asked for, in order of towns, then of index.
        samples: keyframes per scene.
        images_per_scene: RGB images.
        plan_of: makes one scene's plan.
        digests: by scene, the hash by which the ledger knows its plan.
        further: what installed packages label when the last scene is there, by name (``labels: {occupancy: ...}``).
        kept: goes to ``.uavsim/configuration.json``; empty when the configuration came from there.
    """

    dataset: str
    seed: int
    topology: str
    identity: JsonDict
    scenes: tuple[SceneRef, ...]
    samples: int
    images_per_scene: int
    plan_of: Callable[[str], ScenePlan]
    digests: dict[str, str]
    kept: JsonDict = field(default_factory=dict)
    further: dict[str, JsonDict] = field(default_factory=dict)

    @property
    def towns(self) -> tuple[str, ...]:
        """In the order in which they are flown."""
        return tuple(dict.fromkeys(scene.town for scene in self.scenes))

    def scenes_of(self, town: str) -> tuple[SceneRef, ...]:
        """Return the scenes of one town."""
        return tuple(scene for scene in self.scenes if scene.town == town)
