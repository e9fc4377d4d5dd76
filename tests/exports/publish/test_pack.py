import csv
import errno
import itertools
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

import uavsim
from tests.dataset_factory import add_what_no_dialect_knows
from tests.other_python import python_of
from uavsim.errors import DatasetError, InputError, StorageError, UnknownNameError
from uavsim.exports.publish import PublishRequest, publish, verify
from uavsim.exports.publish.certificate import FORMAT, content_sha256, json_block, read_certificate
from uavsim.exports.publish.parquet import ParquetShards, rows_of
from uavsim.files.results import ResultPath
from uavsim.images import codec

EIGHT = (
    "rai:dataLimitations", "rai:dataBiases", "rai:personalSensitiveInformation", "rai:dataUseCases", "rai:dataSocialImpact",
    "rai:hasSyntheticData", "prov:wasDerivedFrom", "prov:wasGeneratedBy",
)  # fmt: skip
"""Required by NeurIPS."""


@pytest.fixture(scope="module")
def pack(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("published") / "pack"
    done = publish(uavsim.open(strict), out, PublishRequest(name="tiny 😀", creator="A Lab", date="2026-01-02"))
    assert (done.rows, done.certified_scenes) == (40, 0)
    return out


def read(script: str, *arguments: object, home: Path) -> dict:
    """Run a script with the outside readers; its last line is JSON."""
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    environment |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    command = [str(python_of("readers")), "-W", "ignore", "-c", script, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.release
def test_datasets_library_loads_the_pack_without_a_script(strict: Path, pack: Path, tmp_path: Path) -> None:
    script = (
        "import sys, json, numpy\n"
        "from datasets import load_dataset\n"
        "data = load_dataset(sys.argv[1])\n"
        "row = data['validation'][3]\n"
        "streamed = load_dataset(sys.argv[1], split='train', streaming=True)\n"
        "first = next(iter(streamed))\n"
        "same = lambda a, b: a['objects'] == b['objects'] and a['image'].tobytes() == b['image'].tobytes()\n"
        "print(json.dumps({'splits': {k: len(v) for k, v in data.items()}, 'size': row['image'].size, 'scene': row['scene'],\n"
        "  'sum': int(numpy.asarray(row['image']).astype(int).sum()), 'objects': row['objects'], 'channel': row['channel'],\n"
        "  'mask': int(numpy.asarray(row['mask'])[..., 1].max()), 'streams': same(data['train'][0], first),\n"
        "  'typed': str(streamed.features['mask'])}))\n"
    )
    loaded = read(script, pack, home=tmp_path)
    assert loaded["splits"] == {"train": 20, "validation": 20}
    assert (loaded["streams"], loaded["typed"]) == (True, "Image(mode=None, decode=True)")
    sample = uavsim.open(strict).scene("scene_01").samples[0]
    image = sample.images[3]
    assert (loaded["scene"], loaded["channel"], loaded["size"]) == ("scene_01", image.channel, [160, 90])
    assert loaded["sum"] == int(image.pixels().astype(int).sum())
    assert loaded["mask"] == int(image.mask()[0].max())
    for found in loaded["objects"]:
        n = sample.boxes.instance_tokens.index(found["instance"])
        assert found["center_m"] == sample.boxes.map_SE3_box.translation_m[n].tolist()
        assert found["visible_px"] > 0


def test_row_groups_fit_the_hubs_viewer(strict: Path, tmp_path: Path) -> None:
    sample = uavsim.open(strict).scene("scene_00").samples[0]
    with ParquetShards(ResultPath.open(tmp_path), "train") as shards:
        for row in itertools.islice(rows_of(sample, log={}), 4):
            shards.add(row | {"image": {"bytes": bytes(70 << 20), "path": "large.png"}})
    found = pq.ParquetFile(tmp_path / "train-00000.parquet").metadata
    assert [found.row_group(n).num_rows for n in range(found.num_row_groups)] == [2, 2]


@pytest.mark.release
def test_mlcroissant_finds_no_error_and_streams_every_record_set(pack: Path, tmp_path: Path) -> None:
    script = (
        "import sys, json, mlcroissant\n"
        "data = mlcroissant.Dataset(sys.argv[1] + '/croissant.json')\n"
        "issues = data.metadata.ctx.issues\n"
        "counts = {r.id: sum(1 for _ in data.records(r.id)) for r in data.metadata.record_sets}\n"
        "print(json.dumps({'errors': sorted(issues.errors), 'counts': counts, 'v1.1': data.metadata.ctx.is_v1_1()}))\n"
    )
    loaded = read(script, pack, home=tmp_path)
    assert loaded == {"errors": [], "counts": {"train": 20, "validation": 20}, "v1.1": True}


def test_card_header_is_yaml_with_the_name(pack: Path) -> None:
    head = (pack / "README.md").read_text("utf-8").split("---")[1]
    assert yaml.safe_load(head)["pretty_name"] == "tiny 😀"


def test_the_eight_responsible_ai_fields_are_filled(pack: Path) -> None:
    metadata = json.loads((pack / "croissant.json").read_text())
    assert [field for field in EIGHT if not metadata.get(field)] == []
    assert "vehicle.car" in metadata["rai:dataBiases"]
    assert {f["@id"]: len(f.get("sha256", "")) for f in metadata["distribution"] if f["@type"] == "cr:FileObject"} == {
        name: 64
        for name in (
            "data/train-00000.parquet",
            "data/validation-00000.parquet",
            "shards/nuscenes-00000.tar",
            "shards/index.csv",
        )
    }


def test_shards_unpack_to_the_dataset_and_index_holds_offsets(strict: Path, pack: Path, tmp_path: Path) -> None:
    subprocess.run(["tar", "-xf", pack / "shards/nuscenes-00000.tar", "-C", tmp_path], check=True)
    unpacked = {str(p.relative_to(tmp_path)): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert unpacked == {name: (strict / name).read_bytes() for name in unpacked}
    assert len(list(uavsim.open(tmp_path).samples())) == 4
    shard = (pack / "shards/nuscenes-00000.tar").read_bytes()
    with (pack / "shards/index.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["file"] for row in rows} == set(unpacked)
    for row in rows:
        begin = int(row["offset_bytes"])
        assert shard[begin : begin + int(row["size_bytes"])] == unpacked[row["file"]]


def test_shards_hold_streams_and_vector_maps(strict: Path, tmp_path: Path) -> None:
    root = tmp_path / "strict"
    shutil.copytree(strict, root)
    names = add_what_no_dialect_knows(root)
    publish(uavsim.open(root), tmp_path / "pack", PublishRequest())
    with (tmp_path / "pack/shards/index.csv").open() as file:
        assert names <= {row["file"] for row in csv.DictReader(file)}


def test_the_same_dataset_gives_the_same_pack(strict: Path, pack: Path, tmp_path: Path) -> None:
    publish(uavsim.open(strict), tmp_path / "again", PublishRequest(name="tiny 😀", creator="A Lab", date="2026-01-02"))
    assert (tmp_path / "again/SHA256SUMS").read_text() == (pack / "SHA256SUMS").read_text()


def test_verify_names_changed_and_missing_files(strict: Path, tmp_path: Path) -> None:
    out = tmp_path / "pack"
    publish(uavsim.open(strict), out, PublishRequest(shards=False))
    assert verify(out)[0] == 5
    subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=out, check=True)
    with (out / "data/train-00000.parquet").open("r+b") as file:
        file.seek(1000)
        file.write(b"\0\1\2")
    (out / "LICENSE").unlink()
    with pytest.raises(DatasetError, match=r"2 of 5 .*LICENSE is missing.*train-00000\.parquet has changed"):
        verify(out)
    with pytest.raises(InputError, match="no SHA256SUMS"):
        verify(tmp_path)


def test_full_folder_unknown_licence_and_missing_certificate_are_refused(
    strict: Path, pack: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="is not empty"):
        publish(uavsim.open(strict), pack, PublishRequest())
    with pytest.raises(UnknownNameError, match=r"cc-by-4\.0"):
        publish(uavsim.open(strict), tmp_path / "new", PublishRequest(licence="cc-by-4"))
    with pytest.raises(InputError, match="no certificate"):
        read_certificate(pack)


def test_a_certificate_in_a_card_comes_back(tmp_path: Path) -> None:
    hashes = {f"{kind}_sha256": "ab" * 32 for kind in ("plan", "files", "rows")}
    scenes = {f"scene_{n:02d}": {"number": n, "town": "Town03", "files": n, **hashes} for n in range(3)}
    certificate = {"format": FORMAT, "dataset": "a", "seed": 7, "fingerprint": "0" * 64, "request": {"samples": 2},
                   "versions": {"uavsim": "1"}, "scenes": scenes}  # fmt: skip
    (tmp_path / "README.md").write_text(f"# A\n\n```json\n{{}}\n```\n\n{json_block(certificate)}\nend\n")
    assert read_certificate(tmp_path).model_dump(exclude_unset=True) == certificate


def test_certificates_hash_decoded_pixels_of_images_and_bytes_of_other_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rgb, depth_m = rng.integers(0, 256, (9, 16, 3), dtype=np.uint8), rng.uniform(1.0, 600.0, (9, 16))

    def hashed(data: bytes, suffix: str = ".png") -> str:
        path = tmp_path / f"file{suffix}"
        path.write_bytes(data)
        return content_sha256(path)

    fast, small = (codec.encode_png(rgb, level=level) for level in (1, 9))
    assert fast != small
    assert hashed(fast) == hashed(small)
    assert hashed(fast, ".bin") != hashed(small, ".bin")
    rgb[4, 7, 1] ^= 1
    assert hashed(fast) != hashed(codec.encode_png(rgb))
    deeper_m = depth_m + 0.01 * (np.arange(16) == 3)  # by the least step, a centimetre
    assert hashed(codec.encode_depth(depth_m)) != hashed(codec.encode_depth(deeper_m))


@pytest.mark.parametrize("broken", ["parquet", "shards"])
def test_full_disk_error_tells_to_choose_another_out(
    strict: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """The folder of a pack must be empty, so the same folder cannot be used again."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if broken == "parquet":
        monkeypatch.setattr("uavsim.exports.publish.parquet.pq.ParquetWriter", full)
    else:
        close = tarfile.TarFile.close
        monkeypatch.setattr(tarfile.TarFile, "addfile", full)

        def full_too(archive: tarfile.TarFile) -> None:
            close(archive)
            full()

        monkeypatch.setattr(tarfile.TarFile, "close", full_too)
    out = tmp_path / "pack"
    reported = "the disk is full; free space and run the same command again with another --out"
    with pytest.raises(StorageError, match=f"cannot write .*{re.escape(reported)}$"):
        publish(uavsim.open(strict), out, PublishRequest())
