"""Runs of the command line forked from a process with all imports, which dominate the time of short runs."""

import os
import subprocess
import sys
import time
import traceback
from pathlib import Path


class ForkedRun:
    """One run of the command line; the interface is that of Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout_s: float = 1e9) -> int:
        """Wait for the end, as Popen does.

        Raises:
            TimeoutExpired: the run takes longer.
        """
        end = time.monotonic() + timeout_s
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("run", timeout_s)
            time.sleep(0.01)
        return code


class RunForker:
    """Forks runs of the command line, each with ``work`` as its working folder."""

    def __init__(self, work: Path, env: dict[str, str]) -> None:
        os.environ.update(env)
        os.environ["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "CRITICAL"
        self._work = work
        import prefect.context

        import uavsim.cli
        import uavsim.flows.generate  # noqa: F401 - for the children

        prefect.context.refresh_global_settings_context()  # Prefect may have been imported with other variables
        self._main = uavsim.cli.main

    def start(self, arguments: list[str], *, log: Path | None = None) -> ForkedRun:
        """Start one run with output to ``log``, by default ``runs.log``."""
        pid = os.fork()
        if pid:
            return ForkedRun(pid)
        code = 1
        try:
            os.setsid()
            printed = os.open(log or self._work / "runs.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.dup2(printed, 1)
            os.dup2(printed, 2)
            os.chdir(self._work)
            sys.argv = ["uavsim", *arguments]
            self._main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:  # noqa: BLE001 - reported by the child, which ends with code 1
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
