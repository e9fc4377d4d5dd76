"""Files that ingredients make once per town from its roads, such as maps, with a digest of their inputs."""

import hashlib
import json
import threading
from pathlib import Path
from typing import Final

from uavsim.capture.recording_reader import BUILDINGS_NAME, ROADS_NAME
from uavsim.errors import DatasetError, StorageError
from uavsim.files.parse import parse_json
from uavsim.records.codec import pack_value
from uavsim.records.ingredients import ingredients_of
from uavsim.records.recording import Recording
from uavsim.records.road_map import Building, TownSource
from uavsim.store.layout import check_name
from uavsim.store.output import Output

_ONE: Final = threading.Lock()


def keep_town_files(output: Output, recording: Recording) -> None:
    """Make the files of a scene's town unless they exist.

    Raises:
        DatasetError: earlier scenes have a town of this name with other roads.
        StorageError: a foreign file is in the way; it stays unchanged.
    """
    town = check_name(recording.plan.town.name, what="town")
    for used in ingredients_of(recording.plan.ingredients):
        if used.ingredient.town_files is None:
            continue
        roads = (recording.folder / ROADS_NAME).read_bytes()
        of_what = hashlib.sha256(roads + repr(pack_value(used.record)).encode()).hexdigest()
        key = f".uavsim/maps/{town}~{used.name}.json"
        with _ONE:  # with several simulators, scenes of one town may end at the same time
            data = output.read(key)
            if data is None:
                _make(output, used.ingredient.town_files.load()(_source(recording.folder, roads), town, used.record))
                output.create(key, json.dumps({"of_what": of_what}).encode("ascii"))
        if data is not None and parse_json(data)["of_what"] != of_what:
            raise DatasetError(
                f"{recording.plan.scene_name}: the roads of {town} differ from those of earlier scenes, of which its "
                "maps were made; fly all scenes of a dataset with the same towns"
            )


def _source(folder: Path, roads: bytes) -> TownSource:
    listed = folder / BUILDINGS_NAME
    rows = parse_json(listed.read_bytes()) if listed.exists() else ()
    return TownSource(roads, [Building(**row) for row in rows])


def _make(output: Output, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        if not output.create(path, data) and output.read(path) != data:
            raise StorageError(
                f"{output.address}/{path} exists with other content; move it away and run the same command again"
            )
