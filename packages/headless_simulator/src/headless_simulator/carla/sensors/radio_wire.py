"""Layout of V2X messages of client 0.9.16: C structures of x86-64, with padding.

Source: CARLA's ``LibITS.h`` and ``V2XData.h``.
"""

from typing import Any, Final

import numpy as np

CUSTOM_BYTES: Final = 100  # of a custom message, its closing zero included


def _structure(*fields: Any) -> np.dtype[Any]:
    return np.dtype([field if isinstance(field, tuple) else (field, "<i8") for field in fields], align=True)


_CONFIDENT: Final = _structure("value", "confidence")
_HEADER: Final = _structure("version", "message", "station")
_POSITION: Final = _structure("latitude", "longitude", ("ellipse", "<i8", 3), ("altitude", _CONFIDENT))
_BASIC: Final = _structure("station_type", ("position", _POSITION))
_TOLLING: Final = _structure("latitude", "longitude", "id", ("has_id", "?"))
_VEHICLE: Final = _structure(
    ("heading", _CONFIDENT), ("speed", _CONFIDENT), "direction", ("length", _CONFIDENT), "width", ("longitudinal", _CONFIDENT),
    ("curvature", _CONFIDENT), "curvature_mode", ("yaw_rate", _CONFIDENT), ("has_control", "?"), ("control", "u1"),
    ("has_lane", "?"), "lane", ("has_wheel", "?"), ("wheel", _CONFIDENT), ("has_lateral", "?"), ("lateral", _CONFIDENT),
    ("has_vertical", "?"), ("vertical", _CONFIDENT), ("has_class", "?"), "class", ("has_tolling", "?"), ("tolling", _TOLLING),
)  # fmt: skip
_HIGH: Final = _structure("present", ("vehicle", _VEHICLE), ("roadside", _structure("count", ("zones", "<u8", 3))))
_LOW: Final = _structure("present", "role", ("lights", "u1"), ("path", _structure("count", ("points", "<u8", 3))))
_CAM: Final = _structure("delta_ms", ("basic", _BASIC), ("high_frequency", _HIGH), ("low_frequency", _LOW))

CAM: Final = _structure(("power_dbm", "<f4"), ("header", _HEADER), ("cam", _CAM))
CUSTOM: Final = _structure(("power_dbm", "<f4"), ("header", _HEADER), ("text", f"S{CUSTOM_BYTES}"))
