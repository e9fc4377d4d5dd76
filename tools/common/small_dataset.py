"""A small dataset's YAML for trials that fly many short scenes."""

from pathlib import Path
from typing import Final

RIG: Final = """
width_px: 160
height_px: 90
fov_deg: 90
sensors: [rgb, instance]
cameras:
  FRONT: {pitch_deg: -45}
  BOTTOM: {pitch_deg: -90}
"""
DATASET: Final = """
description: Small images, for killing.
seed: 5
version: v1.0-mini
towns:
  Town10HD: {routes: [town10_row3_col3, town10_row2_col3], scenes: 6, most_scenes: 100}
samples: 3
keyframe_s: 0.5
warmup_s: 0.5
settle: false
formation: cross
rig: tiny
weather: clear_noon
traffic: {vehicles: 15}
splits: {rule: uav3d}
"""


def write_plans(work: Path, *, name: str = "kill", dataset: str = DATASET, scenes: int = 6) -> Path:
    """Write a small dataset's YAML for runs in this working folder; returns the dataset's file."""
    dataset = dataset.replace("scenes: 6,", f"scenes: {scenes},")
    texts = {"rigs/tiny.yaml": RIG, f"datasets/{name}.yaml": dataset}
    for file, text in texts.items():
        path = work / "flight_plans" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return work / "flight_plans" / "datasets" / f"{name}.yaml"


def one_scene(samples: int) -> tuple[str, ...]:
    """Return options of ``uavsim generate`` for one short scene of the smoke dataset."""
    return ("--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", str(samples), "--no-settle")
