"""The job of a command, planned completely before anything is started or written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from isal import isal_zlib

from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import ScenePlan
from uavsim.run.on_top import LabelFolder
from uavsim.typing import JsonDict


@dataclass(frozen=True, slots=True)
class PackedPlan:
    """A scene's plan as bytes, compressed: a thousand of them wait for their turn in 30 MB.

    Attributes:
        digest: hash by which the ledger knows the plan.
        compressed: the compressed bytes; ``data`` decompresses them.
    """

    digest: str
    compressed: bytes

    @classmethod
    def of(cls, plan: ScenePlan) -> PackedPlan:
        """Pack a plan."""
        data = pack_plan(plan)
        return cls(hashlib.sha256(data).hexdigest(), isal_zlib.compress(data, 1))

    @property
    def data(self) -> bytes:
        """The plan's bytes, as ``pack_plan`` writes them."""
        return bytes(isal_zlib.decompress(self.compressed))


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
        plans: by scene.
        further: labels the dataset as a whole when the last scene is there, by name (``labels: {occupancy: ...}``).
        kept: goes to ``.uavsim/configuration.json``; empty when the configuration came from there.
    """

    dataset: str
    seed: int
    topology: str
    identity: JsonDict
    scenes: tuple[SceneRef, ...]
    samples: int
    images_per_scene: int
    plans: dict[str, PackedPlan]
    kept: JsonDict = field(default_factory=dict)
    further: dict[str, LabelFolder] = field(default_factory=dict)

    def plan_of(self, scene: str) -> ScenePlan:
        """Return one scene's plan."""
        return unpack_plan(self.plans[scene].data)

    @property
    def towns(self) -> tuple[str, ...]:
        """The towns in the order of their flights."""
        return tuple(dict.fromkeys(scene.town for scene in self.scenes))

    def scenes_of(self, town: str) -> tuple[SceneRef, ...]:
        """Return the scenes of one town."""
        return tuple(scene for scene in self.scenes if scene.town == town)
