"""A client's side of the traffic: 200 vehicles under the Traffic Manager in sync mode, through the official client."""

import random
import socket
from typing import cast

import carla
import numpy as np

STEP_S = 0.05


class Traffic:
    """Vehicles under the Traffic Manager in the server's current world, stepped by ``tick``."""

    def __init__(self, port: int, *, vehicles: int, seed: int = 7, lane_changes: bool = True) -> None:
        self.client = carla.Client("127.0.0.1", port)
        self.client.set_timeout(120.0)
        self.world = self.client.get_world()
        settings = self.world.get_settings()
        settings.synchronous_mode = True
        settings.fixed_delta_seconds = STEP_S
        self.world.apply_settings(settings)
        self.manager = self.client.get_trafficmanager(_free_port())
        self.manager.set_synchronous_mode(True)
        self.manager.set_random_device_seed(seed)
        self.map = self.world.get_map()
        self.ids = self._spawn(vehicles, random.Random(seed))
        self.world.tick()
        self.vehicles = cast("list[carla.Vehicle]", list(self.world.get_actors(self.ids)))
        for vehicle in self.vehicles:
            self.manager.auto_lane_change(vehicle, lane_changes)

    def _spawn(self, wanted: int, rng: random.Random) -> list[int]:
        """Spawn cars on the map's spawn points, then on lane centres between them."""
        kinds = [b for b in self.world.get_blueprint_library().filter("vehicle.*") if _is_car(b)]
        kinds.sort(key=lambda blueprint: blueprint.id)
        places = self.map.get_spawn_points()
        rng.shuffle(places)
        between = [w.transform for w in self.map.generate_waypoints(14.0) if not w.is_junction]
        rng.shuffle(between)
        for transform in between:
            transform.location.z += 0.5
        ids: list[int] = []
        autopilot, port = carla.command.SetAutopilot, self.manager.get_port()
        for place in [*places, *between]:
            if len(ids) == wanted:
                break
            spawn = carla.command.SpawnActor(rng.choice(kinds), place)
            (answer,) = self.client.apply_batch_sync(
                [spawn.then(autopilot(carla.command.FutureActor, True, port))], False
            )
            if not answer.error:
                ids.append(answer.actor_id)
        return ids

    def half_extents(self) -> np.ndarray:
        """(N, 3) half sizes, in the order of ``ids``."""
        boxes = [vehicle.bounding_box.extent for vehicle in self.vehicles]
        return np.array([[box.x, box.y, box.z] for box in boxes])

    def poses(self) -> np.ndarray:
        """(N, 4) x, y, z and yaw in radians in the last snapshot; nan for a vehicle that is gone."""
        snapshot = self.world.get_snapshot()
        rows = np.full((len(self.ids), 4), np.nan)
        for row, actor_id in enumerate(self.ids):
            state = snapshot.find(actor_id)
            if state is not None:
                transform = state.get_transform()
                place = transform.location
                rows[row] = (place.x, place.y, place.z, np.radians(transform.rotation.yaw))
        return rows

    def close(self) -> None:
        """Let the simulator run by itself again."""
        self.manager.set_synchronous_mode(False)
        settings = self.world.get_settings()
        settings.synchronous_mode = False
        settings.fixed_delta_seconds = None
        self.world.apply_settings(settings)
        self.client.apply_batch_sync([carla.command.DestroyActor(i) for i in self.ids], False)


def _is_car(blueprint: carla.ActorBlueprint) -> bool:
    return bool(blueprint.has_attribute("base_type") and blueprint.get_attribute("base_type").as_str() == "car")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
