"""Usage errors are one line, with exit code 2."""

import pytest

from tests.e2e.command import uavsim


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["check"], "Missing argument 'paths'"),
        (["generate", "--datset", "smoke"], "No such option: --datset"),
        (["generate", "--samples", "x"], "Invalid value for '--samples'"),
        (["generate", "--samples"], "--samples"),
        (["generate", "--town", "Town03,Town04"], "--town Town03 --town Town04"),
        (["plan", "--dataset", "smoke", "--town", "Town03,Town04"], "--town Town03 --town Town04"),
        (["status", "nowhere", "--json", "--watch"], "--watch and --json"),
        (["status", "nowhere", "--bill", "--failed"], "--bill and --failed"),
        (["regenerate", "nowhere", "--failed", "--scenes", "1"], "--failed and --scenes"),
        (["view", "nowhere", "--web", "--port", "99999"], "'--port': Input should be less than or equal to 65535"),
        (["view", "nowhere", "--web", "--web-port", "0"], "'--web-port': Input should be greater than or equal to 1"),
        (
            ["calibrate", "--simulator", "127.0.0.1:2000:99999", "--town", "Town03"],
            "is not HOST:CARLA_PORT:AIRSIM_PORT, with ports of 1 to 65535",
        ),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_2(arguments, words, run):
    code, printed, error = run(*arguments)
    assert (code, printed) == (2, ""), error
    assert error.startswith("error: ")
    assert words in error
    assert error.count("\n") == 1


def test_no_word_at_all_is_a_question_for_help():
    done = uavsim()
    assert (done.returncode, done.stderr) == (0, "")
    groups = ["Make", "Look", "Check", "Label", "Share", "Simulate"]
    places = [done.stdout.index(f"─ {group} ─") for group in groups]
    assert places == sorted(places)


def test_short_and_long_help_are_the_same(run):
    assert run("-h") == run() == run("--help")
    assert run("plan", "-h") == run("plan", "--help")


def test_quiet_stands_before_or_behind_the_command():
    for words in (["-q", "check", "flight_plans/weather"], ["check", "flight_plans/weather", "-q"]):
        done = uavsim(*words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
