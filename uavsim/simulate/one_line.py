"""Result of a process that holds libcarla: one line of JSON, then a hard exit."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from uavsim.errors import SimulatorError, UavsimError
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


def ask_in_one_line(command: Sequence[str], *, server: str, limit_s: float) -> JsonDict:
    """Run a process that answers by ``answer_in_one_line``, and return its answer.

    Args:
        command: the command line.
        server: address of the queried simulator, for messages.
        limit_s: time limit of the process.

    Raises:
        SimulatorError: the answer is an error, is missing, or is late.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise SimulatorError(f"the simulator at {server} did not answer within {limit_s:g} s") from error
    try:
        answer: JsonDict = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError) as error:  # nothing, or another text
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise SimulatorError(f"the client process ended without an answer: {last}") from error
    if "error" in answer:
        raise SimulatorError(answer["error"])
    return answer
