"""Proofs, beyond timestamps, that readings belong to the requested tick and pose: one ``Proof`` for each kind of evidence.

``Modality.proof`` names them. A proof checks all readings of its modality at a tick and returns the data to store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from uavsim.capture.masks import MaskBinder, MaskView
from uavsim.capture.point_owners import PointOwners
from uavsim.errors import MissedTick
from uavsim.images import mask_pixels, points
from uavsim.images.mask_pixels import Runs
from uavsim.records.actors import labelled_tags
from uavsim.records.modalities import INSTANCE, LIDAR, LIDAR_INSTANCE, Modality
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.registry import Named
from uavsim.simulate.ports import Reading, SensorPose
from uavsim.typing import UInt8Array


@dataclass(frozen=True, slots=True, eq=False)
class PosedReading:
    """A reading and its requested pose."""

    pose: SensorPose
    reading: Reading


class Proof(Protocol):
    """The evidence of a modality in a scene.

    Attributes:
        mask_ids: mapping of mask ids to actors; "" for a modality without masks, and while unknown.
    """

    @property
    def mask_ids(self) -> str:
        """Mapping of mask ids to actors; see the class."""

    def prove(self, taken: Sequence[PosedReading], states: ActorStates) -> Mapping[str, Mapping[str, Any]]:
        """Check the readings; return channel -> modality -> data to store.

        Args:
            taken: all readings of the modality at this tick.
            states: actor states at this tick.

        Raises:
            MissedTick: the readings are not of this tick or not of these poses.
        """


def proof_of(modality: Modality, actors: Sequence[ActorInfo]) -> Proof:
    """Start the proof of a modality in a scene."""
    proof: Proof = Named(modality.proof).load()(actors)
    return proof


class DifferentImages:
    """All images differ: simulators are known to return one buffer for several cameras."""

    mask_ids = ""

    def __init__(self, _: Sequence[ActorInfo]) -> None:
        """Keep no state: ticks are independent."""

    def prove(self, taken: Sequence[PosedReading], _: ActorStates) -> dict[str, dict[str, Any]]:
        """See ``Proof``."""
        by_probe: dict[bytes, Reading] = {}
        for image in (each.reading for each in taken):
            probe = np.ascontiguousarray(image.data[::32, ::32]).tobytes()
            twin = by_probe.setdefault(probe, image)
            if twin is not image and np.array_equal(twin.data, image.data):
                raise MissedTick(f"{twin.channel} and {image.channel} delivered the same image")
        return {each.reading.channel: {each.reading.modality: each.reading.data} for each in taken}


class BoundMasks:
    """Masks fit the actors' boxes; translates the simulator's ids to instance ids."""

    def __init__(self, actors: Sequence[ActorInfo]) -> None:
        """Start without knowledge of ids."""
        self._binder, self._labelled = MaskBinder(actors), labelled_tags(actors)

    @property
    def mask_ids(self) -> str:
        """See ``Proof``."""
        return self._binder.mode

    def prove(self, taken: Sequence[PosedReading], states: ActorStates) -> dict[str, dict[str, Any]]:
        """See ``Proof``."""
        views = [
            MaskView(each.pose, each.pose.sensor.spec.camera.rendered.intrinsic, *self._parts(each)) for each in taken
        ]
        self._binder.learn(views, states)
        return {view.pose.channel: {INSTANCE: self._binder.bound(view)} for view in views}

    def _parts(self, each: PosedReading) -> tuple[Runs, UInt8Array]:
        data = each.reading.data
        return data if isinstance(data, tuple) else mask_pixels.split(data, self._labelled)


class OwnedPoints:
    """Points with actors' ids lie in those actors' boxes."""

    mask_ids = ""

    def __init__(self, actors: Sequence[ActorInfo]) -> None:
        """Build the tables of owners."""
        self._owners = PointOwners(actors)

    def prove(self, taken: Sequence[PosedReading], states: ActorStates) -> dict[str, dict[str, Any]]:
        """See ``Proof``."""
        proven = {}
        for each in taken:
            returns = each.reading.data
            map_m = each.pose.map_SE3_sensor.apply(returns["flu_m"].astype(np.float64))
            ids = self._owners.instance_ids(returns, map_m, states)
            owners = np.stack([ids, returns["tag"]], axis=1)
            proven[each.pose.channel] = {LIDAR: points.cloud_of(returns), LIDAR_INSTANCE: owners}
        return proven
