"""The error tree: every error that uavsim raises on purpose, with its exit code.

UavsimError                     1
|-- InputError                  2   a file, key, name or argument is wrong; nothing was written
|   |-- ConfigError             2   a YAML file: file, key, what is wrong
|   `-- UnknownNameError        2   a name that is not there, with the nearest that is
|-- SystemFailure               3   the simulator or the machine
|   |-- SimulatorError          3   not there, another version, refused
|   |   |-- MapMissing          3   it does not have the town: no other try will find it
|   |   |-- SimulatorLost       3   it answered before and does not any more
|   |   `-- MissedTick          3   an image or state that is not of the tick asked for
|   |-- SceneVoid               3   the scene cannot be used as flown (a drone left its formation, ...)
|   |   `-- TrafficStalled      3   too few of its vehicles move: another try has other traffic
|   `-- StorageError            3   disk full, read-only, not ours
|-- DatasetError                4   a dataset that is not valid
`-- FrameError                  1   our own mistake: a reflection or a wrong shape where a rotation belongs
"""

from typing import ClassVar

__all__ = [
    "ConfigError",
    "DatasetError",
    "FrameError",
    "InputError",
    "MapMissing",
    "MissedTick",
    "SceneVoid",
    "SimulatorError",
    "SimulatorLost",
    "StorageError",
    "SystemFailure",
    "TrafficStalled",
    "UavsimError",
    "UnknownNameError",
]


class UavsimError(Exception):
    """Base of all errors that uavsim raises on purpose; the message is one line that says what to do."""

    exit_code: ClassVar[int] = 1


class InputError(UavsimError):
    """The user's input is wrong; nothing was written."""

    exit_code: ClassVar[int] = 2


class ConfigError(InputError):
    """A YAML file is wrong: the message starts with the file and names the key.

    Attributes:
        every: a line for each error of the file, in order; empty if the message is the only one.
    """

    every: tuple[str, ...] = ()


class UnknownNameError(InputError):
    """An unknown name; the message ends with the nearest known one."""


class SystemFailure(UavsimError):
    """The simulator, the machine or the storage failed."""

    exit_code: ClassVar[int] = 3


class SimulatorError(SystemFailure):
    """A simulator is not there, is of another version, or refuses."""


class SimulatorLost(SimulatorError):
    """A simulator that answered before does not answer any more."""


class MapMissing(SimulatorError):
    """A simulator does not have the town that was asked for; no other try will find it."""


class MissedTick(SimulatorError):
    """An image or a state does not belong to the tick that was asked for."""


class SceneVoid(SystemFailure):
    """The scene cannot be used as flown; the message is the reason."""


class TrafficStalled(SceneVoid):
    """Too few of the scene's vehicles move; the next try has other traffic (``ScenePlan.traffic_retry``)."""


class StorageError(SystemFailure):
    """The output cannot be written: disk full, read-only, or a folder of another program."""


class DatasetError(UavsimError):
    """A dataset is not valid."""

    exit_code: ClassVar[int] = 4


class FrameError(UavsimError, ValueError):
    """A matrix that is not a proper rotation, or a wrong shape: our own mistake."""
