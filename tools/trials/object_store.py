"""Write a dataset to an object store with lost connections, delays, throttling, refusals and killed writers.

    scripts/trial object-store [--scenes 4] [--work FOLDER]

An S3 server (moto) runs behind a proxy on 127.0.0.1 that injects the fault of a row. Each row runs ``uavsim generate``
until it completes; after exit code 3 or a kill it starts again with an empty scratch folder, as on a new machine. Exit
code 1 where a run ends otherwise, an object differs from the file in a folder, or an object belongs to no scene.
"""

import argparse
import hashlib
import http.client
import itertools
import logging
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from tools.common import ROOT
from tools.common.leftovers import NOTES, contents, differing
from tools.common.small_dataset import write_plans

BUCKET: Final = "trial"
MOST_RUNS: Final = 6
SLOW_S: Final = 0.3
REFUSALS: Final = {
    "SlowDown": (503, "Please reduce your request rate."),
    "ExpiredToken": (400, "The provided token has expired."),
}


@dataclass
class Faults:
    """The current faults of the proxy.

    Attributes:
        how: name of the row.
        requests: counter of requests in the row.
        is_first_run: whether the row has not restarted.
        stalled: set while an upload is held before the store receives it.
    """

    how: str = "none"
    requests: Any = field(default_factory=itertools.count)
    stalled: threading.Event = field(default_factory=threading.Event)
    is_first_run: bool = True
    done: int = 0

    def begin(self, how: str) -> None:
        """Start a row."""
        self.how, self.requests, self.done = how, itertools.count(1), 0
        self.stalled.clear()

    def refusal(self, number: int) -> str | None:
        """Return the error code for a request, or None."""
        if self.how == "throttled" and number % 3 == 0:
            return "SlowDown"
        if self.is_first_run and number > 40:  # a restart comes later, with new credentials
            return {"throttled for long": "SlowDown", "credentials expire": "ExpiredToken"}.get(self.how)
        return None


def handler(faults: Faults, store: tuple[str, int]) -> type[BaseHTTPRequestHandler]:
    """Return the request handler of the proxy."""

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            number = next(faults.requests)
            if (code := faults.refusal(number)) is not None:
                self._refuse(code)
                return
            if faults.how == "slow":
                time.sleep(SLOW_S)
            lost = faults.how == "connections lost" and number % 5 == 0
            if lost and number % 2:  # before the store receives it; else after
                self.close_connection = True
                return
            if faults.how == "killed in an upload" and self.command == "PUT" and "/samples/" in self.path:
                faults.done += 1
                if faults.done in {9, 60}:
                    faults.stalled.set()
                    time.sleep(30)  # its client is killed
                    self.close_connection = True
                    return
            self._forward(body, lost=lost)

        def _forward(self, body: bytes, *, lost: bool) -> None:
            link = http.client.HTTPConnection(*store, timeout=60)
            link.request(self.command, self.path, body=body or None, headers=dict(self.headers))
            answer = link.getresponse()
            data = answer.read()
            link.close()
            if lost:
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"transfer-encoding", "content-length", "connection"}:
                    self.send_header(name, value)
            length = answer.getheader("Content-Length", "0") if self.command == "HEAD" else str(len(data))
            self.send_header("Content-Length", length)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _refuse(self, code: str) -> None:
            status, text = REFUSALS[code]
            data = f"<Error><Code>{code}</Code><Message>{text}</Message></Error>".encode()
            self.send_response_only(status)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = handle_any

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Proxy


class QuietServer(ThreadingHTTPServer):
    """The proxy's server; connection resets of killed clients are expected."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


class Store:
    """The S3 server, its proxy, and a client that reaches it without the proxy."""

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)

        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.at: tuple[str, int] = self.server.get_host_and_port()
        self.faults = Faults()
        self.proxy = QuietServer(("127.0.0.1", 0), handler(self.faults, self.at))
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()
        self.env = {"AWS_ACCESS_KEY_ID": "trial", "AWS_SECRET_ACCESS_KEY": "trial", "AWS_DEFAULT_REGION": "us-east-1"}
        self.env["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{self.proxy.server_address[1]}"
        os.environ |= self.env | {"AWS_ENDPOINT_URL": f"http://{self.at[0]}:{self.at[1]}"}
        import s3fs

        self.files = s3fs.S3FileSystem(use_listings_cache=False)
        self.files.mkdir(BUCKET)

    def objects(self, prefix: str) -> dict[str, str]:
        """Hash every object below a prefix, without the notes of the run."""
        found = {str(p).removeprefix(f"{BUCKET}/{prefix}/"): p for p in self.files.find(f"{BUCKET}/{prefix}")}
        objects = {n: p for n, p in found.items() if not any(f"/{note}" in f"/{n}" for note in NOTES)}
        return {n: hashlib.sha256(self.files.cat_file(p)).hexdigest() for n, p in objects.items()}

    def half_uploads(self) -> int:
        """Count unfinished multipart uploads."""
        return len(self.files.call_s3("list_multipart_uploads", Bucket=BUCKET).get("Uploads", ()))


def run(words: list[str], env: dict[str, str], log: Path, *, kill_at: Callable[[], bool] | None = None) -> int:
    """Run a command, and kill -9 its process group when ``kill_at`` returns true; returns its exit code."""
    with log.open("ab") as file:
        process = subprocess.Popen(words, env=env, stdout=file, stderr=file, start_new_session=True)
    while process.poll() is None:
        if kill_at is not None and kill_at():
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.05)
    return process.returncode


def row(store: Store, work: Path, plans: Path, how: str, *, expected: dict[str, str]) -> bool:
    """Make the dataset under one fault, and print and return whether the outcome is right."""
    name = how.replace(" ", "-")
    words = [str(ROOT / ".venv/bin/uavsim"), "generate", "--dataset", str(plans), "--out", f"s3://{BUCKET}/{name}"]
    store.faults.begin(how)
    codes: list[int] = []
    begun = time.monotonic()
    while len(codes) < MOST_RUNS and (not codes or codes[-1] in {3, -signal.SIGKILL}):
        machine = {"XDG_CACHE_HOME": str(work / f"{name}-{len(codes)}"), "UAVSIM_PLANS": str(plans.parents[2])}

        def stalled() -> bool:
            held = store.faults.stalled.is_set()
            store.faults.stalled.clear()
            return held

        store.faults.is_first_run = not codes
        codes.append(
            run(
                [*words, "--no-check", "--quiet"],
                os.environ | store.env | machine,
                work / f"{name}.log",
                kill_at=stalled,
            )
        )
    seconds, requests = time.monotonic() - begun, next(store.faults.requests)
    store.faults.begin("none")
    got = store.objects(name)
    differ, half = differing(expected, got), store.half_uploads()
    print(
        f"{how:20s} exit codes {' '.join(map(str, codes))}; {seconds:4.0f} s, {requests} requests; {len(got)} objects, "
        f"{len(differ)} differ{': ' + differ[0] if differ else ''}; {half} half uploads",
        flush=True,
    )
    again = len(codes) > 1
    return (
        codes[-1] == 0
        and not differ
        and not half
        and again == (how in {"credentials expire", "killed in an upload", "throttled for long"})
    )


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=4)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        work = Path(folder)
        plans = write_plans(work, scenes=options.scenes)
        words = [str(ROOT / ".venv/bin/uavsim"), "generate", "--dataset", str(plans), "--out", str(work / "folder")]
        subprocess.run([*words, "--no-check", "--quiet"], cwd=work, check=True)
        expected = contents(work / "folder")
        store = Store()
        rows = (
            "killed in an upload",
            "credentials expire",
            "connections lost",
            "throttled for long",
            "throttled",
            "slow",
            "none",
        )
        held = [row(store, work, plans, how, expected=expected) for how in rows]
    return 0 if all(held) else 1
