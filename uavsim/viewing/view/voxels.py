"""Voxels of a recording: what stands and moves in each sample, by class, as boxes in the map frame."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rerun as rr

from uavsim.access import Sample
from uavsim.images import draw
from uavsim.occupancy.files import voxels_of
from uavsim.viewing.view.times import Times


def log_voxels(recording: rr.RecordingStream, samples: Sequence[Sample], times: Times, *, folder: Path) -> None:
    """Write the voxels that a folder holds of some samples.

    Raises:
        DatasetError: a file is damaged.
    """
    for number, sample in enumerate(samples):
        times.go_to(recording, number)
        for voxels in voxels_of(folder, sample):
            shown = rr.Boxes3D(
                centers=voxels.centres_map_m.astype(np.float32),
                half_sizes=np.full((len(voxels.classes), 3), voxels.voxel_m / 2, dtype=np.float32),
                quaternions=[np.roll(voxels.quat_wxyz, -1)],
                colors=np.array(draw.palette(len(voxels.names)), dtype=np.uint8)[voxels.classes],
                fill_mode=rr.components.FillMode.Solid,
            )
            recording.log(f"world/voxels/{voxels.grid}", shown)
