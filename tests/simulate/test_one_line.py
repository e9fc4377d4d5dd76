"""A measuring process prints one line of JSON, whatever else prints, and ends with the error's code."""

import json
import subprocess
import sys

import pytest


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
