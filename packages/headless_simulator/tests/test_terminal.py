import pytest
from headless_simulator.terminal import note, note_bug


def test_every_line_names_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    note("hello")

    assert capsys.readouterr().err == "headless-simulator: hello\n"


def test_bug_is_printed_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        dict[str, int]()["key"]
    except KeyError as bug:
        note_bug("tick 3", bug)

    first, *rest = capsys.readouterr().err.splitlines()
    assert first == "headless-simulator: internal error in tick 3"
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "KeyError: 'key'"
