"""The documented import into FiftyOne; skipped without ``scripts/setup --fiftyone``."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.other_python import ROOT, printed_by, python_of
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.coco import export_coco

READ = f"""
import json, sys
from pathlib import Path
sys.path.insert(0, {str(ROOT / "docs")!r})
import fiftyone_import
dataset = fiftyone_import.load(Path(sys.argv[1]), Path(sys.argv[2]), "uavsim")
groups = list(dataset.iter_groups())
found = [(name, d) for group in groups for name, sample in group.items() for d in sample.ground_truth.detections]
print(json.dumps({{
    "cameras": [len(group) for group in groups],
    "pixels": sum(int(d.mask.sum()) for _, d in found),
    "tracks": len({{d.instance.id for _, d in found}}),
    "numbers": len({{d.index for _, d in found}}),
    "labels": sorted({{d.label for _, d in found}}),
    "visibility": sorted({{d.visibility for _, d in found}}),
    "boxes": sorted([name, *(round(v, 6) for v in d.bounding_box)] for name, d in found),
}}))
"""


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run the environment's MongoDB for this test."""
    (program,) = python_of("fiftyone").parents[1].glob("lib/python3*/site-packages/fiftyone/db/bin/mongod")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "db").mkdir()
    command = [
        str(program),
        "--dbpath",
        str(tmp_path / "db"),
        "--bind_ip",
        "127.0.0.1",
        "--port",
        str(port),
        "--nounixsocket",
    ]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for name, value in {
        "FIFTYONE_DATABASE_URI": f"mongodb://127.0.0.1:{port}",
        "FIFTYONE_DATABASE_VALIDATION": "false",
        "FIFTYONE_DO_NOT_TRACK": "true",
        "HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    ended_by = time.monotonic() + 60
    while time.monotonic() < ended_by:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield
    server.terminate()
    server.wait(60)


def test_fiftyone_opens_groups_masks_and_tracks(strict: Path, tmp_path: Path, database: None) -> None:
    (path,) = export_coco(ExportRequest(strict, tmp_path / "coco"))
    coco = json.loads(path.read_text())
    images = {image["id"]: image for image in coco["images"]}
    rows = [row for row in coco["annotations"] if not row["iscrowd"]]

    found = json.loads(printed_by("fiftyone", READ, strict, path).splitlines()[-1])

    samples = {image["sample_token"] for image in coco["images"]}
    assert sum(found["cameras"]) == len(images)
    assert len(found["cameras"]) == len(samples)
    assert found["pixels"] == sum(row["area"] for row in rows)
    assert found["tracks"] == len({(images[row["image_id"]]["scene"], row["instance_id"]) for row in rows})
    assert found["numbers"] == len({row["instance_id"] for row in rows})
    assert found["visibility"] == sorted({row["visibility"] for row in rows})
    boxes = []
    for row in rows:
        image, (x, y, w, h) = images[row["image_id"]], row["bbox"]
        share = (x / image["width"], y / image["height"], w / image["width"], h / image["height"])
        boxes.append([image["channel"], *(round(value, 6) for value in share)])
    assert found["boxes"] == sorted(boxes)
