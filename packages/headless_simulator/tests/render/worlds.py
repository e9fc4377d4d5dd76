"""Small hand-made meshes for the renderer's tests, without the town generator."""

from itertools import pairwise

import numpy as np
from headless_simulator.models import ModelLibrary
from headless_simulator.scene import ASPHALT, FOLIAGE, MATTE, TAG, WINDOW, Mesh, Movers

LIBRARY = ModelLibrary()


class Builder:
    """Collects quads."""

    def __init__(self) -> None:
        self.points: list[np.ndarray] = []
        self.triangles: list[np.ndarray] = []
        self.looks: list[tuple[tuple[int, int, int], int, int, int]] = []
        self.count = 0

    def polygon(
        self,
        corners: list[tuple[float, float, float]],
        colour: tuple[int, int, int],
        tag: str,
        *,
        material: int = MATTE,
        object_id: int = 0,
    ) -> None:
        array = np.array(corners, dtype=np.float32)
        self.points.append(array)
        for i in range(1, len(array) - 1):
            self.triangles.append(np.array([0, i, i + 1]) + self.count)
            self.looks.append((colour, TAG[tag], material, object_id))
        self.count += len(array)

    def box(
        self,
        centre: tuple[float, float],
        half: tuple[float, float],
        height: float,
        colour: tuple[int, int, int],
        tag: str,
        *,
        material: int = MATTE,
        object_id: int = 0,
        base: float = 0.0,
    ) -> None:
        (x, y), (a, b) = centre, half
        ring = [(x - a, y - b), (x + a, y - b), (x + a, y + b), (x - a, y + b)]
        for i in range(4):
            p, q = ring[i], ring[(i + 1) % 4]
            side = [(*p, base), (*q, base), (*q, base + height), (*p, base + height)]
            self.polygon(side, colour, tag, material=material, object_id=object_id)
        self.polygon([(*p, base + height) for p in ring], colour, tag, material=material, object_id=object_id)

    def mesh(self) -> Mesh:
        colour, tag, material, object_id = zip(*self.looks, strict=True)
        return Mesh(
            np.concatenate(self.points).astype(np.float32),
            np.array(self.triangles, dtype=np.int32),
            np.array(colour, dtype=np.uint8),
            np.array(tag, dtype=np.uint8),
            np.array(material, dtype=np.uint8),
            np.array(object_id, dtype=np.uint32),
        )


def ground(size_m: float = 200.0, *, cells: int = 8) -> Mesh:
    """A flat grey road plane around the origin, in cells."""
    build = Builder()
    edges = np.linspace(-size_m, size_m, cells + 1)
    for x0, x1 in pairwise(edges):
        for y0, y1 in pairwise(edges):
            build.polygon([(x0, y0, 0), (x1, y0, 0), (x1, y1, 0), (x0, y1, 0)], (90, 90, 92), "road", material=ASPHALT)
    return build.mesh()


def city(blocks: int = 4, pitch_m: float = 60.0, *, seed: int = 3) -> Mesh:
    """Blocks with pavements, houses with windows, trees and lane marks."""
    rng = np.random.default_rng(seed)
    build = Builder()
    half = blocks * pitch_m / 2
    for i in range(blocks):
        for j in range(blocks):
            x, y = -half + (i + 0.5) * pitch_m, -half + (j + 0.5) * pitch_m
            p = pitch_m / 2
            block = [(x - p, y - p, 0.0), (x + p, y - p, 0.0), (x + p, y + p, 0.0), (x - p, y + p, 0.0)]
            build.polygon(block, (72, 72, 75), "road", material=ASPHALT)
            for k in range(8):
                t = x - p + (k + 0.2) * pitch_m / 8
                low, high = y - p - 0.08, y - p + 0.08
                mark = [(t, low, 0.02), (t + 3, low, 0.02), (t + 3, high, 0.02), (t, high, 0.02)]
                build.polygon(mark, (220, 220, 215), "road_line")
            build.box((x, y), (p - 7, p - 7), 0.15, (150, 148, 142), "sidewalk")
            for a in (-1, 1):
                for b in (-1, 1):
                    number = 1 + ((i * blocks + j) * 4 + (a + 1) + (b + 1) // 2)
                    _house(build, rng, (x + a * (p - 7) / 2, y + b * (p - 7) / 2), number)
            for k in range(6):
                tx, ty = x - p + 8 + k * (2 * p - 16) / 5, y - p + 8.2
                tree = 5000 + number * 10 + k
                build.box((tx, ty), (0.15, 0.15), 2.4, (92, 70, 52), "vegetation", object_id=tree)
                build.box(
                    (tx, ty), (1.4, 1.4), 2.6, (62, 96, 48), "vegetation", material=FOLIAGE, base=2.2, object_id=tree
                )
    build.polygon(
        [(-500, -500, -0.3), (500, -500, -0.3), (500, 500, -0.3), (-500, 500, -0.3)], (96, 110, 70), "terrain"
    )
    return build.mesh()


def _house(build: Builder, rng: np.random.Generator, at: tuple[float, float], number: int) -> None:
    a, b = rng.uniform(5, 8, size=2)
    height = float(rng.choice([7, 10, 16, 25, 34]))
    shade = int(rng.integers(120, 220))
    build.box(at, (a, b), height, (shade, shade - 14, shade - 34), "building", object_id=number)

    def window(start: tuple[float, float], end: tuple[float, float], level: float) -> None:
        corners = [(*start, level), (*end, level), (*end, level + 1.5), (*start, level + 1.5)]
        build.polygon(corners, (50, 60, 72), "building", material=WINDOW, object_id=number)

    for level in np.arange(1.2, height - 2, 3.2):
        for side in (-1, 1):
            x, y = at[0] + side * (a + 0.03), at[1] + side * (b + 0.03)
            for t in np.arange(-a + 1, a - 1.5, 2.6):
                window((at[0] + t, y), (at[0] + t + 1.4, y), level)
            for t in np.arange(-b + 1, b - 1.5, 2.6):
                window((x, at[1] + t), (x, at[1] + t + 1.4), level)


def movers(blueprints: list[str], poses: np.ndarray, *, first_id: int = 100, lights: int = 0) -> Movers:
    """Movers with those bodies and poses, ids counted from ``first_id``, colours cycling."""
    count = len(blueprints)
    palette = np.array(
        [[164, 24, 28], [236, 237, 238], [21, 22, 25], [31, 74, 150], [168, 171, 176], [221, 176, 32]], dtype=np.uint8
    )
    return Movers(
        model=np.array([LIBRARY.number(name) for name in blueprints], dtype=np.int32),
        pose=np.asarray(poses, dtype=np.float64).reshape(count, 6),
        actor_id=np.arange(first_id, first_id + count, dtype=np.uint32),
        colour_rgb=palette[np.arange(count) % len(palette)],
        lights=np.full(count, lights, dtype=np.uint32),
    )


def no_movers() -> Movers:
    return movers([], np.zeros((0, 6)))


def traffic(count: int, *, blocks: int = 4, pitch_m: float = 60.0, seed: int = 9, lights: int = 0) -> Movers:
    """Vehicles of all kinds on the streets of ``city``, people on its pavements."""
    rng = np.random.default_rng(seed)
    vehicles = [name for name in LIBRARY.blueprints if name.startswith("vehicle.")]
    walkers = [name for name in LIBRARY.blueprints if name.startswith("walker.")]
    names, poses = [], []
    half = blocks * pitch_m / 2
    for i in range(count):
        line, along = rng.integers(0, blocks) * pitch_m - half, rng.uniform(-half, half)
        side = rng.choice([-1, 1])
        if i % 8 == 7:
            names.append(str(rng.choice(walkers)))
            poses.append((along, line + side * 8, 1.05, 0, rng.uniform(0, 360), 0))
        elif rng.random() < 0.5:
            names.append(str(rng.choice(vehicles)))
            poses.append((along, line + side * 2.5, 0, 0, 180 * (side > 0), 0))
        else:
            names.append(str(rng.choice(vehicles)))
            poses.append((line + side * 2.5, along, 0, 0, 90 + 180 * (side < 0), 0))
    return movers(names, np.array(poses), lights=lights)
