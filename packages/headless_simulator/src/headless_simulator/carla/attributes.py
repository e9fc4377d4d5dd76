"""Blueprint attributes in wire format: [name, type, value, [recommended], modifiable, restricted]."""

from typing import Any, Final, TypeAlias

BOOL: Final = 1
INT: Final = 2
FLOAT: Final = 3
STRING: Final = 4
COLOUR: Final = 5

Attribute: TypeAlias = list[Any]


def variation(name: str, kind: int, *values: str, restricted: bool = False) -> Attribute:
    """Describe a modifiable attribute: the first value is the default, all are recommended."""
    return [name, kind, values[0], list(values), True, restricted]


def fixed(name: str, kind: int, value: object) -> Attribute:
    """Describe a constant attribute."""
    return [name, kind, str(value).lower() if kind == BOOL else str(value), [], False, False]


def role_names(blueprint: str, *values: str) -> list[Attribute]:
    """Return the first attributes of every blueprint: role name and ROS name."""
    return [variation("role_name", STRING, *values), variation("ros_name", STRING, blueprint)]
