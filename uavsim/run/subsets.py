"""Select, merge, split and compare finished datasets.

Works scene by scene on committed data without decoding: files are hard-linked, table rows are copied as text, tokens stay.
A repeated command continues an interrupted one.
"""

import filecmp
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.config.dataset import RESERVED_SPLITS
from uavsim.dataset.fragment import PackedFragment, open_fragment, with_splits
from uavsim.errors import DatasetError, InputError
from uavsim.files.bring import bring_file
from uavsim.files.names import DataFolder
from uavsim.files.parse import parse_json, read_regular
from uavsim.files.result_folder import check_result_beside
from uavsim.run.finish import assemble_tables, committed_scenes
from uavsim.store.commit import commit_scene, generation_of, read_fragment, sweep_orphans
from uavsim.store.identity import (
    IDENTITY,
    claim_output,
    keep_asked,
    keep_configuration,
    read_configuration,
    read_identity,
)
from uavsim.store.layout import check_name
from uavsim.store.ledger import LedgerEntry, read_entry
from uavsim.store.local import LocalOutput
from uavsim.store.manifest import read_manifest
from uavsim.typing import JsonDict

__all__ = ["SceneFilter", "choose", "differences", "merge", "scenes_of", "select", "split"]

_MOST_LABEL_BYTES: Final = 2 << 30
_MAPS: Final = (".uavsim/maps", "maps")


@dataclass(frozen=True, slots=True)
class StoredScene:
    """A committed scene of a finished dataset."""

    output: LocalOutput
    entry: LedgerEntry

    @property
    def name(self) -> str:
        """Name of the scene."""
        return self.entry.scene

    def rows(self) -> PackedFragment:
        """Read the scene's table rows.

        Raises:
            StorageError: the rows are missing.
            DatasetError: the rows are damaged.
        """
        return open_fragment(read_fragment(self.output, self.entry))

    def files(self) -> list[str]:
        """Return the keys of the scene's files without table rows and recording.

        Raises:
            DatasetError: the scene has no manifest.
        """
        marks = read_manifest(self.output, generation_of(self.entry))
        if marks is None:
            raise DatasetError(f"{self.output.address}: the file list of scene {self.name} is missing")
        return sorted(key for key in marks if not key.startswith(".uavsim/"))


@dataclass(frozen=True, slots=True)
class SceneFilter:
    """Conditions on a scene; all that are not None must hold.

    Attributes:
        numbers: scene numbers.
        towns: names of towns.
        weathers: names of weathers.
        splits: names of splits.
        agents: the scene has agents of all of these kinds (drone, vehicle, roadside).
        events: names of scenes with an event; None for any.
        classes: the scene shows an object of one of these classes ...
        least_visibility: ... of at least this visibility level (1 to 4) ...
        within_m: ... at most this far from a drone, horizontally, at a keyframe.
    """

    numbers: tuple[int, ...] | None = None
    towns: tuple[str, ...] = ()
    weathers: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    events: frozenset[str] | None = None
    classes: tuple[str, ...] = ()
    least_visibility: int = 1
    within_m: float | None = None

    def matches(self, scene: StoredScene) -> bool:
        """Return whether a scene meets every condition."""
        if self.numbers is not None and scene.entry.index not in self.numbers:
            return False
        if self.towns and scene.entry.town not in self.towns:
            return False
        if self.events is not None and scene.name not in self.events:
            return False
        rows = scene.rows()
        if self.splits and not set(self.splits) & set(rows.head.splits):
            return False
        if self.weathers and rows.rows("log")[0]["uav_weather"] not in self.weathers:
            return False
        kinds = {row["kind"] for row in rows.rows("agent")} or {"drone"}
        if not set(self.agents) <= kinds:
            return False
        asks_objects = bool(self.classes) or self.least_visibility > 1 or self.within_m is not None
        return not asks_objects or self._shows_object(rows)

    def _shows_object(self, rows: PackedFragment) -> bool:
        labels = {row["token"]: row["uav_label"] for row in rows.rows("instance")}
        boxes = [
            row
            for row in rows.rows("sample_annotation")
            if (not self.classes or labels[row["instance_token"]] in self.classes)
            and row["num_lidar_pts"] + row.get("uav_visible_px", 0) > 0
            and int(row["visibility_token"]) >= self.least_visibility
        ]
        if self.within_m is None or not boxes:
            return bool(boxes)
        positions_m = {row["token"]: row["translation"][:2] for row in rows.rows("ego_pose")}
        drones: dict[str, list[Any]] = {}
        for row in rows.rows("sample_data"):
            if row["is_key_frame"]:
                drones.setdefault(row["sample_token"], []).append(positions_m[row["ego_pose_token"]])
        return any(
            np.linalg.norm(np.subtract(drones[row["sample_token"]], row["translation"][:2]), axis=1).min()
            <= self.within_m
            for row in boxes
        )


def scenes_of(folder: Path) -> list[StoredScene]:
    """Return the committed scenes of a dataset in the order of their numbers.

    Raises:
        InputError: the folder has no dataset of uavsim, or no finished scene.
    """
    output = LocalOutput(folder.absolute())
    if not folder.is_dir() or read_identity(output) is None:
        raise InputError(f"{folder}: not a uavsim dataset (no {IDENTITY}), or a converted or published one")
    scenes = [StoredScene(output, entry) for entry in committed_scenes(output)]
    if not scenes:
        raise InputError(f"{folder}: no scene is committed")
    return scenes


def choose(folder: Path, scene_filter: SceneFilter) -> list[StoredScene]:
    """Return the scenes of a dataset that match a filter.

    Raises:
        InputError: no scene matches, or the dataset lacks a number, town or split.
    """
    scenes = scenes_of(folder)
    known = {scene.entry.index for scene in scenes}
    if missing := sorted(set(scene_filter.numbers or ()) - known):
        raise InputError(f"{folder}: no scene {missing[0]}; it has {min(known)} to {max(known)}")
    towns = {scene.entry.town for scene in scenes}
    if unknown := sorted(set(scene_filter.towns) - towns):
        raise InputError(f"{folder}: no scene in {unknown[0]}; it has {', '.join(sorted(towns))}")
    chosen = [scene for scene in scenes if scene_filter.matches(scene)]
    if not chosen:
        classes = {row["uav_label"] for scene in scenes for row in scene.rows().rows("instance")}
        unknown = sorted(set(scene_filter.classes) - classes)
        hint = f"; no object is a {unknown[0]}, only {', '.join(sorted(classes))}" if unknown else ""
        raise InputError(f"{folder}: none of its {len(scenes)} scenes meets the conditions{hint}")
    return chosen


def scenes_with(event: str, labels: Path) -> frozenset[str]:
    """Return the names of the scenes in which an image has an event.

    Args:
        event: a cause, such as ``occluded``.
        labels: output folder of ``uavsim events``.

    Raises:
        InputError: the folder has no labels, or no image has the event; the message lists the events.
    """
    path, found = labels / "image_event.jsonl", dict[str, set[str]]()
    try:
        for line in read_regular(path, most_bytes=_MOST_LABEL_BYTES).splitlines():
            row = parse_json(line)
            for cause in row["degradations"]:
                found.setdefault(cause["kind"], set()).add(row["scene"])
    except (DatasetError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not the labels of uavsim events: {error}") from error
    if event not in found:
        raise InputError(f"{path}: no image has the event {event!r}; events: {', '.join(sorted(found)) or 'none'}")
    return frozenset(found[event])


def select(scenes: Sequence[StoredScene], target: Path) -> list[str]:
    """Make a dataset of some scenes of one dataset; ``uavsim generate`` can add the others later.

    Returns:
        Names of the version folders.

    Raises:
        InputError: the target is invalid.
        StorageError: the target cannot be written.
    """
    source = scenes[0].output
    identity = read_identity(source)
    assert identity is not None, "scenes_of looked"
    output = _claimed(scenes, target, identity)
    if (configuration := read_configuration(source)) is not None:
        keep_configuration(output, configuration)
    keep_asked(output, [scene.name for scene in scenes])
    return _written(scenes, output)


def merge(folders: Sequence[Path], target: Path) -> list[str]:
    """Make one dataset of the scenes of several datasets.

    Returns:
        Names of the version folders.

    Raises:
        InputError: two datasets share a scene name or number, or versions differ.
        StorageError: the target cannot be written.
    """
    scenes = sorted((scene for folder in folders for scene in scenes_of(folder)), key=lambda scene: scene.entry.index)
    for before, after in itertools.pairwise(scenes):
        if before.entry.index == after.entry.index:
            raise InputError(
                f"{before.output.address} and {after.output.address} both have scene number {after.entry.index}: set "
                "another first_scene in one YAML and generate it again, or exclude the scene with uavsim select"
            )
    identities = [read_identity(output) or {} for output in dict.fromkeys(scene.output for scene in scenes)]
    if len({identity["fingerprint"] for identity in identities}) == 1:
        return select(scenes, target)
    return _written(scenes, _claimed(scenes, target, _derived(identities, "merged")))


def split(folder: Path, target: Path, assigned: Mapping[str, Sequence[int]], *, rest: str | None) -> list[str]:
    """Make a copy of a dataset with other splits.

    Args:
        folder: the dataset.
        target: the new folder.
        assigned: split -> scene numbers.
        rest: split of all other scenes; None: no split.

    Returns:
        Names of the version folders.

    Raises:
        InputError: a split, a number or the target is invalid.
        StorageError: the target cannot be written.
    """
    for name in (*assigned, *([rest] if rest is not None else [])):
        if check_name(name, what="split") in RESERVED_SPLITS:
            raise InputError(f"the nuScenes devkit reserves the split name {name!r}; use uav_{name}")
    scenes = scenes_of(folder)
    known = {scene.entry.index for scene in scenes}
    if missing := sorted({number for numbers in assigned.values() for number in numbers} - known):
        raise InputError(f"{folder}: no scene {missing[0]}; it has {min(known)} to {max(known)}")
    splits = {
        scene.name: tuple(name for name, numbers in assigned.items() if scene.entry.index in numbers)
        or ((rest,) if rest is not None else ())
        for scene in scenes
    }
    identity = _derived([read_identity(scenes[0].output) or {}], json.dumps(splits, sort_keys=True))
    return _written(scenes, _claimed(scenes, target, identity), splits=splits)


def differences(first: Path, second: Path) -> Iterator[str]:
    """Yield one line for each scene, table and kind of file that differs between two datasets.

    Raises:
        InputError: a folder has no dataset of uavsim.
    """
    first_scenes, second_scenes = ({scene.name: scene for scene in scenes_of(folder)} for folder in (first, second))
    for folder, scenes, other_scenes in ((first, first_scenes, second_scenes), (second, second_scenes, first_scenes)):
        if alone := [name for name in scenes if name not in other_scenes]:
            yield f"only in {folder}: {', '.join(alone[:8])}{f' and {len(alone) - 8} more' if len(alone) > 8 else ''}"
    for name in first_scenes:
        if name in second_scenes:
            yield from (f"{name}: {line}" for line in _scene_differences(first_scenes[name], second_scenes[name]))


def _scene_differences(first: StoredScene, second: StoredScene) -> Iterator[str]:
    first_rows, second_rows = first.rows(), second.rows()
    if first_rows.head.splits != second_rows.head.splits:
        yield f"splits {', '.join(first_rows.head.splits) or 'none'}, and {', '.join(second_rows.head.splits) or 'none'}"
    for table in sorted({*first_rows.compressed, *second_rows.compressed}):
        first_lines, second_lines = first_rows.lines(table).splitlines(), second_rows.lines(table).splitlines()
        if first_lines != second_lines:
            unlike = sum(a != b for a, b in zip(first_lines, second_lines, strict=False))
            yield f"{table}: {len(first_lines)} and {len(second_lines)} rows, {unlike} differ in the same position"
    first_files, second_files = set(first.files()), set(second.files())
    for folder, count in _by_folder(first_files ^ second_files).items():
        yield f"{folder}: {count} files are in only one dataset"
    roots = first.output.root, second.output.root
    changed = {key for key in first_files & second_files if not _same(*(root / key for root in roots))}
    for folder, count in _by_folder(changed).items():
        yield f"{folder}: {count} files differ"


def _same(first: Path, second: Path) -> bool:
    if not (first.is_file() and second.is_file()):
        return first.exists() == second.exists()
    return first.samefile(second) or filecmp.cmp(first, second, shallow=False)


def _by_folder(keys: set[str]) -> dict[str, int]:
    tops = [key.partition("/")[0] for key in sorted(keys)]
    return {top: tops.count(top) for top in dict.fromkeys(tops)}


def _derived(identities: Sequence[JsonDict], what: str) -> JsonDict:
    """Return the identity of a dataset without a configuration, which cannot be extended."""
    marks = sorted({identity["fingerprint"] for identity in identities})
    first = identities[0]
    return {
        "dataset": first["dataset"],
        "seed": first.get("seed", 0),
        "versions": first.get("versions", {}),
        "fingerprint": hashlib.sha256(json.dumps([what, *marks]).encode()).hexdigest(),
        "made_of": marks,
    }


def _claimed(scenes: Sequence[StoredScene], target: Path, identity: JsonDict) -> LocalOutput:
    for source in dict.fromkeys(scene.output for scene in scenes):
        check_result_beside(source.root, target)
    output = LocalOutput(target.absolute())
    claim_output(output, identity=identity)
    return output


def _written(
    scenes: Sequence[StoredScene], output: LocalOutput, *, splits: Mapping[str, tuple[str, ...]] | None = None
) -> list[str]:
    sweep_orphans(output)
    for scene in scenes:
        with output.lock(scene.name) as is_locked:
            if not is_locked:
                raise InputError(f"{output.address}: scene {scene.name} is in use by another process; try again later")
            ledger_entry = read_entry(output, scene.name)
            if ledger_entry is None or ledger_entry.state != "committed":
                _bring(scene, output, splits=None if splits is None else splits[scene.name])
    towns = {scene.entry.town for scene in scenes}
    for source in dict.fromkeys(scene.output for scene in scenes):
        for key in (key for folder in _MAPS for key in source.keys(folder)):
            name = Path(key).name.partition(".")[0].partition("~")[0]
            if name in towns and (data := source.read(key)) is not None:
                output.create(key, data)
    versions = assemble_tables(output)
    output.sweep_leftovers()
    return versions


def _bring(scene: StoredScene, output: LocalOutput, *, splits: tuple[str, ...] | None) -> None:
    """Commit a scene of another dataset: hard links of its files, its rows with optional new splits."""
    rows = read_fragment(scene.output, scene.entry)
    staged = output.stage(scene.name)
    try:
        files = DataFolder(scene.output.root)
        moves = {f"{number}{Path(key).suffix}": key for number, key in enumerate(scene.files())}
        log = f"{generation_of(scene.entry).recording}/log.msgpack"
        for name, key in {**moves, "log.msgpack": log}.items():
            bring_file(files.open(key), staged / name)
        commit_scene(
            output,
            replace(scene.entry, retired=(), replacing=None),
            folder=staged,
            moves=moves,
            log="log.msgpack",
            fragment=rows if splits is None else with_splits(rows, splits),
        )
    finally:
        output.drop_staged(staged)
