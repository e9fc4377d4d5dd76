"""Scene names from nuScenes' split lists, from which converters derive training and validation scenes.

Converters read splits from the devkit's source, not from the dataset, and treat unlisted scenes as validation.
Source: nuscenes-devkit 1.2.0, ``utils/splits.py`` (members), ``eval/prediction/splits.py`` (the first 200 are ``train_val``),
``can_bus/can_bus_api.py`` (scenes without a CAN bus).
"""

from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Final, NamedTuple

MINI, TRAINVAL, TEST = "v1.0-mini", "v1.0-trainval", "v1.0-test"
_UNLISTED: Final = 2001
_TRAIN_VAL_COUNT: Final = 200


def _numbers(ranges: str) -> tuple[int, ...]:
    ends = [[int(end) for end in one.split("-")] for one in ranges.split()]
    return tuple(chain.from_iterable(range(pair[0], pair[-1] + 1) for pair in ends))


LISTED: Final[dict[str, tuple[int, ...]]] = {
    "mini_train": _numbers("61 553 655 757 796 1077 1094 1100"),
    "mini_val": _numbers("103 916"),
    "train": _numbers(
        "1-2 4-11 19-34 41-76 120-135 138-139 149-152 154-155 157-168 170-185 187-188 190-196 199-200 202-204 206-214 218-220 "
        "222 224-264 283-306 315-318 321 323-324 328 347-386 388-403 405-408 410-459 461-465 467-469 471-472 474-480 499-502 "
        "504-515 517-518 525-539 541-546 566 568 570-578 580 582-600 639-679 681 683-689 695-698 700-701 703-719 726-728 "
        "730-731 733-741 744 746-747 749-752 757-765 767-769 786-787 789-792 803-806 808-813 815-817 819-822 847-856 858 "
        "860-866 868-873 875-878 880 882-903 945 947 949 952-953 955-961 975-984 988-992 994-1025 1044-1058 1074-1102 "
        "1104-1110"
    ),
    "val": _numbers(
        "3 12-18 35-36 38-39 92-110 221 268-278 329-332 344-346 519-524 552-565 625-627 629-630 632-638 770-771 775 777-778 "
        "780-784 794-800 802 904-917 919-931 962-963 966-969 971-972 1059-1073"
    ),
    "test": _numbers(
        "77-91 111-119 140 142-148 265-266 279-282 307-314 333-343 481-498 547-551 601-604 606-624 827-831 833-842 844-846 "
        "932-933 935-943 1026-1043"
    ),
}
"""Ascending scene numbers of nuScenes' splits."""

NO_CAN_BUS: Final = frozenset(_numbers("161-168 170-176 309-314"))
"""Numbers of scenes without a CAN bus in the devkit's lists."""


class SceneName(NamedTuple):
    """The exported name of a scene, and its version folder."""

    name: str
    version: str


def parts_of(scenes: Sequence[str], splits: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the scenes of ``train``, ``val`` and ``test`` by the ends of split names (``uav_val``); default: ``train``."""
    ending = {part: {s for name in splits if name.endswith(part) for s in splits[name]} for part in ("test", "val")}
    parts: dict[str, list[str]] = {"train": [], "val": [], "test": []}
    for scene in scenes:
        parts[next((part for part, members in ending.items() if scene in members), "train")].append(scene)
    return parts


def name_scenes(scenes: Sequence[str], splits: Mapping[str, Sequence[str]], *, version: str) -> dict[str, SceneName]:
    """Return names with which converters assign each scene to its split.

    Scenes beyond the length of a list are named from ``scene-2001`` on, which no list contains.

    Args:
        scenes: every scene of the dataset, in its order.
        splits: scenes by split.
        version: version of the dataset; only ``v1.0-mini`` may stay mini.
    """
    parts = parts_of(scenes, splits)
    small = {part: LISTED.get(f"mini_{part}", ()) for part in parts}
    mini = version == MINI and all(len(parts[part]) <= len(small[part]) for part in parts)
    unlisted = count(_UNLISTED)
    named: dict[str, SceneName] = {}
    for part, members in parts.items():
        folder = MINI if mini else TEST if part == "test" else TRAINVAL
        numbers = chain(small[part] if mini else _order(part), unlisted)
        named |= {scene: SceneName(f"scene-{next(numbers):04d}", folder) for scene in members}
    return named


def _order(part: str) -> list[int]:
    """Return the numbers of a list: the prediction challenge's ``train`` first, scenes without a CAN bus last."""
    numbers = LISTED[part]
    turned = (*numbers[_TRAIN_VAL_COUNT:], *numbers[:_TRAIN_VAL_COUNT]) if part == "train" else numbers
    return sorted(turned, key=NO_CAN_BUS.__contains__)
