"""Load of a client with 200 vehicles, with or without the swarm's 50 cameras.

python -m tools.bench.load PORT ticks|images [--vehicles 200] [--warmup 40] [--ticks 200]
"""

import argparse
import functools
import json
import os
import queue
import random
import socket
import sys
import time
from collections.abc import Iterator
from typing import cast

import carla
import numpy as np
import psutil

from tools.bench import Row, cpu_s, in_own_process, simulator

DRONES = ((0, 0), (20, 0), (-20, 0), (0, -20), (0, 20))
MOUNTS = ((-45, 0), (-45, 180), (-45, -90), (-45, 90), (-90, 0))  # pitch, yaw
SENSORS = ("sensor.camera.rgb", "sensor.camera.instance_segmentation")
HEIGHT_M = 60.0
STEP_S = 0.05


class Traffic:
    """Traffic Manager vehicles in the server's current world."""

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

    def _spawn(self, count: int, rng: random.Random) -> list[int]:
        """Spawn cars on the map's spawn points, then on lane centres between them."""
        kinds = [b for b in self.world.get_blueprint_library().filter("vehicle.*") if _is_car(b)]
        kinds.sort(key=lambda blueprint: blueprint.id)
        spawn_points = self.map.get_spawn_points()
        rng.shuffle(spawn_points)
        between = [w.transform for w in self.map.generate_waypoints(14.0) if not w.is_junction]
        rng.shuffle(between)
        for transform in between:
            transform.location.z += 0.5
        ids: list[int] = []
        autopilot, port = carla.command.SetAutopilot, self.manager.get_port()
        for pose in [*spawn_points, *between]:
            if len(ids) == count:
                break
            spawn = carla.command.SpawnActor(rng.choice(kinds), pose)
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
                at = transform.location
                rows[row] = (at.x, at.y, at.z, np.radians(transform.rotation.yaw))
        return rows

    def close(self) -> None:
        """Leave synchronous mode and destroy the vehicles."""
        self.manager.set_synchronous_mode(False)
        settings = self.world.get_settings()
        settings.synchronous_mode = False
        settings.fixed_delta_seconds = None
        self.world.apply_settings(settings)
        self.client.apply_batch_sync([carla.command.DestroyActor(i) for i in self.ids], False)


class Swarm:
    """25 RGB and 25 instance cameras of 800 x 450."""

    def __init__(self, traffic: Traffic) -> None:
        self.client = traffic.client
        library = traffic.world.get_blueprint_library()
        self.centre = traffic.map.get_spawn_points()[0].location
        self.arrived: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        self.cameras: list[carla.Sensor] = []
        for pose in self._poses(0):
            for kind in SENSORS:
                blueprint = library.find(kind)
                blueprint.set_attribute("image_size_x", "800")
                blueprint.set_attribute("image_size_y", "450")
                camera = cast("carla.Sensor", traffic.world.spawn_actor(blueprint, pose))
                camera.listen(functools.partial(self._arrive, len(self.cameras)))
                self.cameras.append(camera)
        self._until_all_deliver(traffic.world)

    def _arrive(self, number: int, image: carla.Image) -> None:
        self.arrived.put((image.frame, number))

    def _poses(self, step: int) -> list[carla.Transform]:
        return [
            carla.Transform(
                carla.Location(self.centre.x + dx + 0.25 * step, self.centre.y + dy, HEIGHT_M),
                carla.Rotation(pitch=pitch, yaw=yaw),
            )
            for dx, dy in DRONES
            for pitch, yaw in MOUNTS
        ]

    def move(self, step: int) -> None:
        """Move all cameras by one batch."""
        poses = [pose for pose in self._poses(step) for _ in SENSORS]
        commands = [carla.command.ApplyTransform(c.id, pose) for c, pose in zip(self.cameras, poses, strict=True)]
        self.client.apply_batch_sync(commands, False)

    def _until_all_deliver(self, world: carla.World) -> None:
        """Tick until each camera has sent an image: its stream opens in the background after ``listen``."""
        quiet = set(range(len(self.cameras)))
        for _ in range(50):
            world.tick(60.0)
            while quiet:
                try:
                    quiet.discard(self.arrived.get(timeout=2.0)[1])
                except queue.Empty:
                    break
            if not quiet:
                return
        raise RuntimeError(f"{len(quiet)} cameras never sent an image")

    def wait(self, frame: int) -> int:
        """Wait for every camera's image of this frame; returns their number."""
        missing = len(self.cameras)
        while missing:
            missing -= self.arrived.get(timeout=60)[0] == frame
        return len(self.cameras)


def rows() -> Iterator[Row]:
    """Measure ticks without cameras, and with 25 RGB and 25 mask images, in a simulator each."""
    for workload, count, render in (("ticks", 400, "flat"), ("images", 12, "full")):
        with simulator("--town", "Town10HD", "--render", render) as running:
            pid = str(running.process.pid)
            words = (str(running.port), workload, "--ticks", str(count), "--server-pid", pid)
            found = in_own_process("tools.bench.load", *words)
        per, times = ("tick", count) if workload == "ticks" else ("pair", found["images"] / 2)
        how = f"{count} ticks, {found['vehicles']} Traffic Manager vehicles, {workload}, official client"
        yield Row(f"load_{per}s_per_s", times / found["wall_s"], f"{per}s/s", how)
        for side in ("client", "server"):
            yield Row(f"load_{side}_cpu_ms_per_{per}", 1e3 * found[f"{side}_cpu_s"] / times, "ms", how)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("what", choices=["ticks", "images"])
    parser.add_argument("--vehicles", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=40)
    parser.add_argument("--ticks", type=int, default=200)
    parser.add_argument("--server-pid", type=int, required=True)
    options = parser.parse_args()
    traffic = Traffic(options.port, vehicles=options.vehicles)
    for _ in range(options.warmup):
        traffic.world.tick(60.0)
    swarm = Swarm(traffic) if options.what == "images" else None
    server = psutil.Process(options.server_pid)
    images, wall, cpu, server_cpu = 0, time.perf_counter(), time.process_time(), cpu_s(server)
    for step in range(options.ticks):
        if swarm:
            swarm.move(step)
        frame = traffic.world.tick(60.0)
        images += swarm.wait(frame) if swarm else 0
    figures = {
        "wall_s": time.perf_counter() - wall,
        "client_cpu_s": time.process_time() - cpu,
        "server_cpu_s": cpu_s(server) - server_cpu,
        "images": images,
        "vehicles": len(traffic.ids),
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors; the parent process ends the simulator


def _is_car(blueprint: carla.ActorBlueprint) -> bool:
    return bool(blueprint.has_attribute("base_type") and blueprint.get_attribute("base_type").as_str() == "car")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
