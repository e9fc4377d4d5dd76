"""The completely planned job of a command."""

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
    """A scene's compressed plan; a thousand plans take 30 MB.

    Attributes:
        digest: hash of the plan in the ledger.
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
    """Planned scenes of one dataset.

    Attributes:
        dataset: name of the dataset.
        seed: seed of the dataset.
        topology: simulator backend.
        identity: content of ``.uavsim/dataset.json``; its ``fingerprint`` identifies the dataset.
        scenes: requested scenes, ordered by town and index.
        samples: keyframes per scene.
        images_per_scene: RGB images per scene.
        plans: plans by scene.
        further: functions that label the finished dataset, by name (``labels: {occupancy: ...}``).
        configuration: content of ``.uavsim/configuration.json``; empty if the configuration came from it.
    """

    dataset: str
    seed: int
    topology: str
    identity: JsonDict
    scenes: tuple[SceneRef, ...]
    samples: int
    images_per_scene: int
    plans: dict[str, PackedPlan]
    configuration: JsonDict = field(default_factory=dict)
    further: dict[str, LabelFolder] = field(default_factory=dict)

    def plan_of(self, scene: str) -> ScenePlan:
        """Return one scene's plan."""
        return unpack_plan(self.plans[scene].data)

    @property
    def towns(self) -> tuple[str, ...]:
        """Towns in flight order."""
        return tuple(dict.fromkeys(scene.town for scene in self.scenes))

    def scenes_of(self, town: str) -> tuple[SceneRef, ...]:
        """Return the scenes of one town."""
        return tuple(scene for scene in self.scenes if scene.town == town)
