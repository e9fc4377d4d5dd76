"""Datasets in which drone 1 is another agent."""

import shutil
from pathlib import Path


def rename_agent(data: Path, folder: Path, agent: str) -> Path:
    """Copy a dataset to a new folder and rename drone 1, for instance to ``v0`` or ``r0``; returns the folder."""
    shutil.copytree(data, folder)
    sensors = folder / "v1.0-mini/sensor.json"
    sensors.write_text(sensors.read_text().replace("_id_1", f"_id_{agent}"))
    return folder
