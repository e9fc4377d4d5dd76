"""SimBEV's layers on paper: what is ahead is in the first rows, what is to the left in the first columns."""

from typing import Any

import numpy as np

from uavsim.exports.formats.simbev import LAYERS, simbev_layers


class Street:
    """A car 36 m ahead and 18 m to the left, and a line between lanes right behind."""

    def bev(self, layers: Any, classes: Any, **frame: Any) -> np.ndarray:
        assert frame == {"agent": "v0", "size_m": (144.0, 144.0), "metres_per_px": 0.4}
        found = np.zeros((len(layers) + len(classes), 360, 360), bool)  # rows to the left, columns ahead
        found[len(layers) + classes.index("vehicle.car"), 180 + 45, 180 + 90] = True
        found[layers.index("lane_divider"), 180, :180] = True
        return found


def test_what_is_ahead_and_left_comes_first() -> None:
    layers = simbev_layers(Street(), "v0")  # type: ignore[arg-type]
    names = list(LAYERS)
    assert (layers.shape, layers.dtype) == ((14, 360, 360), np.bool_)
    assert np.argwhere(layers[names.index("car")]).tolist() == [[359 - 270, 359 - 225]]
    assert np.argwhere(layers[names.index("road_line")])[:, 0].min() == 180  # behind: the last rows
    assert {name for name, layer in zip(names, layers, strict=True) if layer.any()} == {"car", "road_line"}
