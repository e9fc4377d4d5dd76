"""Checks of corner cases: every scene has one that is large enough in an image, and every instance has a tag."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from uavsim.validate.dataset import DataSet
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding


def scenes_have_cases(data: DataSet) -> Iterator[Finding]:
    """In a dataset with corner cases, every scene has one."""
    scenes = data["corner_case"]["scene_token"] if "corner_case" in data.tables else np.zeros(0, np.int64)
    count = np.bincount(scenes[scenes >= 0], minlength=len(data["scene"]))
    for row in np.flatnonzero(count == 0).tolist():
        yield Finding("cases.none", "scene without a corner case", **data.scene_place(row))


def everything_tagged(data: DataSet) -> Iterator[Finding]:
    """In a dataset with tags, every instance has one, and a tag is one word."""
    table = data["object_tag"]
    tagged = table["instance_token"]
    count = np.bincount(tagged[tagged >= 0], minlength=len(data["instance"]))
    for row in np.flatnonzero(count != 1).tolist():
        message = f"instance {data['instance'].tokens[row]} has {int(count[row])} tags"
        yield Finding("cases.tag", message, numbers={"tags": int(count[row])}, **data.locate("instance", row))
    for row, tag in enumerate(table["tag"]):
        if len(tag.split()) != 1:
            instance = int(tagged[row])
            location = data.locate("instance", instance) if instance >= 0 else {}
            yield Finding("cases.tag", f"tag {tag!r} is not one word", **location)


def cases_large_enough(evidence: Evidence) -> Iterator[Finding]:
    """Some keyframe image shows at least ``min_visible_px`` pixels of each corner case."""
    data = evidence.data
    table, pairs = data["corner_case"], evidence.pairs
    instance = data["sample_annotation"]["instance_token"][pairs.box]
    in_keyframe = data["sample_data"]["is_key_frame"][evidence.cameras.rows][pairs.view]
    parts, lengths = table.lists["instance_tokens"]
    ends = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    for row, (first, last) in enumerate(pairwise(ends)):
        of_case = np.isin(instance, parts[first:last]) & in_keyframe
        pixels = np.bincount(pairs.view[of_case], weights=pairs.visible_px[of_case], minlength=1)
        best, required = int(pixels.max()), int(table["min_visible_px"][row])
        if best < required:
            location = data.scene_place(int(table["scene_token"][row]))
            message = f"corner case {table['name'][row]} has at most {best} visible pixels, {required} were requested"
            yield Finding("cases.small", message, numbers={"visible_px": best, "wanted_px": required}, **location)
