"""Count the road users' pixels that no label knows, in a dataset's files alone, beside what `uavsim validate` counts.

    scripts/trial unlabelled DATASET [DATASET ...]

Nothing of the writer's or the validator's code is used: tables are read as JSON, masks and semantic images as PNG by Pillow.
A pixel of a keyframe's mask shows a road user where its tag (R) is pedestrian, rider, car, truck, bus, motorcycle or bicycle.
It is known where its number (G + 256 B) is the `uav_instance_id` of an instance that has a box in the sample, or where it
lies inside a row of `ignore_region`. Where a camera has semantic images, what they show of road users counts as well.
Reported is also how much of what has a label lies in regions: one over everything would hide all. Prints a JSON line for each
dataset; ends with 4 where a pixel is left over, or where the validator counts one.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image

ROAD_USERS: Final = (12, 13, 14, 15, 16, 18, 19)  # of CARLA's 28 tags; trains are not labelled
FINDING: Final = "pixels.unlabelled"


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table, none where there is no such file."""
    path = folder / f"{name}.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return rows


def tags_and_ids(path: Path) -> tuple[Any, Any]:
    """Return (H, W) tags and instance ids of a mask."""
    red, green, blue = np.moveaxis(np.asarray(Image.open(path).convert("RGB")).astype(np.int64), 2, 0)
    return red, green + 256 * blue


def count(root: Path, folder: Path) -> dict[str, int]:
    """Return what the files of one version show."""
    number = {row["token"]: row["uav_instance_id"] for row in table(folder, "instance")}
    labelled: dict[str, set[int]] = defaultdict(set)
    for row in table(folder, "sample_annotation"):
        labelled[row["sample_token"]].add(number[row["instance_token"]])
    regions: dict[str, list[list[int]]] = defaultdict(list)
    for row in table(folder, "ignore_region"):
        regions[row["sample_data_token"]].append(row["box"])
    semantic = {
        row["sample_data_token"]: row["filename"] for row in table(folder, "layer") if row["kind"] == "semantic"
    }
    found: Counter[str] = Counter(regions=sum(map(len, regions.values())), outside_px=0, images_outside=0)
    for row in table(folder, "sample_data"):
        mask = root / row["filename"].replace("samples", "masks", 1).replace(".jpg", ".png")
        if not row["is_key_frame"] or mask.suffix != ".png" or not mask.is_file():
            continue
        tags, ids = tags_and_ids(mask)
        shows = np.isin(tags, ROAD_USERS)
        if row["token"] in semantic:
            shows |= np.isin(np.asarray(Image.open(root / semantic[row["token"]])), ROAD_USERS)
        known = np.isin(ids, sorted(labelled[row["sample_token"]] - {0}))
        covered = np.zeros(tags.shape, bool)
        for left, top, right, bottom in regions[row["token"]]:
            covered[top:bottom, left:right] = True
        of_image = {
            "images": 1,
            "semantic_images": int(row["token"] in semantic),
            "road_user_px": int(shows.sum()),
            "in_regions_px": int((shows & ~known & covered).sum()),
            "outside_px": int((shows & ~known & ~covered).sum()),
            "labelled_px": int(known.sum()),
            "labelled_in_regions_px": int((known & covered).sum()),
        }
        found.update(of_image | {"images_outside": int(of_image["outside_px"] > 0)})
    return dict(found)


def validators_count(root: Path, version: str) -> int:
    """Return the pixels that `uavsim validate` says are unlabelled, with regions taken out."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "uavsim", "validate", str(root), "--version", version, "--json", str(report)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        said = json.loads(report.read_text("utf-8"))["versions"][0]
    if said["skipped"].get(FINDING):
        sys.exit(f"{root}: the validator did not count: {said['skipped'][FINDING]}")
    return sum(found["numbers"]["pixels"] for found in said["findings"] if found["code"] == FINDING)


def main() -> int:
    """Count each dataset, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path, nargs="+", metavar="DATASET")
    good = True
    for root in parser.parse_args().datasets:
        folders = sorted(path.parent for path in root.glob("v1.0-*/sample_data.json"))
        if not folders:
            sys.exit(f"{root}: no folder v1.0-* with sample_data.json")
        for folder in folders:
            found = count(root, folder) | {"validator_px": validators_count(root, folder.name)}
            good &= found["images"] > 0 and found["outside_px"] == found["validator_px"] == 0
            print(json.dumps({"dataset": root.name, "version": folder.name} | found), flush=True)
    return 0 if good else 4
