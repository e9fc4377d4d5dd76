"""Groups of images with facts that differ from sample to sample."""

import numpy as np

from uavsim_benchmarks.questions.facts import Group, ImageFacts, ImageObject

KINDS = ("car", "truck", "bus", "pedestrian", "two-wheeler")
FAULTS = ("none", "dark", "flat", "noisy", "blurred")


def make_group(*, sample: int = 0, drones: int = 5, scene: str = "scene_00") -> Group:
    """Make one group; drone 3 shows the most objects, and all facts vary with sample and drone."""
    return Group(scene, sample, "FRONT", tuple(make_view(sample, drone, drones) for drone in range(drones)))


def make_view(sample: int, drone: int, drones: int) -> ImageFacts:
    step = sample + 3 * drone
    turn = 2 * np.pi * drone / drones
    fault = FAULTS[sample % 5] if drone == 4 and sample % 3 == 1 else "none"
    return ImageFacts(
        drone=drone,
        filename=f"samples/{sample}_{drone}.png",
        surface=("road", "plants", "built-up")[step % 3],
        objects=make_objects(sample, drone),
        faults=frozenset() if fault == "none" else frozenset({fault}),
        fault=fault,
        score=1.0 if drone else 3.0,
        position_m=np.array([20 * np.cos(turn), 20 * np.sin(turn), 40.0]),
        heading=np.array([1.0, 0.0]),
    )


def make_objects(sample: int, drone: int) -> tuple[ImageObject, ...]:
    """Make vehicles of one drone, a shared one, an occluded, a small and a truncated one, and two shared walkers."""
    step = sample + 3 * drone
    kind = KINDS[sample % 5]
    objects = [
        make_one(f"{sample}_{drone}_{n}", KINDS[(step + n) % 3], x=(step * 7 + 31 * n) % 100, y=step * 13 % 100)
        for n in range((step % 3) + (4 + 2 * (sample % 2) if drone == 3 else 0))
    ]
    objects += [make_one(f"walker{n}", "pedestrian", x=11 + 70 * n, y=9) for n in range(2)]
    if drone < 2:
        objects.append(make_one(f"shared{sample}", kind, x=step * 3 % 100, y=step * 17 % 100, px=900))
    state = ({}, {"hidden": 0.6}, {"hidden": 0.5}, {"px": 30}, {"cut": 0.5})[sample % 5]
    if drone < 2:
        objects.append(make_one(f"state{sample}", "car", x=50, y=50, **(state if drone else {})))
    return tuple(objects)


def make_one(name: str, kind: str = "car", *, x: int = 20, y: int = 80, px: int = 400, **changed: float) -> ImageObject:
    return ImageObject(name, kind, x, y, px, **changed)  # type: ignore[arg-type]
