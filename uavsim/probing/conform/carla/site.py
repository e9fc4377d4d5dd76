"""A test site far above the town, in synchronous mode: spawns, observes and removes one object at a time."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

import carla
import numpy as np

from uavsim.config.deadlines import Deadlines
from uavsim.errors import SimulatorError
from uavsim.simulate.ports import Endpoint
from uavsim.typing import FloatArray, UInt8Array

STEP_S: Final = 0.05
_READING_S: Final = 10.0
_ABOVE_M: Final = 250.0


class Site:
    """One client with the world in synchronous mode.

    On exit it removes its actors, and lets the world run freely like that of a new server: only then AirSim in the same build
    answers.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Connect, and switch to synchronous mode.

        Raises:
            RuntimeError: the server does not answer.
        """
        self.client = carla.Client(endpoint.host, endpoint.port)
        self.client.set_timeout(Deadlines().call_s)
        self.world = self.client.get_world()
        self.town = self.world.get_map()
        self.blueprints = self.world.get_blueprint_library()
        self.ticked: Callable[[], None] = lambda: None  # called after each tick
        self._actors: list[carla.Actor] = []
        settings = self.world.get_settings()
        settings.synchronous_mode, settings.fixed_delta_seconds, settings.no_rendering_mode = True, STEP_S, False
        self.world.apply_settings(settings)
        points = self.town.get_spawn_points()
        if not points:
            raise SimulatorError("the town has no spawn points; load another town")
        self.spawn_points = points
        origin = points[0].location
        self.above = carla.Location(origin.x, origin.y, origin.z + _ABOVE_M)
        self.look_from(self.above)

    def look_from(self, location: carla.Location) -> None:
        """Move the spectator, the centre of the streaming of a large map, at the next tick."""
        self.world.get_spectator().set_transform(carla.Transform(location, carla.Rotation(pitch=-90)))

    def __enter__(self) -> Self:
        """Return the site."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the actors, and let the world run freely."""
        self.clear()
        settings = self.world.get_settings()
        settings.synchronous_mode, settings.fixed_delta_seconds = False, None
        self.world.apply_settings(settings)

    def tick(self) -> int:
        """Tick once; returns the frame."""
        frame = int(self.world.tick(Deadlines().call_s))
        self.ticked()
        return frame

    def spawn(self, blueprint: str, pose: carla.Transform, **attributes: str) -> Any:
        """Spawn an actor.

        Raises:
            SimulatorError: the server does not have the blueprint, or the place is occupied.
        """
        try:
            found = self.blueprints.find(blueprint)
        except IndexError as error:
            raise SimulatorError(f"the server has no blueprint {blueprint}") from error
        for name, value in attributes.items():
            found.set_attribute(name, value)
        actor = self.world.spawn_actor(found, pose)
        self._actors.append(actor)
        return actor

    def body(self, blueprint: str, pose: carla.Transform) -> Any:
        """Spawn a vehicle without physics."""
        actor = self.spawn(blueprint, pose)
        actor.set_simulate_physics(False)
        return actor

    def camera(
        self, kind: str, pose: carla.Transform, *, width: int = 400, height: int = 300, fov_deg: float = 60.0
    ) -> ProbeCamera:
        """Spawn a camera of ``sensor.camera.<kind>``."""
        size = {"image_size_x": str(width), "image_size_y": str(height), "fov": str(fov_deg)}
        return ProbeCamera(self.spawn(f"sensor.camera.{kind}", pose, **size))

    def reload(self) -> None:
        """Reload the town with the present settings."""
        self.world = self.client.load_world(self.town.name.rsplit("/", 1)[-1], False)
        self.town, self.blueprints = self.world.get_map(), self.world.get_blueprint_library()

    def clear(self) -> None:
        """Remove the actors."""
        for actor in self._actors:
            if isinstance(actor, carla.Sensor) and actor.is_listening():
                actor.stop()
        if self._actors:
            # without a tick in the same call, which would hold the interpreter lock that callbacks of sensors need
            self.client.apply_batch_sync([carla.command.DestroyActor(a.id) for a in reversed(self._actors)], False)
            self.tick()
        self._actors.clear()


class ProbeCamera:
    """A sensor with a queue of its readings."""

    def __init__(self, sensor: carla.Sensor) -> None:
        """Listen."""
        self.sensor = sensor
        self._readings: queue.Queue[Any] = queue.Queue()
        put: Callable[[Any], None] = self._readings.put
        sensor.listen(put)

    def of(self, frame: int) -> Any:
        """Return the reading of a frame.

        Raises:
            SimulatorError: there is no such reading.
        """
        try:
            while (reading := self._readings.get(timeout=_READING_S)).frame < frame:
                pass
        except queue.Empty:
            raise SimulatorError(f"{self.sensor.type_id} sent no reading within {_READING_S:g} s") from None
        if reading.frame != frame:
            raise SimulatorError(f"{self.sensor.type_id} sent frame {reading.frame} instead of {frame}")
        return reading

    def first(self, number: int, *, after: int) -> list[Any]:
        """Return at most ``number`` readings of frames after ``after`` in order of arrival."""
        readings: list[Any] = []
        with contextlib.suppress(queue.Empty):
            while len(readings) < number:
                reading = self._readings.get(timeout=_READING_S)
                readings += [reading] if reading.frame > after else []
        return readings

    def drain(self) -> list[Any]:
        """Return and remove all readings in the queue."""
        return [self._readings.get() for _ in range(self._readings.qsize())]

    def camera_points(self, points_m: FloatArray) -> FloatArray:
        """Transform (N, 3) world points to the camera: (N, 3) right, down, forward, metres."""
        inverse = np.asarray(self.sensor.get_transform().get_inverse_matrix())
        points_sensor_m = np.c_[points_m, np.ones(len(points_m))] @ inverse.T
        camera_m: FloatArray = points_sensor_m[:, [1, 2, 0]] * np.array([1.0, -1.0, 1.0])
        return camera_m


def bgra_of(image: Any) -> UInt8Array:
    """Return an image's pixels, (H, W, 4) uint8."""
    flat: UInt8Array = np.frombuffer(image.raw_data, np.uint8)
    return flat.reshape(image.height, image.width, 4).copy()


def absent_on_error(ask: Callable[[], Any]) -> tuple[Any, str]:
    """Return an answer and "", or None and the server's error."""
    try:
        return ask(), ""
    except (RuntimeError, SimulatorError, IndexError) as error:
        return None, " ".join(str(error).split())[:200]


def shifted(location: carla.Location, x_m: float = 0.0, y_m: float = 0.0, z_m: float = 0.0) -> carla.Location:
    """Return a location with an offset, metres."""
    return carla.Location(location.x + x_m, location.y + y_m, location.z + z_m)
