"""The sensors that a scene reads in each tick, and the cameras that render ahead of a reading so that their images settle.

On Unreal a camera renders only in ticks in which it has a listener (CARLA, ``Sensor.cpp``, ``ASensor::Tick``). Exposure,
temporal anti-aliasing, textures and terrain need some rendered frames to settle, so RGB cameras render in a few ticks before
each reading, and in more before a scene's first one.
"""

from collections.abc import Mapping

from uavsim.records.modalities import ordered
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import CameraParams, Sensor


class DrawSchedule:
    """The sensors that measure at each step of a plan; negative steps are the last ticks of the warm-up.

    Attributes:
        reading: step -> sensors to read, with all their modalities, in the plan's order.
        settling: step -> other sensors that render settling modalities; their images are dropped.
    """

    def __init__(self, plan: ScenePlan) -> None:
        """Compute the steps of ``plan``."""
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
        """Number of images of a scene that are kept (all modalities), and of those that only settle."""
        captured = sum(self.images(step, captured=True) for step in self.reading)
        return captured, sum(self.images(step, captured=False) for step in self.settling)

    def images(self, step: int, *, captured: bool) -> int:
        """Return the number of images at a step: those that are kept, or those that only settle."""
        sensors = (self.reading if captured else self.settling).get(step, {})
        optical = (sensor.spec for sensor in sensors if sensor.spec.params.is_optical)
        return sum(m.settles or captured for spec in optical for m in ordered(spec.modalities))
