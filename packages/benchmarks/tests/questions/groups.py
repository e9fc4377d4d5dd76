"""Groups of images with facts that differ from sample to sample."""

from __future__ import annotations

import numpy as np

from uavsim_benchmarks.questions.facts import Group, ObjectSeen, View

KINDS = ("car", "truck", "bus", "pedestrian", "bicycle")
CAUSES = ("out_of_view", "occluded", "too_small", "under_shadow")


def make_group(*, sample: int = 0, drones: int = 5, scene: str = "scene_00") -> Group:
    """Make one group; drone 3 helps drone 0 most, and every fact changes with sample and drone."""
    return Group(scene, sample, "FRONT", tuple(make_view(sample, drone, drones) for drone in range(drones)))


def make_view(sample: int, drone: int, drones: int) -> View:
    step = sample + 3 * drone
    ranked = ((CAUSES[step % 4], 5), (CAUSES[(step + 1 + step // 4 % 3) % 4], 2))
    kind = KINDS[step % 5]
    turn = 2 * np.pi * drone / drones
    return View(
        drone=drone,
        filename=f"samples/{sample}_{drone}.png",
        surface=("road", "green", "built-up")[step % 3],
        counts={"car": step % 17, "pedestrian": step % 5},
        sizes_px={kind: [90]},
        doubtful=frozenset(),
        seen=frozenset({f"shared{sample}"} if drone < 2 else {f"own{drone}"}),
        objects=(
            ObjectSeen(f"shared{sample}" if drone < 2 else f"own{drone}", kind, step * 7 % 100, step * 13 % 100, 90),
        ),
        quality=1 + step % 5,
        score=1 + step % 5 + 0.1 * drone,
        in_view=10,
        perceived=step % 11,
        hindrances=ranked,
        concerned=10,
        gained=step % 11,
        best=3 if drone == 0 else -1,
        partners=tuple(d for d in range(drones) if d != drone),
        what={kind: 1 + step % 4},
        why={d: ranked for d in range(drones) if d != drone},
        place_m=np.array([20 * np.cos(turn), 20 * np.sin(turn), 40.0]),
        heading=np.array([1.0, 0.0]),
    )
