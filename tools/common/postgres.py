"""A PostgreSQL server (of Debian) with docker-compose.yml's user and database, for trials."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Final

PASSWORD: Final = "trial"  # of a temporary database
_WHERE: Final = Path("/usr/lib/postgresql")
_USER: Final = ("--username", "prefect", "--host", "127.0.0.1")
_START_S: Final = 100.0


class PostgreSQL:
    """A database server that runs inside a ``with`` block.

    Args:
        work: folder for its log; its data lies in a temporary folder.
        port: of 127.0.0.1.

    Raises:
        RuntimeError: PostgreSQL is not installed or does not start.
    """

    def __init__(self, work: Path, *, port: int = 5432) -> None:
        if not (versions := sorted(_WHERE.glob("*/bin"))):
            raise RuntimeError(f"no PostgreSQL in {_WHERE}: apt-get install postgresql")
        self._binaries, self._log, self._port = versions[-1], work / "postgres.log", port
        self._folder = Path(tempfile.mkdtemp(prefix="uavsim-postgres-", dir="/tmp"))
        self._as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of the database, as Prefect's server takes it."""
        return f"postgresql+asyncpg://prefect:{PASSWORD}@127.0.0.1:{self._port}/prefect"

    def __enter__(self) -> PostgreSQL:
        shutil.chown(self._folder, "postgres", "postgres")
        password = self._folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        made = ["-D", str(self._folder / "data"), "-U", "prefect", f"--pwfile={password}", "--auth=scram-sha-256"]
        subprocess.run([*self._as_user, str(self._binaries / "initdb"), *made], check=True, stdout=subprocess.DEVNULL)
        self.start()
        create = ["psql", *_USER, "--port", str(self._port), "--dbname", "postgres", "-c", "CREATE DATABASE prefect"]
        subprocess.run(create, check=True, env={**os.environ, "PGPASSWORD": PASSWORD}, stdout=subprocess.DEVNULL)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> float:
        """Start the server; returns the seconds until it accepts connections."""
        begun = time.monotonic()
        words = [*self._as_user, str(self._binaries / "postgres"), "-D", str(self._folder / "data")]
        words += ["-k", str(self._folder), "-h", "127.0.0.1", "-p", str(self._port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log)
        ready = [str(self._binaries / "pg_isready"), *_USER, "--port", str(self._port)]
        while subprocess.run(ready, check=False, capture_output=True).returncode:
            if self._process.poll() is not None or time.monotonic() - begun > _START_S:
                raise RuntimeError("PostgreSQL does not start: see postgres.log")
            time.sleep(0.2)
        return time.monotonic() - begun

    def stop(self) -> None:
        """Stop the server at once, with open connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)
        self._process = None
