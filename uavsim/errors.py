"""The error tree: every error that uavsim raises on purpose, with its exit code.

UavsimError                     1
|-- InputError                  2   a file, key, name or argument is wrong; nothing was written
|   |-- ConfigError             2   a YAML file: file, key, what is wrong
|   `-- UnknownNameError        2   an unknown name, with the nearest known one
|-- SystemFailure               3   the simulator or the machine
|   |-- SimulatorError          3   missing, another version, refused
|   |   |-- MapMissing          3   it does not have the town: a retry cannot succeed
|   |   |-- SimulatorLost       3   it stopped answering
|   |   `-- MissedTick          3   an image or state of another tick than the requested one
|   |-- SceneVoid               3   the scene cannot be used as flown (a drone left its formation, ...)
|   |   `-- TrafficStalled      3   too few of its vehicles move: the retry has other traffic
|   `-- StorageError            3   disk full, read-only, folder of another program
|-- DatasetError                4   a dataset that is not valid
`-- FrameError                  1   a defect of uavsim: a reflection or a wrong shape instead of a rotation
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
    """Base of all errors that uavsim raises on purpose; the message is one line with the remedy."""

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
    """A simulator is missing, has another version, or refuses a call."""


class SimulatorLost(SimulatorError):
    """A simulator stopped answering."""


class MapMissing(SimulatorError):
    """A simulator does not have the requested town; a retry cannot succeed."""


class MissedTick(SimulatorError):
    """An image or a state does not belong to the requested tick."""


class SceneVoid(SystemFailure):
    """The scene cannot be used as flown; the message is the reason."""


class TrafficStalled(SceneVoid):
    """Too few of the scene's vehicles move; the retry has other traffic (``ScenePlan.traffic_retry``)."""


class StorageError(SystemFailure):
    """The output cannot be written: disk full, read-only, or a folder of another program."""


class DatasetError(UavsimError):
    """A dataset is not valid."""

    exit_code: ClassVar[int] = 4


class FrameError(UavsimError, ValueError):
    """A matrix is not a proper rotation, or a shape is wrong: a defect of uavsim."""
