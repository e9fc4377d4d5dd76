"""Assemble the measurements, poses and actor states of one tick, or raise."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from uavsim.capture.hidden import HiddenPixels
from uavsim.capture.proofs import PosedReading, Proof, proof_of
from uavsim.errors import MissedTick, SceneVoid
from uavsim.geometry.lens import Lens
from uavsim.images.light import dimmed
from uavsim.images.neon import is_neon
from uavsim.records import through_lens
from uavsim.records.modalities import DEPTH, INSTANCE, RGB, modality, ordered
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.records.sensors import CameraParams
from uavsim.simulate.ports import Reading, SensorPose
from uavsim.typing import FloatArray, UInt8Array

Spread: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Like ``map``; an implementation may run several calls concurrently."""


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """The measurements of a sensor in a tick.

    Attributes:
        data: modality -> measurement, as ``Modality.encode`` expects it.
        owners: keep the simulator's buffers alive.
    """

    pose: SensorPose
    data: dict[str, Any]
    owners: tuple[object, ...] = ()


class Assembler:
    """Assembles a scene's ticks; the proof of a modality checks all of its readings of a tick at once."""

    def __init__(self, plan: ScenePlan, actors: Sequence[ActorInfo]) -> None:
        """Start the proofs of a scene's modalities.

        Args:
            plan: plan of the scene.
            actors: actors of the scene.
        """
        self._cameras = {s.spec.params for s in plan.sensors if isinstance(s.spec.params, CameraParams)}
        names = {name for sensor in plan.sensors for name in sensor.spec.modalities}
        self._hidden = HiddenPixels(actors)
        self._proofs: dict[str, Proof] = {m.name: proof_of(m, actors) for m in ordered(names) if m.proof}

    def prepare(self) -> None:
        """Compute lens and light tables during the warm-up, before the first tick needs them."""
        for camera in self._cameras:
            if camera.lens is not None:
                through_lens.prepare(camera.lens)
            if camera.vignetting:
                _light_share(camera)

    @property
    def mask_ids(self) -> str:
        """The mapping from mask ids to actors (``SessionFacts.mask_ids``)."""
        return next((proof.mask_ids for proof in self._proofs.values() if proof.mask_ids), "none seen")

    def assemble(
        self,
        poses: Sequence[SensorPose],
        readings: Sequence[Reading],
        states: ActorStates,
        *,
        first: bool = False,
        spread: Spread = map,
    ) -> list[Capture]:
        """Assemble a tick.

        Args:
            poses: poses of the sensors at this tick, in the plan's order.
            readings: readings of this tick, with verified timestamps, poses and sizes.
            states: actor states at this tick.
            first: whether this is the scene's first tick; changes since the previous measurement are then unknown.
            spread: ``map`` or a concurrent one.

        Raises:
            MissedTick: a reading of the rig is missing, or a proof fails.
            SceneVoid: the images are corrupt, see ``images/neon.py``.
        """
        by_modality = _by_modality(poses, readings)
        _refuse_neon([taken.reading.data for taken in by_modality.get(RGB, ())])
        data: dict[str, dict[str, Any]] = {pose.channel: {} for pose in poses}
        for kind in ordered(by_modality):
            taken = by_modality[kind.name]
            if kind.name in self._proofs:
                for channel, proven in self._proofs[kind.name].prove(taken, states).items():
                    data[channel] |= proven
            else:
                placeholder = kind.first_frame_placeholder if first else None
                for each in taken:
                    data[each.pose.channel][kind.name] = (
                        each.reading.data if placeholder is None else placeholder(each.pose.sensor.spec.params)
                    )
        for pose in poses:
            measured = data[pose.channel]
            if INSTANCE in measured and DEPTH in measured:
                measured[INSTANCE] = self._hidden.remove(measured[INSTANCE], measured[DEPTH], pose, states)
        _apply_lenses(poses, data, spread=spread)
        _apply_vignetting(poses, data)
        owners = _owners(readings, data)
        return [Capture(pose, data[pose.channel], owners[pose.channel]) for pose in poses]


def _refuse_neon(images: Sequence[UInt8Array]) -> None:
    if images and is_neon(images):
        raise SceneVoid(
            "the images show neon colours: the graphics memory is full; restart the simulator, or use fewer or smaller cameras"
        )


def _apply_lenses(poses: Sequence[SensorPose], data: Mapping[str, dict[str, Any]], *, spread: Spread = map) -> None:
    """Replace the rendered wide images by the images of the lenses, in place."""
    with_lens = [
        (pose.channel, name, params.lens)
        for pose in poses
        if isinstance(params := pose.sensor.spec.params, CameraParams) and params.lens is not None
        for name in data[pose.channel]
    ]

    def distorted(key: tuple[str, str, Lens]) -> Any:
        channel, name, lens = key
        apply_lens = modality(name).through_lens
        assert apply_lens is not None, "rigs refuse modalities that cannot have a lens"
        return apply_lens(data[channel][name], lens)

    for (channel, name, _), image in zip(with_lens, list(spread(distorted, with_lens)), strict=True):
        data[channel][name] = image


def _apply_vignetting(poses: Sequence[SensorPose], data: Mapping[str, dict[str, Any]]) -> None:
    """Darken the corners of images by their cameras' vignetting, in place."""
    for pose in poses:
        params = pose.sensor.spec.params
        if isinstance(params, CameraParams) and params.vignetting:
            image = data[pose.channel]
            image[RGB] = dimmed(image[RGB], _light_share(params))


@lru_cache(maxsize=32)
def _light_share(params: CameraParams) -> FloatArray:
    """Return the (H, W) ``CameraParams.light_share``, cached."""
    return params.light_share


def _by_modality(poses: Sequence[SensorPose], readings: Sequence[Reading]) -> dict[str, list[PosedReading]]:
    """Group the readings by modality, in the order of the poses."""
    by_key = {(reading.channel, reading.modality): reading for reading in readings}
    taken: dict[str, list[PosedReading]] = {}
    for pose in poses:
        for name in pose.sensor.spec.modalities:
            reading = by_key.get((pose.channel, name))
            if reading is None:
                raise MissedTick(f"{pose.channel} has no {name} reading")
            taken.setdefault(name, []).append(PosedReading(pose, reading))
    return taken


def _owners(readings: Sequence[Reading], data: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[object, ...]]:
    """Return, for each channel, the simulator's buffers that its data still uses; proofs that copy need none."""
    owners: dict[str, list[object]] = {channel: [] for channel in data}
    for reading in readings:
        if not modality(reading.modality).proof or data[reading.channel].get(reading.modality) is reading.data:
            owners[reading.channel].append(reading.owner)
    return {channel: tuple(buffers) for channel, buffers in owners.items()}
