"""Checks between tables: references, chains, counts and names."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, IntArray
from uavsim.validate.dataset import BEV_CHANNEL, DataSet, FindingPlace, box_finding, follow
from uavsim.validate.findings import Finding
from uavsim.validate.tables import DANGLING, NONE

_EVALUATED: Final = frozenset(
    {f"vehicle.{kind}" for kind in ("car", "truck", "trailer", "construction", "motorcycle", "bicycle")}
    | {"vehicle.bus.rigid", "vehicle.bus.bendy", "vehicle.emergency.ambulance", "vehicle.emergency.police"}
    | {f"human.pedestrian.{k}" for k in ("adult", "child", "construction_worker", "police_officer")}
    | {f"human.pedestrian.{k}" for k in ("personal_mobility", "stroller", "wheelchair")}
    | {f"movable_object.{k}" for k in ("trafficcone", "barrier", "debris", "pushable_pullable")}
    | {"static_object.bicycle_rack", "animal", "vehicle.ego"}
)
"""nuScenes' categories; the devkit draws no other."""


def tables_match_schema(data: DataSet) -> Iterator[Finding]:
    """Every table has its fields, with their types."""
    yield from data.load_findings
    for table in data.tables.values():
        for finding in table.findings:
            row = finding.numbers.get("row")
            location = data.locate(table.name, row) if isinstance(row, int) and row < len(table) else FindingPlace()
            yield Finding(finding.code, finding.message, numbers=finding.numbers, **location)


def tokens_unique(data: DataSet) -> Iterator[Finding]:
    """Tokens are unique in their table; the devkit would silently keep the last row."""
    for name, table in data.tables.items():
        order = np.argsort(table.keys, kind="stable")
        again = order[1:][table.keys[order][1:] == table.keys[order][:-1]]
        for row in np.sort(again).tolist():
            token = table.tokens[row]
            message = f"{name}: token {token!r} is not unique"
            yield Finding("referential.token", message, numbers={"token": token}, **data.locate(name, row))


def references_lead_somewhere(data: DataSet) -> Iterator[Finding]:
    """Every foreign key names an existing row."""
    for name, table in data.tables.items():
        for spec in data.schema[name]:
            if spec.kind == "ref":
                bad = table[spec.name] == DANGLING
                if not spec.empty:
                    bad = bad | (table[spec.name] == NONE)
            elif spec.kind == "refs":
                flat, lengths = table.lists[spec.name]
                bad = np.zeros(len(table), bool)
                bad[np.repeat(np.arange(len(lengths)), lengths)[flat < 0]] = True
            else:
                continue
            for row in np.flatnonzero(bad).tolist():
                message = f"{name}.{spec.name} of {table.tokens[row]} names no row of {spec.table}"
                yield Finding(
                    "referential.key", message, numbers={"token": table.tokens[row]}, **data.locate(name, row)
                )


def chains_consistent(data: DataSet) -> Iterator[Finding]:
    """``prev`` and ``next`` mirror each other, stay in their scene, channel or instance, and run forward in time."""
    sample, images, boxes = data["sample"], data["sample_data"], data["sample_annotation"]
    box_time = follow(boxes["sample_token"], sample["timestamp"])
    yield from _chain(data, "sample", group=[sample["scene_token"]], time=sample["timestamp"])
    yield from _chain(data, "sample_data", group=[data.scene_of_data, data.sensor_of_data], time=images["timestamp"])
    yield from _chain(data, "sample_annotation", group=[boxes["instance_token"]], time=box_time)


def _chain(data: DataSet, name: str, *, group: list[IntArray], time: IntArray) -> Iterator[Finding]:
    table = data[name]
    rows = np.arange(len(table))
    before, after = table["prev"], table["next"]
    for link, back, word in ((after, before, "next"), (before, after, "prev")):
        linked = np.flatnonzero(link >= 0)
        target = link[linked]
        wrong = back[target] != rows[linked]
        strange = np.zeros(len(linked), bool)
        for column in group:
            strange |= column[linked] != column[target]
        backward = time[linked] >= time[target] if word == "next" else np.zeros(len(linked), bool)
        for reason, bad in (
            (f"names a row with another {'prev' if word == 'next' else 'next'}", wrong),
            ("leaves the scene, channel or instance", strange & ~wrong),
            ("does not run forward in time", backward & ~wrong & ~strange),
        ):
            for row in linked[bad].tolist():
                message = f"{name}.{word} of {table.tokens[row]} {reason}"
                yield Finding(
                    "referential.chain", message, numbers={"token": table.tokens[row]}, **data.locate(name, row)
                )
    yield from _one_chain_each(data, name, group=group)


def _one_chain_each(data: DataSet, name: str, *, group: list[IntArray]) -> Iterator[Finding]:
    """Each scene, channel or instance is one chain, with exactly one row without ``prev``."""
    table = data[name]
    if not len(table):
        return
    key, first_row = _groups(group)
    heads = np.bincount(key[table["prev"] == NONE], minlength=len(first_row))
    for g in np.flatnonzero(heads != 1).tolist():
        message = f"{name}: {int(heads[g])} rows without prev, expected 1"
        yield Finding(
            "referential.chain", message, numbers={"heads": int(heads[g])}, **data.locate(name, int(first_row[g]))
        )


def _groups(columns: list[IntArray]) -> tuple[IntArray, IntArray]:
    _, first_row, key = np.unique(np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True)
    return key.reshape(-1), first_row


def counts_right(data: DataSet) -> Iterator[Finding]:
    """Scenes and instances state the number of their rows, and the first and the last."""
    yield from _ends(data, "scene", "sample", suffix="sample")
    yield from _ends(data, "instance", "sample_annotation", suffix="annotation")


def _ends(data: DataSet, owner: str, member: str, *, suffix: str) -> Iterator[Finding]:
    owners, members = data[owner], data[member]
    count, first, last = f"nbr_{suffix}s", f"first_{suffix}_token", f"last_{suffix}_token"
    belongs = members[f"{owner}_token"]
    have = np.bincount(belongs[belongs >= 0], minlength=len(owners))[: len(owners)]
    for row in np.flatnonzero(have != owners[count]).tolist():
        stated = int(owners[count][row])
        message = f"{owner} {_label(data, owner, row)} has {count} {stated}, found {int(have[row])}"
        yield Finding(
            "referential.count",
            message,
            numbers={"stated": stated, "found": int(have[row])},
            **data.locate(owner, row),
        )
    for name, link in ((first, "prev"), (last, "next")):
        end = owners[name]
        known = np.flatnonzero(end >= 0)
        wrong = (belongs[end[known]] != known) | (members[link][end[known]] >= 0)
        for row in known[wrong].tolist():
            message = f"{owner} {_label(data, owner, row)}: {name} is not the end of its chain"
            yield Finding("referential.end", message, **data.locate(owner, row))


def _label(data: DataSet, table: str, row: int) -> str:
    return str(data[table]["name"][row]) if "name" in data[table] else data[table].tokens[row]


def one_keyframe_per_channel(data: DataSet) -> Iterator[Finding]:
    """Each sample has exactly one keyframe of every channel that its scene uses."""
    sensor, scene = data.sensor_of_data, data.scene_of_data
    good, have = _keyframes(data)
    used = np.zeros((len(data["scene"]), len(data["sensor"])), bool)
    usable = good & (scene >= 0)
    used[scene[usable], sensor[usable]] = True
    scene_of_sample = data["sample"]["scene_token"]
    known = np.flatnonzero(scene_of_sample >= 0)
    required = np.zeros_like(have, dtype=bool)
    required[known] = used[scene_of_sample[known]]
    if data.dialect == "strict":
        required &= np.array([c != BEV_CHANNEL for c in data.channels], bool)
    for row, column in np.argwhere((have > 1) | ((have == 0) & required)).tolist():
        number = int(have[row, column])
        message = f"{number} keyframes of {data.channels[column]} in one sample, expected 1"
        location = data.sample_place(row)
        location["channel"] = data.channels[column]
        yield Finding("referential.keyframes", message, numbers={"keyframes": number}, **location)


def _keyframes(data: DataSet) -> tuple[BoolArray, IntArray]:
    """Return (N,) bool, sample_data rows that are keyframes with valid references, and (samples, sensors) their counts."""
    images, sensor = data["sample_data"], data.sensor_of_data
    sample = images["sample_token"]
    good: BoolArray = (sample >= 0) & (sensor >= 0) & images["is_key_frame"]
    have = np.zeros((len(data["sample"]), len(data["sensor"])), np.int64)
    np.add.at(have, (sample[good], sensor[good]), 1)
    return good, have


def lidar_top_in_samples(data: DataSet) -> Iterator[Finding]:
    """Each sample has a keyframe of LIDAR_TOP, the range centre of the devkit's evaluation."""
    _, have = _keyframes(data)
    columns = [i for i, channel in enumerate(data.channels) if channel == BEV_CHANNEL]
    without = have[:, columns].sum(axis=1) == 0
    for row in np.flatnonzero(without).tolist():
        location = data.sample_place(row)
        location["channel"] = BEV_CHANNEL
        message = "sample without LIDAR_TOP: the devkit's evaluation fails"
        yield Finding("referential.lidar_top", message, **location)


def calibrations_fit_channels(data: DataSet) -> Iterator[Finding]:
    """The channel of an image's calibration is the channel in its file name."""
    sensor, names = data.sensor_of_data, data.channels
    known = frozenset(names)
    for row, filename in enumerate(data["sample_data"]["filename"]):
        reported = _channel_in(filename, known)
        if reported and sensor[row] >= 0 and names[sensor[row]] != reported:
            message = f"{filename} is calibrated as {names[sensor[row]]}"
            location = data.data_place(row)
            location["channel"] = reported
            yield Finding("referential.calibration", message, **location)


def _channel_in(filename: str, known: frozenset[str]) -> str:
    parts = [part for part in filename.split("/")[:-1] if part in known]
    return parts[-1] if parts else ""


def instances_in_one_scene(data: DataSet) -> Iterator[Finding]:
    """An instance belongs to one scene."""
    instance, scene = data["sample_annotation"]["instance_token"], data.scene_of_annotation
    good = (instance >= 0) & (scene >= 0)
    low = np.full(len(data["instance"]), np.iinfo(np.int64).max)
    high = np.full(len(data["instance"]), -1)
    np.minimum.at(low, instance[good], scene[good])
    np.maximum.at(high, instance[good], scene[good])
    for row in np.flatnonzero((high >= 0) & (low != high)).tolist():
        message = f"instance {data['instance'].tokens[row]} has boxes in more than one scene"
        yield Finding("referential.instance", message, **data.scene_place(int(high[row])))


def logs_in_maps(data: DataSet) -> Iterator[Finding]:
    """Every log belongs to a map; otherwise the devkit stops with a KeyError."""
    if not len(data["map"]):
        yield Finding("referential.map", "the table map is empty: the devkit cannot load the dataset")
    flat, _ = data["map"].lists["log_tokens"]
    covered = np.zeros(len(data["log"]), bool)
    covered[flat[flat >= 0]] = True
    scene_of_log = {int(log): row for row, log in enumerate(data["scene"]["log_token"].tolist())}
    for row in np.flatnonzero(~covered).tolist():
        message = f"log {data['log'].tokens[row]} belongs to no map: the devkit cannot load the dataset"
        yield Finding("referential.map", message, **data.scene_place(scene_of_log.get(row, -1)))


def attributes_single(data: DataSet) -> Iterator[Finding]:
    """A box has at most one attribute: the devkit's evaluation refuses more."""
    _, lengths = data["sample_annotation"].lists["attribute_tokens"]
    for row in np.flatnonzero(lengths > 1).tolist():
        message = f"box {data['sample_annotation'].tokens[row]} has more than one attribute"
        yield box_finding(data, row, "referential.attributes", message)


def names_known(data: DataSet) -> Iterator[Finding]:
    """Modalities are camera, lidar or radar; categories of the strict dialect are nuScenes'."""
    for row, modality in enumerate(data["sensor"]["modality"]):
        if modality not in {"camera", "lidar", "radar"}:
            message = f"sensor {data.channels[row]}: modality {modality!r} is not camera, lidar or radar"
            yield Finding("referential.name", message, channel=data.channels[row])
    used = data["instance"]["category_token"]
    for row, name in enumerate(data["category"]["name"]):
        if data.dialect == "strict" and name not in _EVALUATED and (used == row).any():
            message = f"category {name!r} is none of nuScenes': the devkit neither evaluates nor draws it"
            yield Finding("referential.name", message, numbers={"instances": int((used == row).sum())})
