"""The nuScenes folder as tar files, with an index that says where each file lies; the same files give the same bytes."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from uavsim.dataset.reader import DatasetReader
from uavsim.dataset.schema import LAYER, LIDARSEG, MAP, SAMPLE_DATA
from uavsim.files.names import DataFolder
from uavsim.files.parse import read_regular
from uavsim.files.whole import AGAIN, storage_errors, write_whole

__all__ = ["INDEX", "files_of_dataset", "write_shards"]

INDEX: Final = "index.csv"
_SHARD_BYTES: Final = 1 << 30


def files_of_dataset(reader: DatasetReader) -> Iterator[str]:
    """Yield the name of every file of a data set: tables, maps, then the files of each scene; each once."""
    for table in sorted(path.name for path in reader.folder.iterdir() if path.suffix == ".json"):
        yield f"{reader.version}/{table}"
    files = DataFolder(reader.root)
    for row in reader.shared(MAP):
        if files.fault(row["filename"]) is None:
            yield row["filename"]
    tables = [SAMPLE_DATA.name, LAYER.name, LIDARSEG.name]
    tables += [table.name for table in reader.tables if table.name.startswith("strict_")]
    for scene in reader.scenes():
        names = (row["filename"] for table in tables for row in scene.rows.get(table, ()) if "filename" in row)
        yield from (name for name in dict.fromkeys(names) if files.fault(name) is None)


def write_shards(root: Path, names: Iterable[str], folder: Path) -> list[Path]:
    """Write ``nuscenes-00000.tar``, ... and ``index.csv`` (file, shard, offset, size, sha256); returns all paths.

    Raises:
        DatasetError: a file cannot be read.
        StorageError: the target cannot be written.
    """
    paths: list[Path] = []
    lines = ["file,shard,offset_bytes,size_bytes,sha256"]
    archive: tarfile.TarFile | None = None
    with storage_errors(f"write {folder}", again=f"remove {folder.parent} and {AGAIN}"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in names:
                if archive is None or archive.offset > _SHARD_BYTES:
                    if archive is not None:
                        archive.close()
                    paths.append(folder / f"nuscenes-{len(paths):05d}.tar")
                    archive = tarfile.open(paths[-1], "w", format=tarfile.GNU_FORMAT)  # noqa: SIM115 - closed below
                data = read_regular(root / name)
                head = tarfile.TarInfo(name)
                head.size, head.mode = len(data), 0o644
                archive.addfile(head, io.BytesIO(data))
                begins = archive.offset - -(-len(data) // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
                sha256 = hashlib.sha256(data).hexdigest()
                lines.append(f"{_quoted(name)},{paths[-1].name},{begins},{len(data)},{sha256}")
            if archive is not None:
                archive.close()
        except BaseException:
            if archive is not None:
                with suppress(OSError):  # it fails again where the disk is full; what went wrong first is told
                    archive.close()
            raise
    return [*paths, write_whole(folder / INDEX, ("\n".join(lines) + "\n").encode())]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"') else name
