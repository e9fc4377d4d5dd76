"""A client that ticks with 200 vehicles, with or without the swarm's 50 cameras; prints one JSON line.

python -m tools.bench.load PORT ticks|images [--vehicles 200] [--warmup 40] [--ticks 200]
"""

import argparse
import functools
import json
import os
import queue
import signal
import sys
import time
from pathlib import Path
from typing import cast

import carla
import psutil

from tools.bench.rows import cpu_s
from tools.bench.traffic import Traffic

DRONES = ((0, 0), (20, 0), (-20, 0), (0, -20), (0, 20))
MOUNTS = ((-45, 0), (-45, 180), (-45, -90), (-45, 90), (-90, 0))  # pitch, yaw
SENSORS = ("sensor.camera.rgb", "sensor.camera.instance_segmentation")
HEIGHT_M = 60.0


class Swarm:
    """25 RGB and 25 instance cameras of 800 x 450, moved by one batch before each tick."""

    def __init__(self, traffic: Traffic) -> None:
        self.client = traffic.client
        library = traffic.world.get_blueprint_library()
        self.centre = traffic.map.get_spawn_points()[0].location
        self.arrived: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        self.cameras: list[carla.Sensor] = []
        for place in self._poses(0):
            for kind in SENSORS:
                blueprint = library.find(kind)
                blueprint.set_attribute("image_size_x", "800")
                blueprint.set_attribute("image_size_y", "450")
                camera = cast("carla.Sensor", traffic.world.spawn_actor(blueprint, place))
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
        """Wait for every camera's image of this frame; return the images that came."""
        missing, came = len(self.cameras), 0
        while missing:
            number, _ = self.arrived.get(timeout=60)
            came += number == frame
            missing -= number == frame
        return came


def _note_stages(server: psutil.Process, file: Path) -> None:
    """Let the server add a line of its stages' times, and wait until it stands there."""
    size = file.stat().st_size if file.exists() else 0
    server.send_signal(signal.SIGUSR1)
    end = time.monotonic() + 30
    while not file.exists() or file.stat().st_size == size:
        if time.monotonic() > end:
            raise RuntimeError("the simulator wrote no stages")
        time.sleep(0.01)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("what", choices=["ticks", "images"])
    parser.add_argument("--vehicles", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=40)
    parser.add_argument("--ticks", type=int, default=200)
    parser.add_argument("--server-pid", type=int, required=True)
    parser.add_argument("--stages", type=Path, metavar="FILE", help="where the server writes its stages' times")
    options = parser.parse_args()
    traffic = Traffic(options.port, vehicles=options.vehicles)
    for _ in range(options.warmup):
        traffic.world.tick(60.0)
    swarm = Swarm(traffic) if options.what == "images" else None
    server = psutil.Process(options.server_pid)
    if options.stages:
        _note_stages(server, options.stages)
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
    if options.stages:
        _note_stages(server, options.stages)
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors; the simulator is ended by whoever started it


if __name__ == "__main__":
    main()
