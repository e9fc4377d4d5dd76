"""Streams of synthetic datasets along their drones' flights."""

import json
from pathlib import Path

import numpy as np

import uavsim
from tools.common.factories import make_plan
from uavsim.files.parquet import to_parquet
from uavsim.ingredients.flight_sensors import KINDS, Units
from uavsim.ingredients.flight_sensors.carrier_motion import Track


def add_streams(folder: Path, *, drones: int, units: Units | None = None) -> None:
    """Add streams to every drone of a dataset of ``make_dataset``; default: one of each kind at its usual rate."""
    (version,) = folder.glob("v1.0-*")
    rows, chosen = [], units or Units.model_validate({kind: {} for kind in KINDS})
    data = uavsim.open(folder)
    for index, name in enumerate(data.scene_names):
        scene = data.scene(name)
        plan = make_plan(scene=name, scene_index=index, samples=len(scene.samples), drones=drones)
        last_us = plan.start_timestamp_us + plan.capture_steps[-1] * plan.step_us
        for drone in range(drones):
            track = Track(
                plan.swarm.map_SE3_flu[:, drone],
                step_us=plan.step_us,
                start_us=plan.start_timestamp_us,
                origin_deg_m=(0.0, 0.0, 0.0),
            )
            for kind, unit in chosen.configured():
                channel = f"{kind.upper()}_id_{drone}"
                times_us = np.arange(plan.start_timestamp_us, last_us + 1, round(1e6 / unit.hz))
                path = f"streams/{channel}/{name}__{channel}.parquet"
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                found = unit.read(track.at(times_us), np.random.default_rng([drone, len(rows)]))
                (folder / path).write_bytes(to_parquet(found, {"model": unit.model_dump()}))
                row = {"token": f"{name}{channel}", "scene_token": scene.token, "channel": channel, "kind": kind}
                rows.append(row | {"motion": "planned", "rate_hz": unit.hz, "count": len(found), "filename": path})
    (version / "stream.json").write_text(json.dumps(rows))
