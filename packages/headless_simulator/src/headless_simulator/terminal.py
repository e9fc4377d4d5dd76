"""Log lines on stderr."""

import sys
import traceback
from typing import Final

PREFIX: Final = "headless-simulator: "


def note(text: str) -> None:
    """Write one line."""
    sys.stderr.write(f"{PREFIX}{text}\n")
    sys.stderr.flush()


def note_bug(where: str, bug: BaseException) -> None:
    """Write an unexpected exception with its traceback in one write."""
    note(f"internal error in {where}\n{''.join(traceback.format_exception(bug)).rstrip()}")
