"""The command line: what it refuses is one line, as every other refusal is."""

from __future__ import annotations

import pytest
from headless_simulator.cli import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--carla-port", "99999"], "argument --carla-port: 99999: a port is between 0 and 65534"),
        (["--rendr", "full"], "unrecognized arguments: --rendr full"),
        (["--town", "Atlantis"], "Atlantis"),
    ],
)
def test_a_refusal_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    (line,) = [line for line in capsys.readouterr().err.splitlines() if "compil" not in line]
    assert ended.value.code == 2
    assert line.startswith("headless-simulator: ")
    assert said in line
