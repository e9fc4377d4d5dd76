"""Which sensors a scene reads in each of its ticks, and which cameras draw ahead of a reading so that their images settle.

On Unreal a camera draws in the ticks in which it has a listener (CARLA, ``Sensor.cpp``, ``ASensor::Tick``). Its exposure,
temporal anti-aliasing, textures and terrain need some drawn frames before an image looks as it should, so RGB cameras draw in
a few ticks before each reading, and in more before a scene's first one.
"""

from collections.abc import Mapping

from uavsim.records.modalities import ordered
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import CameraParams, Sensor

__all__ = ["DrawSchedule"]


class DrawSchedule:
    """The sensors that measure at each step of a plan; steps below 0 are the last ticks of the warm-up.

    Attributes:
        reading: step -> sensors that are read at it, with all their modalities, in the plan's order.
        settling: step -> further sensors whose settling modalities draw at it; these images are dropped.
    """

    def __init__(self, plan: ScenePlan) -> None:
        """Work out the steps of ``plan``."""
        self.reading: Mapping[int, Mapping[Sensor, None]] = {
            step: dict.fromkeys(plan.sensors_at(step)) for step in plan.rendered_steps
        }
        settling: dict[int, dict[Sensor, None]] = {}
        for number, (step, sensors) in enumerate(self.reading.items()):
            for sensor in sensors if plan.settles else ():
                if isinstance(camera := sensor.spec.params, CameraParams):
                    ticks = camera.settle.ticks if number else min(camera.settle.first_ticks, plan.warmup_ticks)
                    for earlier in range(step - ticks, step):
                        settling.setdefault(earlier, {})[sensor] = None
        self.settling: Mapping[int, Mapping[Sensor, None]] = {
            step: {s: None for s in sensors if s not in self.reading.get(step, {})}
            for step, sensors in settling.items()
        }

    @property
    def totals(self) -> tuple[int, int]:
        """Images that a scene keeps, of all modalities, and that its cameras draw to settle."""
        kept = sum(self.images(step, kept=True) for step in self.reading)
        return kept, sum(self.images(step, kept=False) for step in self.settling)

    def images(self, step: int, *, kept: bool) -> int:
        """Return how many images are drawn at a step: those that are kept, or those that only settle."""
        sensors = (self.reading if kept else self.settling).get(step, {})
        optical = (sensor.spec for sensor in sensors if sensor.spec.params.is_optical)
        return sum(m.settles or kept for spec in optical for m in ordered(spec.modalities))
