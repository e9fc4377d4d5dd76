"""The nuScenes folder as tar files with an index of offsets; equal files give equal bytes."""

import csv
import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator
from typing import Final

from uavsim.dataset.reader import DatasetReader
from uavsim.dataset.schema import LAYER, LIDARSEG, MAP, SAMPLE_DATA, VECTOR_MAPS
from uavsim.escape import csv_cell
from uavsim.files.names import DataFolder
from uavsim.files.results import ResultPath
from uavsim.files.whole import ANOTHER_OUT, whole_file, write_whole

INDEX: Final = "index.csv"
_SHARD_BYTES: Final = 1 << 30
_MOST_TABLE_BYTES: Final = 1 << 34


def files_of_dataset(reader: DatasetReader) -> Iterator[str]:
    """Yield the name of every file of a dataset once: tables, maps, then the files of each scene."""
    for table in sorted(path.name for path in reader.folder.iterdir() if path.suffix == ".json"):
        yield f"{reader.version}/{table}"
    files = DataFolder(reader.root)
    for row in reader.shared(MAP):
        if files.fault(row["filename"]) is None:
            yield row["filename"]
    for folder in VECTOR_MAPS:
        yield from (f"{folder}/{name}" for name in files.names(folder) if files.fault(f"{folder}/{name}") is None)
    tables = dict.fromkeys([SAMPLE_DATA.name, LAYER.name, LIDARSEG.name, *(table.name for table in reader.tables)])
    for scene in reader.scenes():
        names = (row["filename"] for table in tables for row in scene.rows.get(table, ()) if "filename" in row)
        yield from (name for name in dict.fromkeys(names) if files.fault(name) is None)


def write_shards(files: DataFolder, names: Iterable[str], folder: ResultPath) -> list[ResultPath]:
    """Write ``nuscenes-00000.tar``, ... and ``index.csv`` (file, shard, offset, size, sha256).

    Args:
        files: folder of the dataset.
        names: names of the files, in the order of the shards.
        folder: folder of the shards.

    Returns:
        Paths of the shards and the index.

    Raises:
        DatasetError: a file cannot be read.
        StorageError: a shard cannot be written.
    """
    paths: list[ResultPath] = []
    index = io.StringIO()
    table = csv.writer(index, lineterminator="\n")
    table.writerow(("file", "shard", "offset_bytes", "size_bytes", "sha256"))
    remaining = iter(names)
    name = next(remaining, None)
    while name is not None:
        paths.append(folder / f"nuscenes-{len(paths):05d}.tar")
        with whole_file(paths[-1], again=ANOTHER_OUT) as file:
            archive = tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT)  # noqa: SIM115 - ended below
            while name is not None and archive.offset <= _SHARD_BYTES:
                data = files.read(name, most_bytes=_MOST_TABLE_BYTES)
                head = tarfile.TarInfo(name)
                head.size, head.mode = len(data), 0o644
                archive.addfile(head, io.BytesIO(data))
                start = archive.offset - -(-len(data) // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
                sha256 = hashlib.sha256(data).hexdigest()
                table.writerow((csv_cell(name), paths[-1].name, start, len(data), sha256))
                name = next(remaining, None)
            archive.close()
    return [*paths, write_whole(folder / INDEX, index.getvalue().encode())]
