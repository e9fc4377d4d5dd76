"""The place where labels may look at masks while they are in memory; who looks is for the client worker to say."""

from collections.abc import Sequence
from typing import Protocol

from uavsim.capture.assemble import Capture
from uavsim.images.codec import depth_as_stored
from uavsim.records.modalities import DEPTH, INSTANCE, Mask
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates, DroneState, MeasuredBoxes
from uavsim.simulate.ports import SensorPose
from uavsim.typing import AnyArray

__all__ = ["FrameMeasure", "MeasureScene", "measure_capture"]


class FrameMeasure(Protocol):
    """The counts of one keyframe's masks."""

    def see(self, channel: str, mask: Mask, *, depth_m: AnyArray | None) -> None:
        """Measure one camera; called from several threads."""

    def result(self, channels: Sequence[str]) -> MeasuredBoxes | None:
        """Return all of it, cameras in this order; None where one was not measured."""


class MeasureFrame(Protocol):
    """Begins the measurement of a keyframe."""

    def __call__(
        self, states: ActorStates, drones: Sequence[DroneState], poses: Sequence[SensorPose], /
    ) -> FrameMeasure:
        """Take what is true of all its cameras."""


class MeasureScene(Protocol):
    """Begins the measurements of a scene."""

    def __call__(self, plan: ScenePlan, actors: Sequence[ActorInfo], /) -> MeasureFrame:
        """Take what is true of all its keyframes."""


def measure_capture(capture: Capture, measure: FrameMeasure) -> None:
    """Hand one camera's mask, and its depth as it will be read again, to the measurement."""
    if INSTANCE not in capture.data:
        return
    depth_m = depth_as_stored(capture.data[DEPTH]) if DEPTH in capture.data else None
    measure.see(capture.pose.channel, capture.data[INSTANCE], depth_m=depth_m)
