"""Splits of nuScenes' prediction challenge: the instances to predict at each sample.

An instance is a vehicle with one second of past and six seconds of future, in which it moves at least one metre.
Source: nuscenes-devkit, eval/prediction/splits.py, for the form of the file.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from uavsim.typing import JsonDict

SCENES_FILE: Final = "maps/prediction/prediction_scenes.json"
_PAST_S: Final = 1.0
_FUTURE_S: Final = 6.0
_SLACK_S: Final = 0.15  # the devkit's tolerance
_LEAST_M: Final = 1.0


def prediction_tokens(
    boxes: Sequence[JsonDict], *, sample_us: Mapping[str, int], category_of: Mapping[str, str]
) -> list[str]:
    """Return ``<instance>_<sample>`` tokens of the instances to predict in a scene.

    Args:
        boxes: rows of ``sample_annotation``, ascending in time for each instance.
        sample_us: time of each sample by token.
        category_of: category of each instance by token.
    """
    tracks: dict[str, list[JsonDict]] = {}
    for row in boxes:
        name = category_of.get(row["instance_token"], "")
        if name.startswith("vehicle.") and name != "vehicle.ego":
            tracks.setdefault(row["instance_token"], []).append(row)
    tokens: list[str] = []
    for instance, track in tracks.items():
        time_s = np.array([sample_us[row["sample_token"]] for row in track]) / 1e6
        positions_map_m = np.array([row["translation"][:2] for row in track])
        for start, row in enumerate(track):
            end = int(np.searchsorted(time_s, time_s[start] + _FUTURE_S + _SLACK_S, side="right")) - 1
            long_enough = time_s[end] - time_s[start] >= _FUTURE_S - _SLACK_S
            has_past = time_s[start] - time_s[0] >= _PAST_S - _SLACK_S
            if long_enough and has_past and np.linalg.norm(positions_map_m[end] - positions_map_m[start]) >= _LEAST_M:
                tokens.append(f"{instance}_{row['sample_token']}")
    return tokens
