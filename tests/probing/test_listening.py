"""Sockets that other machines can reach are listed; those on loopback are not."""

import os
import socket
import subprocess
import sys

from uavsim.probing.listening import open_to_others

CHILD = "import socket; s = socket.create_server(('0.0.0.0', 0)); print(s.getsockname()[1], flush=True); input()"


def test_a_childs_socket_on_all_addresses_is_named_and_one_on_loopback_is_not() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as near,
        subprocess.Popen(
            [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child,
    ):
        assert child.stdout is not None
        port, near_port = int(child.stdout.readline()), near.getsockname()[1]
        found = open_to_others(os.getpid())
        child.communicate("\n")
    assert [line for line in found if line.endswith(f" at 0.0.0.0:{port}")]
    assert not [line for line in found if line.endswith(f":{near_port}")]
