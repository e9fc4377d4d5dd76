"""The first signal stops the work at any time, with the right exit code."""

import subprocess
import sys

import pytest

_HEAD = "import os, signal, sys\nfrom uavsim.cli.stop import StopSignals\nstop = StopSignals()\nstop.install()\n"
_HEARD = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # the tests themselves may run under nohup
_TAIL = """
except KeyboardInterrupt:
    os.kill(os.getpid(), signal.SIGINT)
    print('in order')
stop.end_with(130)
sys.exit(130)
"""


def _ended(work: str) -> subprocess.CompletedProcess[str]:
    program = f"{_HEARD}{_HEAD}try:\n{work}{_TAIL}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    "work",
    [
        "    os.kill(os.getpid(), signal.SIGTERM); signal.pause()",
        "    os.kill(os.getpid(), signal.SIGHUP); signal.pause()",
        "    exec('os.kill(os.getpid(), signal.SIGINT)'); signal.pause()",  # as in the middle of an import
        "    class Last:\n        def __del__(self): os.kill(os.getpid(), signal.SIGINT); [0 for _ in range(9)]\n"
        "    Last()\n    signal.pause()",  # the interpreter drops exceptions of destructors
    ],
    ids=["SIGTERM", "SIGHUP", "compiled text", "destructor"],
)
def test_a_signal_stops_once_and_what_follows_does_not_disturb(work: str) -> None:
    done = _ended(work)
    assert (done.returncode, done.stdout, done.stderr) == (130, "in order\n", "")


def test_a_signal_after_a_while_of_putting_in_order_ends_at_once() -> None:
    impatient = "import uavsim.cli.stop as module\nmodule._PATIENCE_S = 0.0\n"
    program = f"{impatient}{_HEARD}{_HEAD}try:\n    os.kill(os.getpid(), signal.SIGTERM); signal.pause()\n{_TAIL}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (130, "")


def test_a_signal_after_the_work_leaves_its_exit_code() -> None:
    program = f"{_HEAD}stop.end_with(4)\nos.kill(os.getpid(), signal.SIGINT)\nsignal.pause()\n"
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 4


def test_what_is_ignored_from_the_start_stays_ignored() -> None:
    program = (
        f"import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n{_HEAD}os.kill(os.getpid(), signal.SIGHUP)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0
