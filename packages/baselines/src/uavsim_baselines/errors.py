"""Errors of this package, in one line with a remedy, and with uavsim's exit codes.

UavsimError
`-- BaselineError        2   a file, key, name, dataset or checkpoint does not fit what was asked
    `-- OutOfMemory      3   the machine or the GPU has too little memory for the settings
"""

from typing import ClassVar

from uavsim import UavsimError


class BaselineError(UavsimError):
    """The user's input is invalid."""

    exit_code: ClassVar[int] = 2


class OutOfMemory(BaselineError):
    """Memory is too small; the message names settings that reduce it."""

    exit_code: ClassVar[int] = 3
