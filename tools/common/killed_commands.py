"""Commands of ``scripts/trial kill``, with placeholders SET, OUT, SCENES and SIMULATOR."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class KilledCommand:
    """A command.

    Attributes:
        words: words of its command line.
        flies: it starts simulators and flies scenes.
        in_place: OUT starts as a copy of SET.
        restarts: a rerun starts from the beginning.
    """

    name: str
    words: tuple[str, ...]
    flies: bool = False
    in_place: bool = False
    restarts: bool = False


def _flown(name: str, *words: str, **more: bool) -> KilledCommand:
    return KilledCommand(name, (name, *words, "--simulator", "SIMULATOR"), flies=True, **more)


def _written(name: str, *words: str, command: str = "", **more: bool) -> KilledCommand:
    return KilledCommand(name, (command or name, *words), restarts=True, **more)


_ALL: Final = (
    _flown("generate", "--dataset", "kill", "--no-check", "--scenes", "SCENES", "--out", "OUT"),
    _flown("regenerate", "OUT", "--scenes", "0,1", "--no-check", in_place=True, restarts=True),
    _flown("replay", "SET", "--out", "OUT", "--weather", "hard_rain", "--no-check"),
    _flown("twins", "SET", "--out", "OUT", "--weather", "night", "--occluders"),
    _written("annotate", "OUT", "--range-m", "60", in_place=True),
    _written("events", "SET", "--out", "OUT", "--workers", "2"),
    _written("publish", "SET", "--out", "OUT", "--date", "2026-01-01"),
    _written("convert", "SET", "OUT", "--dialect", "uav3d"),
    _written("select", "SET", "--town", "Town10HD", "--out", "OUT"),
    _written("split", "SET", "--assign", "uav_val=1", "--rest", "uav_train", "--out", "OUT"),
    *(
        _written(f"export-{kind}", "SET", "OUT", "--format", kind, command="export")
        for kind in ("coco", "opv2v", "mmdet3d", "rosbag2")
    ),
)
COMMANDS: Final = {command.name: command for command in _ALL}
