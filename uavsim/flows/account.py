"""The account's own Prefect server, ``uavsim ui``: its database stays, so that past runs are there to be looked at.

While it is up, its process holds a lock and its address lies beside it; runs of the account then use it.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from uavsim.environment import data_folder
from uavsim.errors import SystemFailure
from uavsim.files.whole import make_folders, storage_errors, write_whole
from uavsim.flows.client import is_healthy
from uavsim.flows.server import Address, OwnServer

_POLL_S: Final = 0.1
_START_S: Final = 180.0


def home_folder() -> Path:
    """Return where the database lies, the key, and the address while it is up."""
    return data_folder() / "prefect"


def account_address() -> Address | None:
    """Return where the account's server answers; None when it is not up."""
    home = home_folder()
    with contextlib.suppress(OSError), (home / "lock").open("rb") as lock:
        if not _is_held(lock.fileno()):
            return None
        address = Address((home / "address").read_text("utf-8").strip(), home / "key")
        return address if is_healthy(address.api) else None
    return None


@contextlib.contextmanager
def account_server(*, port: int) -> Iterator[tuple[Address, bool]]:
    """Have the account's server up: started here, and ended here, unless another process has it up already.

    Args:
        port: that its pages are to have, if it is free.

    Yields:
        Where it answers, and whether it was started here.

    Raises:
        SystemFailure: it does not come up.
        StorageError: its folder cannot be written.
    """
    home = home_folder()
    with storage_errors(f"write {home}"):
        make_folders([home])
        home.chmod(0o700)
        lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if _is_held(lock, take=True):
            yield _wait_for_other(), False
            return
        (home / "address").unlink(missing_ok=True)
        with OwnServer(home=home, port=port) as server:
            address = server.wait()
            write_whole(home / "address", f"{address.url}\n".encode())
            yield address, True
    finally:
        os.close(lock)


def _is_held(lock: int, *, take: bool = False) -> bool:
    """Return whether another process has the server up."""
    try:
        fcntl.flock(lock, (fcntl.LOCK_EX if take else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _wait_for_other() -> Address:
    end = time.monotonic() + _START_S
    while (address := account_address()) is None:
        if time.monotonic() > end:
            raise SystemFailure(f"another process holds {home_folder()}/lock, but no Prefect server answers there")
        time.sleep(_POLL_S)
    return address
