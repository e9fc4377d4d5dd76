"""Observe the town of a CARLA server from above with depth and semantic cameras; writes points in the map frame.

``.venv/bin/python tests/maps/judges/roofs_judge.py HOST:PORT NPZ``: ``points_map_m`` (N, 3), ``tags`` (N,);
``cameras_map_m`` (M, 3), and ``reach``, half of an image's width at a distance of one.
"""

import os
import queue
import sys
from typing import Any

import carla
import numpy as np

HEIGHT_M, FOV_DEG, SIDE_PX = 150.0, 60.0, 400
MOST_TICKS = 1000
PLACES_M = ((0.0, 0.0), (-60.0, 60.0), (60.0, -40.0))


def main() -> None:
    """Capture and write the points."""
    host, _, port = sys.argv[1].rpartition(":")
    client = carla.Client(host, int(port))
    client.set_timeout(60.0)
    world = client.get_world()
    settings = world.get_settings()
    settings.synchronous_mode, settings.fixed_delta_seconds, settings.no_rendering_mode = True, 0.05, False
    world.apply_settings(settings)
    clouds = [_seen(world, x, y) for x, y in PLACES_M]
    np.savez(
        sys.argv[2],
        points_map_m=np.concatenate([points for points, _ in clouds]),
        tags=np.concatenate([tags for _, tags in clouds]),
        cameras_map_m=[(x, -y, HEIGHT_M) for x, y in PLACES_M],
        reach=np.tan(np.radians(FOV_DEG) / 2.0),
    )
    settings.synchronous_mode = False
    world.apply_settings(settings)
    os._exit(0)  # libcarla's threads may abort a regular exit


def _seen(world: Any, x: float, y: float) -> tuple[Any, Any]:
    pose = carla.Transform(carla.Location(x, y, HEIGHT_M), carla.Rotation(pitch=-90.0))
    cameras, images = [], []
    for kind in ("depth", "semantic_segmentation"):
        blueprint = world.get_blueprint_library().find(f"sensor.camera.{kind}")
        for name, value in (("image_size_x", SIDE_PX), ("image_size_y", SIDE_PX), ("fov", FOV_DEG)):
            blueprint.set_attribute(name, str(value))
        cameras.append(world.spawn_actor(blueprint, pose))
        images.append(queue.Queue())
        cameras[-1].listen(images[-1].put)
    for _ in range(MOST_TICKS):  # a camera's first image is of some tick after its stream was opened
        if not any(one.empty() for one in images):
            break
        world.tick()
    frame = world.tick()
    depth, semantic = (_of(one, frame) for one in images)
    for camera in cameras:
        camera.destroy()
    b, g, r = (_pixels(depth)[..., c].astype(np.float64) for c in range(3))
    ahead = (r + g * 256.0 + b * 65536.0) / (256.0**3 - 1.0) * 1000.0
    focal = SIDE_PX / 2.0 / np.tan(np.radians(FOV_DEG) / 2.0)
    v, u = (np.indices(ahead.shape) + 0.5 - SIDE_PX / 2.0) / focal
    local = np.stack([ahead, u * ahead, -v * ahead, np.ones_like(ahead)], axis=-1).reshape(-1, 4)
    points = local @ np.array(depth.transform.get_matrix()).T
    return points[:, :3] * (1.0, -1.0, 1.0), _pixels(semantic)[..., 2].ravel()


def _of(images: queue.Queue[Any], frame: int) -> Any:
    while (image := images.get(timeout=60.0)).frame != frame:
        pass
    return image


def _pixels(image: Any) -> Any:
    return np.frombuffer(image.raw_data, dtype=np.uint8).reshape(image.height, image.width, 4)


main()
