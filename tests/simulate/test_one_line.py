"""A measuring process prints one line of JSON, whatever else prints, and ends with the error's code."""

import json
import subprocess
import sys

import pytest

from uavsim.errors import SimulatorError
from uavsim.simulate.one_line import ask_in_one_line


@pytest.mark.parametrize(
    ("measure", "answer", "code"),
    [
        ("lambda: print('noise of a client') or {'facts': 1}", {"facts": 1}, 0),
        ("refuse", {"error": "no CARLA there"}, 3),
    ],
)
def test_answer_is_the_only_line_of_standard_output(measure: str, answer: dict[str, object], code: int) -> None:
    program = f"""
from uavsim.errors import SimulatorError
from uavsim.simulate.one_line import answer_in_one_line
def refuse():
    raise SimulatorError("no CARLA there")
answer_in_one_line({measure})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout) == answer


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ('print(\'{"error": "no CARLA there"}\')', "^no CARLA there$"),
        ("import sys; sys.exit('a library is missing')", "ended without an answer: a library is missing"),
        ("import sys; print('loading'); sys.exit('no answer')", "ended without an answer: no answer"),
        ("import time; time.sleep(60)", "the simulator at h:1 did not answer within 0.5 s"),
    ],
)
def test_a_process_without_an_answer_is_an_error(program: str, message: str) -> None:
    with pytest.raises(SimulatorError, match=message):
        ask_in_one_line(
            [sys.executable, "-I", "-c", program], server="h:1", limit_s=0.5 if "sleep" in program else 30.0
        )
