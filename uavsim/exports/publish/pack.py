"""Write the whole pack: Parquet, shards, Croissant, card, licence, and the hash of every file."""

import hashlib
import json
import os
import re
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final, NamedTuple

from uavsim.access import Dataset, Scene, simulator_of
from uavsim.dataset.dialects import dialect_of
from uavsim.dataset.reader import DatasetReader, open_dataset
from uavsim.errors import DatasetError, InputError
from uavsim.exports.publish.card import card
from uavsim.exports.publish.certificate import certificate_of
from uavsim.exports.publish.croissant import PackedFile, croissant
from uavsim.exports.publish.parquet import ParquetShards, rows_of
from uavsim.exports.publish.shards import files_of_dataset, write_shards
from uavsim.exports.publish.statements import Facts, statements
from uavsim.exports.publish.verify import CARD, SUMS, list_hash
from uavsim.files.names import DataFolder, check_part
from uavsim.files.parse import reading
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.registry import pick
from uavsim.store.local import LocalOutput


class Licence(NamedTuple):
    """A licence of datasets: its name, and the address that precedes ``legalcode``."""

    name: str
    url: str


LICENCES: Final = {
    "cc-by-4.0": Licence(
        "Creative Commons Attribution 4.0 International", "https://creativecommons.org/licenses/by/4.0/"
    ),
    "cc-by-sa-4.0": Licence(
        "Creative Commons Attribution-ShareAlike 4.0 International", "https://creativecommons.org/licenses/by-sa/4.0/"
    ),
    "cc-by-nc-4.0": Licence(
        "Creative Commons Attribution-NonCommercial 4.0 International",
        "https://creativecommons.org/licenses/by-nc/4.0/",
    ),
    "cc0-1.0": Licence("CC0 1.0 Universal", "https://creativecommons.org/publicdomain/zero/1.0/"),
}
"""Licences by their names in cards of the Hugging Face Hub."""
_HUB_SPLITS: Final = {"uav_train": "train", "uav_val": "validation", "uav_test": "test"}
_UNSPLIT: Final = "all"
_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_URL: Final = re.compile(r"https?://[^\s/]+\S*")


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """The options of a pack.

    Attributes:
        name: name of the dataset; default: the name in ``dataset.json``, else the folder's name.
        licence: key of ``LICENCES``.
        creator: person or organisation.
        url: future address of the dataset.
        date: ISO 8601; default: today.
        shards: also write the nuScenes folder as tar files.
    """

    name: str | None = None
    licence: str = "cc-by-4.0"
    creator: str = "uavsim"
    url: str = "https://example.org"
    date: str | None = None
    shards: bool = True


@dataclass(frozen=True, slots=True)
class Published:
    """The written pack; ``sums_sha256``, the hash of ``SHA256SUMS``, proves every file of it."""

    files: int
    size_bytes: int
    rows: int
    certified_scenes: int
    sums_sha256: str


def publish(data: Dataset, folder: Path, request: PublishRequest) -> Published:
    """Write a pack into a new folder.

    Raises:
        InputError: the folder is not empty, or an option is invalid.
        UnknownNameError: no such licence.
        DatasetError: the dataset is damaged, or has no images.
        StorageError: the folder cannot be written.
    """
    licence = pick(LICENCES, request.licence, what="licence")
    _check_options(request)
    name = check_part(request.name or data.info.get("dataset") or data.root.resolve().name, what="the dataset's name")
    out = ResultPath.open(folder)
    job = f"uavsim publish {str(data.root.resolve())!a} {data.version} {name} {request}"
    with out.unfinished(job), reading(data.root):
        return _publish(data, out, request, licence=licence, name=name)


def _publish(data: Dataset, out: ResultPath, request: PublishRequest, *, licence: Licence, name: str) -> Published:
    certificate = certificate_of(LocalOutput(data.root.absolute()))
    facts, parquet, rows = _write_parquet(data, out / "data", name=name)
    if not rows:
        raise DatasetError(f"{data.root}: no image of its samples exists; nothing can be published")
    reader = _raw_reader(data)
    tars = write_shards(DataFolder(data.root), files_of_dataset(reader), out / "shards") if request.shards else []
    splits = {split: [packed(path) for path in paths] for split, paths in parquet.items()}
    others = [packed(path) for path in tars]
    fields = statements(facts, certificate)
    metadata = croissant(
        name=name,
        statements=fields,
        licence_url=licence.url,
        creator=request.creator,
        date=request.date or datetime.now(UTC).date().isoformat(),
        url=request.url,
        splits=splits,
        others=others,
    )
    small = [
        write_whole(out / "croissant.json", (json.dumps(metadata, indent=1) + "\n").encode()),
        write_whole(out / "LICENSE", _notice(licence).encode()),
    ]
    files = [*(f for found in splits.values() for f in found), *others, *map(packed, small)]
    readme = card(
        facts,
        fields,
        licence=request.licence,
        splits=splits,
        certificate=certificate,
        shards=request.shards,
        contents=list_hash(_lines(files)),
    )
    files.append(packed(write_whole(out / CARD, readme.encode())))
    sums = "".join(_lines(files)).encode()
    write_whole(out / SUMS, sums)
    return Published(
        files=len(files),
        size_bytes=sum(file.size_bytes for file in files),
        rows=rows,
        certified_scenes=len(certificate["scenes"]) if certificate else 0,
        sums_sha256=hashlib.sha256(sums).hexdigest(),
    )


def _notice(licence: Licence) -> str:
    return f"This dataset is licensed under {licence.name}.\nThe text of the licence: {licence.url}legalcode\n"


def _lines(files: list[PackedFile]) -> list[str]:
    """Return the lines of ``SHA256SUMS``."""
    return [f"{file.sha256}  {file.name}\n" for file in sorted(files, key=lambda file: file.name)]


def packed(path: ResultPath) -> PackedFile:
    """Return name, size and hash of a file of the pack.

    Raises:
        StorageError: the file cannot be read.
    """
    with path.open_to_read() as file:
        return PackedFile(path.key, os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _raw_reader(data: Dataset) -> DatasetReader:
    reader = open_dataset(data.root, data.version, required=())  # a dataset that lacks a table is published without it
    return DatasetReader(data.root, data.version, tables=dialect_of(reader).tables, required=())


def _check_options(request: PublishRequest) -> None:
    if not request.creator.strip():
        raise InputError("--creator is empty; name a person or an organisation")
    if not _URL.fullmatch(request.url):
        raise InputError(f"--url {request.url!r} is not a web address; write it as https://...")
    try:
        date.fromisoformat(request.date or "2026-01-01")
    except ValueError as error:
        raise InputError(f"--date {request.date!r} is not a date; write it as 2026-11-22") from error


def _write_parquet(data: Dataset, folder: ResultPath, *, name: str) -> tuple[Facts, dict[str, list[ResultPath]], int]:
    split_of = {scene: split for split, scenes in data.splits.items() for scene in scenes}
    facts = Facts(name, _plain(data.version, what="version"))
    shards: dict[str, ParquetShards] = {}
    with ExitStack() as stack:
        for scene in data:
            split = split_of.get(scene.name, _UNSPLIT)
            hub = _plain(_HUB_SPLITS.get(split, split), what="split")
            if hub not in shards:
                shards[hub] = stack.enter_context(ParquetShards(folder, hub))
            for sample in scene:
                for row in rows_of(sample, log=scene.log):
                    shards[hub].add(row)
            _count(facts, scene)
    rows = sum(shard.row_count for shard in shards.values())
    facts.images = rows
    return facts, {split: shard.paths for split, shard in shards.items() if shard.paths}, rows


def _plain(name: str, *, what: str) -> str:
    """Return a name that is safe in the card's code and the Hub's configuration.

    Raises:
        DatasetError: the name holds another character than letters, digits, _, - and dot.
    """
    if not _PLAIN.fullmatch(name):
        raise DatasetError(
            f"the {what} {name[:100]!a} cannot be published: the Hub allows letters, digits, _, - and . only"
        )
    return name


def _count(facts: Facts, scene: Scene) -> None:
    facts.scenes += 1
    facts.samples += len(scene)
    facts.vehicles_asked += int(scene.log.get("uav_vehicles_asked", 0))
    facts.vehicles_spawned += int(scene.log.get("uav_vehicles_spawned", 0))
    facts.towns[scene.town] += 1
    facts.weather[str(scene.log.get("uav_weather", ""))] += 1
    facts.simulators[simulator_of(scene.log)] += 1
    facts.topologies[str(scene.log.get("uav_topology", ""))] += 1
    for key, value in scene.drawn.items():
        facts.drawn.setdefault(key, []).append(value)
    for sample in scene:
        facts.masks += sum("instance" in image.layers for image in sample.images)
        facts.degraded += sum("degraded" in image.layers for image in sample.images)
        facts.boxes += len(sample.boxes)
        facts.classes.update(sample.boxes.categories)
