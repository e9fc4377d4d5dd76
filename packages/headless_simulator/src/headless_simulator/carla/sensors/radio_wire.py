"""Layout of V2X messages of client 0.9.16: C structures of x86-64, with padding.

Source: CARLA's ``LibITS.h`` and ``V2XData.h``.
"""

from typing import Any, Final

import numpy as np

CUSTOM_BYTES: Final = 100  # of a custom message, its closing zero included


def _structure(*fields: Any) -> np.dtype[Any]:
    return np.dtype([field if isinstance(field, tuple) else (field, "<i8") for field in fields], align=True)


_SURE: Final = _structure("value", "confidence")
_HEADER: Final = _structure("version", "message", "station")
_PLACE: Final = _structure("latitude", "longitude", ("ellipse", "<i8", 3), ("altitude", _SURE))
_BASIC: Final = _structure("station_type", ("place", _PLACE))
_TOLLING: Final = _structure("latitude", "longitude", "id", ("has_id", "?"))
_VEHICLE: Final = _structure(
    ("heading", _SURE), ("speed", _SURE), "direction", ("length", _SURE), "width", ("longitudinal", _SURE),
    ("curvature", _SURE), "curvature_mode", ("yaw_rate", _SURE), ("has_control", "?"), ("control", "u1"),
    ("has_lane", "?"), "lane", ("has_wheel", "?"), ("wheel", _SURE), ("has_lateral", "?"), ("lateral", _SURE),
    ("has_vertical", "?"), ("vertical", _SURE), ("has_class", "?"), "class", ("has_tolling", "?"), ("tolling", _TOLLING),
)  # fmt: skip
_ZONE: Final = _structure(
    "type", "expiry", ("has_expiry", "?"), "latitude", "longitude", "radius", ("has_radius", "?"), "id", ("has_id", "?")
)
_OFTEN: Final = _structure("present", ("vehicle", _VEHICLE), ("roadside", _structure("count", ("zones", "<u8", 3))))
_PATH_POINT: Final = _structure(("away", "<i8", 3), ("time", "<u8"))
_SELDOM: Final = _structure("present", "role", ("lights", "u1"), ("path", _structure("count", ("points", "<u8", 3))))
_CAM: Final = _structure("delta_ms", ("basic", _BASIC), ("often", _OFTEN), ("seldom", _SELDOM))

CAM: Final = _structure(("power_dbm", "<f4"), ("header", _HEADER), ("cam", _CAM))
CUSTOM: Final = _structure(("power_dbm", "<f4"), ("header", _HEADER), ("text", f"S{CUSTOM_BYTES}"))
