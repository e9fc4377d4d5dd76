"""Errors of this package, in one line with a remedy, and with uavsim's exit codes.

UavsimError
`-- BaselineError        2   a file, key, name, dataset or checkpoint does not fit what was asked
    `-- OutOfMemory      3   the machine or the GPU has too little memory for the settings
"""

from typing import ClassVar

from uavsim import UavsimError


class BaselineError(UavsimError):
    """The user's input does not fit."""

    exit_code: ClassVar[int] = 2


class OutOfMemory(BaselineError):
    """Memory is too small for the settings; the message names the ones that help."""

    exit_code: ClassVar[int] = 3
