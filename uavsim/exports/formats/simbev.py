"""SimBEV's bird's-eye layers: 14 binary rasters of 360 x 360 pixels of 0.4 m around each agent.

Rows go along -x, columns along -y of the agent's flu frame. Layers of the map are footprints of roads and crossings;
others are footprints of boxes. No scene has hazard areas, and riders are one with their bicycles: these two are empty.
Source: SimBEV's README, "seg"; its 3.0 has ``hazard`` and barriers.
"""

import io
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Sample
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.exports.formats.text import write_bytes
from uavsim.files.results import ResultPath
from uavsim.records.channels import agent_id
from uavsim.typing import BoolArray

LAYERS: Final[dict[str, tuple[str, ...]]] = {
    "road": ("drivable_area",),
    "hazard": (),
    "road_line": ("road_divider", "lane_divider"),
    "sidewalk": ("walkway",),
    "crosswalk": ("ped_crossing",),
    "traffic_cone": ("movable_object.trafficcone",),
    "barrier": ("movable_object.barrier",),
    "car": ("vehicle.car",),
    "truck": ("vehicle.truck",),
    "bus": ("vehicle.bus",),
    "motorcycle": ("vehicle.motorcycle",),
    "bicycle": ("vehicle.bicycle",),
    "rider": (),
    "pedestrian": ("human.pedestrian",),
}
"""Each layer's name, and what of the map or of the categories is in it."""
_OF_MAP: Final = 5
_SIDE_M, _PX_M = 144.0, 0.4


@exporter
def export_simbev(request: ExportRequest) -> list[Path]:
    """Write ``<agent>/ground-truth/seg/SimBEV-scene-<n>-frame-<n>-GT_SEG.npz`` with the key ``data``.

    Raises:
        DatasetError: no map of a town, or a table is missing.
        StorageError: a file cannot be written.
    """
    folders: dict[str, Path] = {}
    out = ResultPath.open(request.out)
    for number, scene in enumerate(request.open_labelled().scenes(request.split)):
        for sample in scene:
            for agent in dict.fromkeys(agent_id(image.channel) for image in sample.images):
                data = io.BytesIO()
                np.savez_compressed(data, data=simbev_layers(sample, agent))
                name = f"SimBEV-scene-{number:04d}-frame-{sample.number:04d}-GT_SEG.npz"
                write_bytes(out / agent / "ground-truth" / "seg" / name, data.getvalue())
                folders[agent] = (out / agent).shown
    return list(folders.values())


def simbev_layers(sample: Sample, agent: str) -> BoolArray:
    """Return (14, 360, 360) layers around an agent of a sample."""
    parts = list(LAYERS.values())
    map_layers = [name for names in parts[:_OF_MAP] for name in names]
    classes = [name for names in parts[_OF_MAP:] for name in names]
    found = dict(
        zip(
            (*map_layers, *classes),
            sample.bev(map_layers, classes, agent=agent, size_m=(_SIDE_M, _SIDE_M), metres_per_px=_PX_M),
            strict=True,
        )
    )
    side = round(_SIDE_M / _PX_M)
    empty: BoolArray = np.zeros((side, side), dtype=np.bool_)
    layers = np.stack([np.logical_or.reduce([empty, *(found[name] for name in names)]) for names in parts])
    return np.ascontiguousarray(layers.transpose(0, 2, 1)[:, ::-1, ::-1])  # columns ahead, rows to the left before
