"""Result of a process that holds libcarla: one line of JSON, then a hard exit."""

import json
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from uavsim.errors import UavsimError
from uavsim.typing import JsonDict


def answer_in_one_line(measure: Callable[[], JsonDict]) -> NoReturn:
    """Print the result of ``measure``, or ``{"error": ...}`` with that error's exit code, and exit."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libcarla prints to standard output
    try:
        answer, code = measure(), 0
    except UavsimError as error:
        answer, code = {"error": str(error)}, error.exit_code
    out.write(json.dumps(answer) + "\n")
    out.flush()
    sys.stderr.flush()
    os._exit(code)  # libcarla's threads may abort or hang a regular interpreter exit
