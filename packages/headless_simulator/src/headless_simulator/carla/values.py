"""Validation of CARLA clients' arguments before a method runs."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import numpy as np

from headless_simulator.errors import BadArgument
from headless_simulator.rpc.arguments import Reads, array, array_of, flag, integer, number, row_of, short_repr, text
from headless_simulator.scene import StaticObject
from headless_simulator.world.pose import Pose6
from headless_simulator.world.street_lights import StreetLight

_FAR: Final = 1e7
_BRIGHTEST_LM: Final = 1e9

Vec3: TypeAlias = tuple[float, float, float]


def vector(value: Any, name: str) -> Vec3:
    """Read [x, y, z], finite and within the world's bounds."""
    parts = value if type(value) is list and len(value) >= 3 else array(value, name, least=3)
    x, y, z = number(parts[0], name), number(parts[1], name), number(parts[2], name)
    if max(abs(x), abs(y), abs(z)) > _FAR:
        raise BadArgument(f"{name} must have absolute values of at most {_FAR:g}, not {short_repr(value)}")
    return x, y, z


def transform(value: Any, name: str) -> Pose6:
    """Read [[x, y, z], [pitch, yaw, roll]], metres and degrees."""
    location, rotation = array(value, name, least=2)[:2]
    return (*vector(location, "location"), *vector(rotation, "rotation"))


def optional(value: Any, name: str) -> Any:
    """Read [false] as None, or [true, value] as the value."""
    parts = array(value, name, least=1)
    return parts[1] if parts[0] and len(parts) > 1 else None


def mean_colour(value: Any, name: str) -> tuple[int, int, int]:
    """Read a texture, [width, height, [[r, g, b, a]...]], as its mean colour."""
    width, height, rows = array(value, name, least=3)[:3]
    if integer(width, "width") * integer(height, "height") != len(array(rows, "pixels", least=1)) or width < 1:
        raise BadArgument(f"{name} has {len(rows)} pixels, not {width} x {height}")
    try:
        rgba = np.array(rows, dtype=np.uint8)  # refuses values outside 0..255
    except (TypeError, ValueError, OverflowError):
        raise BadArgument(f"every pixel of {name} must be [r, g, b, a] with values from 0 to 255") from None
    if rgba.ndim != 2 or rgba.shape[1] != 4:
        raise BadArgument(f"every pixel of {name} must be [r, g, b, a] with values from 0 to 255")
    red, green, blue, _ = np.rint(rgba.mean(axis=0)).astype(int).tolist()
    return red, green, blue


def lamp(value: Any, name: str) -> StreetLight:
    """Read [id, [x, y, z], intensity, group, [r, g, b], is_on]."""
    lamp_id, location, intensity, group, colour, on = array(value, name, least=6)[:6]
    red, green, blue = (integer(part, "colour") for part in array(colour, "colour", least=3)[:3])
    lumens = min(max(number(intensity, "intensity"), 0.0), _BRIGHTEST_LM)
    location_m, group_id, is_on = vector(location, "location"), integer(group, "group"), flag(on, "active")
    return StreetLight(integer(lamp_id, "id"), location_m, lumens, group_id, (red, green, blue), is_on)


class ActorDescription(NamedTuple):
    """A client's description of an actor to spawn.

    Attributes:
        uid: the blueprint's number.
        blueprint: the blueprint's id.
        rows: the client's attributes, [name, type, value].
        attributes: attribute values by name, as text.
    """

    uid: int
    blueprint: str
    rows: list[Any]
    attributes: dict[str, str]

    def wire(self) -> list[Any]:
        """Encode the description as received."""
        return [self.uid, self.blueprint, self.rows]


def description(value: Any, name: str) -> ActorDescription:
    """Read [uid, blueprint, [[name, type, value]...]]."""
    uid, blueprint, rows = array(value, name, least=3)[:3]
    rows = array(rows, "attributes")
    attribute_rows = [array(row, "attribute", least=3) for row in rows]
    attributes = {text(row[0], "attribute's name"): text(row[2], "attribute's value") for row in attribute_rows}
    return ActorDescription(integer(uid, "uid"), text(blueprint, "blueprint"), rows, attributes)


def pose_wire(pose: Sequence[float]) -> list[list[float]]:
    """Encode a pose (metres, degrees) as a transform."""
    return [[float(v) for v in pose[:3]], [float(v) for v in pose[3:6]]]


Vector: TypeAlias = Annotated[Vec3, Reads(vector)]
Transform: TypeAlias = Annotated[Pose6, Reads(transform)]
Description: TypeAlias = Annotated[ActorDescription, Reads(description)]
MeanColour: TypeAlias = Annotated[tuple[int, int, int], Reads(mean_colour)]
Lamps: TypeAlias = Annotated[list[StreetLight], Reads(array_of(lamp))]
ActorId: TypeAlias = Annotated[int, Reads(integer)]
Endpoint: TypeAlias = Annotated[tuple[str, int], Reads(row_of(("host", text), ("port", integer)))]


def static_box_wire(item: StaticObject) -> list[Any]:
    """Encode a static object's world box."""
    pitch, yaw, roll = item.pose[3:]
    return [list(item.box_centre_m), list(item.box_half_m), [pitch, yaw, roll], 0]
