"""A small clean dataset: three scenes of synthetic recordings, written by the real writer."""

import shutil
from dataclasses import replace
from pathlib import Path

from tools.common.factories import HOUSES, Mover, make_recording, street
from uavsim.annotate import annotate, write_label_files
from uavsim.dataset import assemble, final_paths, pack_fragment, scene_fragment

VERSION = "v1.0-mini"
SPLITS = ("uav_train", "uav_train", "uav_val")


def write_small(
    root: Path, work: Path, *, samples: int = 5, drones: int = 2, movers: list[Mover] | None = None
) -> Path:
    """Write a valid dataset of 3 scenes and 2 drones with 3 cameras each."""
    fragments = []
    for index, split in enumerate(SPLITS):
        folder = work / f"recording_{index}"
        recording = make_recording(
            folder,
            movers=_cast(index) if movers is None else movers,
            houses=tuple(((x + 2.5 * index, y - 1.5 * index, z), half) for (x, y, z), half in HOUSES),
            scene=f"scene_{index:02d}",
            scene_index=index,
            splits=(split,),
            samples=samples,
            sweeps=0,
            drones=drones,
            size_px=(384, 216),
            cameras=("FRONT", "LEFT", "BOTTOM"),
        )
        fragments.append(pack_fragment(scene_fragment(annotate(recording))))
        for source, target in (final_paths(recording) | write_label_files(recording)).items():
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(folder / source, root / target)
    assemble(root, fragments)
    return root


def _cast(index: int) -> list[Mover]:
    return [replace(m, at=(m.at[0] + 1.5 * index, m.at[1] + 0.8 * index, m.at[2])) for m in street()]
