"""Disk cache of built towns, so that only a server's first start builds them."""

import hashlib
import io
import json
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from headless_simulator.scene import Ground, Mesh, SignalHead, StaticObject, Town

_MAGIC: Final = b"headless-town-1\n"
_MESH: Final = ("vertices_m", "triangles", "colour_rgb", "tag", "material", "object_id")


def folder() -> Path:
    """Return the cache folder: ``headless-simulator/towns`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "headless-simulator" / "towns"


@cache
def _code_digest() -> str:
    """Return a digest of the town generator's code, so that a changed generator does not reuse old towns."""
    here = Path(__file__).parent
    files = sorted([*here.rglob("*.py"), *(here.parent / "models").rglob("*.py"), here.parent / "scene.py"])
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(here.parent).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def key(name: str, content: bytes, seed: int) -> str:
    """Return a town's file name: by generator, town, content and seed."""
    digest = hashlib.sha256(f"{_code_digest()}\0{name}\0{seed}\0{np.__version__}\0".encode() + content)
    return f"{''.join(letter if letter.isalnum() else '-' for letter in name)[:40]}-{digest.hexdigest()[:24]}.town"


def encode(town: Town) -> bytes:
    """Encode a town: a header, JSON for small values, raw arrays, and a digest at the end."""
    arrays = {f"mesh.{name}": getattr(town.mesh, name) for name in _MESH}
    arrays |= {"ground": town.ground.height_m, "under": town.ground.under_m}
    arrays |= {"spawn_points": town.spawn_points, "speed_limits": town.speed_limits}
    arrays |= {f"stop_lines.{number}": head.stop_lines for number, head in enumerate(town.signals)}
    arrays |= {f"lamps.{number}": head.lamp_triangles for number, head in enumerate(town.signals)}
    arrays |= {f"crosswalk.{number}": outline for number, outline in enumerate(town.crosswalks)}
    areas = sorted({area for _, area in town.walk_polygons})
    sizes = np.array([len(points) for points, _ in town.walk_polygons], dtype=np.int32)
    corners = np.array([corner for points, _ in town.walk_polygons for corner in points], dtype=np.float64)
    arrays |= {"walk.sizes": sizes, "walk.corners": corners.reshape(-1, 3)}
    arrays["walk.areas"] = np.array([areas.index(area) for _, area in town.walk_polygons], dtype=np.int32)
    arrays["objects.numbers"] = np.array([(o.object_id, o.tag) for o in town.objects], dtype=np.int64).reshape(-1, 2)
    rows = [(*o.pose, *o.box_centre_m, *o.box_half_m) for o in town.objects]
    arrays["objects.places"] = np.array(rows, dtype=np.float64).reshape(-1, 12)
    small: dict[str, Any] = {
        "name": town.name,
        "opendrive": town.opendrive,
        "ground": [town.ground.origin_m, town.ground.cell_m],
        "signals": [[head.pose, head.opendrive_id, head.group, head.stage, head.trigger] for head in town.signals],
        "areas": areas,
        "objects": [[o.name, o.blueprint] for o in town.objects],
        "crosswalks": len(town.crosswalks),
        "traffic_signs": town.traffic_signs,
        "georeference": town.georeference,
        "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
    }
    body = io.BytesIO()
    head_bytes = json.dumps(small).encode()
    body.write(_MAGIC + len(head_bytes).to_bytes(8, "little") + head_bytes)
    for array in arrays.values():
        body.write(b"\0" * (-body.tell() % 8))
        body.write(np.ascontiguousarray(array).tobytes())
    data = body.getvalue()
    return data + hashlib.blake2b(data, digest_size=16).digest()


def decode(data: bytes) -> Town:
    """Decode a town.

    Raises:
        ValueError: the bytes are not a complete town.
    """
    body = memoryview(bytearray(data))[:-16]  # writable like a new town's arrays: part of numba's types
    if not data.startswith(_MAGIC) or hashlib.blake2b(body, digest_size=16).digest() != data[-16:]:
        raise ValueError("the town file is incomplete")
    start = len(_MAGIC) + 8
    end = start + int.from_bytes(body[start - 8 : start], "little")
    small = json.loads(bytes(body[start:end]))
    arrays: dict[str, Any] = {}
    for name, kind, shape in small["arrays"]:
        end += -end % 8
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(body, dtype=np.dtype(kind), count=count, offset=end).reshape(shape)
        end += arrays[name].nbytes
    return _town(small, arrays)


def _town(small: dict[str, Any], arrays: dict[str, Any]) -> Town:
    origin, cell = small["ground"]
    ends = np.cumsum(arrays["walk.sizes"])
    corners = [tuple(row) for row in arrays["walk.corners"].tolist()]
    starts = [0, *ends[:-1].tolist()] if len(ends) else []
    polygons = tuple(
        (tuple(corners[first:last]), small["areas"][area])
        for first, last, area in zip(starts, ends.tolist(), arrays["walk.areas"].tolist(), strict=True)
    )
    items = zip(small["objects"], arrays["objects.numbers"].tolist(), arrays["objects.places"].tolist(), strict=True)
    return Town(
        name=small["name"],
        opendrive=small["opendrive"],
        spawn_points=arrays["spawn_points"],
        mesh=Mesh(**{name: arrays[f"mesh.{name}"] for name in _MESH}),
        ground=Ground((float(origin[0]), float(origin[1])), float(cell), arrays["ground"], arrays["under"]),
        signals=tuple(
            SignalHead(
                tuple(pose), number, group, stage, arrays[f"stop_lines.{k}"], tuple(trigger), arrays[f"lamps.{k}"]
            )
            for k, (pose, number, group, stage, trigger) in enumerate(small["signals"])
        ),
        objects=tuple(
            StaticObject(
                object_id=number,
                name=name,
                tag=tag,
                pose=(row[0], row[1], row[2], row[3], row[4], row[5]),
                box_centre_m=(row[6], row[7], row[8]),
                box_half_m=(row[9], row[10], row[11]),
                blueprint=blueprint,
            )
            for (name, blueprint), (number, tag), row in items
        ),
        walk_polygons=polygons,
        crosswalks=tuple(arrays[f"crosswalk.{k}"] for k in range(small["crosswalks"])),
        speed_limits=arrays["speed_limits"],
        traffic_signs=tuple((blueprint, tuple(pose), number) for blueprint, pose, number in small["traffic_signs"]),
        georeference=(small["georeference"][0], small["georeference"][1]),
    )


def load(name: str) -> Town | None:
    """Return the cached town of a key; None without a valid file."""
    try:
        return decode((folder() / name).read_bytes())
    except (OSError, ValueError, KeyError):
        return None


def save(name: str, town: Town) -> None:
    """Store a town; an unwritable folder only slows the next start."""
    cache_folder = folder()
    try:
        cache_folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=cache_folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(encode(town))
            Path(temporary).replace(cache_folder / name)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
    except OSError:
        return


def keep_newest(name: str, count: int) -> None:
    """Remove all but the newest cached towns of a name, because clients may send any number of texts."""
    try:
        found = sorted(folder().glob(f"{name}-*.town"), key=lambda path: path.stat().st_mtime_ns)
        for path in found[:-count]:
            path.unlink(missing_ok=True)
    except OSError:
        return
