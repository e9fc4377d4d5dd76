"""Open every page that uavsim makes in a real browser, wide and as on a phone, and look for what a reader would trip over.

    scripts/trial browser [--viewer-image FILE] [--samples N] [--pages FOLDER]

A small dataset is flown while ``uavsim ui`` is up. Its report, a page of ``uavsim evaluate``, the documentation site with its
search, ``uavsim view --web`` and Prefect's pages with our artifacts are opened in Debian's Chromium, driven by Playwright
(``scripts/setup --browser``). Exit code 1 where a page has an error on its console, asks anybody outside of this machine, or
is wider than a phone. What the pages of others do by themselves is listed in ``KNOWN``, with the reason.
"""

import argparse
import functools
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uavsim
from tools.common import ROOT
from tools.common.program import run_uavsim

CHROMIUM: Final = "/usr/bin/chromium"
ENVIRONMENT: Final = ROOT / ".venv-browser"
WIDE: Final = {"width": 1600, "height": 900}
PHONE: Final = {"width": 390, "height": 844}
DATASET: Final = (
    "--dataset",
    "smoke",
    "--town",
    "Town10HD",
    "--scenes",
    "0-1",
    "--rig",
    "all_sensors",
)
KNOWN: Final = {  # page -> hosts that others' pages ask by themselves, which docs/view.md and docs/operations.md say
    "view": ("fonts.googleapis.com", "app.rerun.io", "tel.rerun.io", "api.github.com"),
    "prefect": ("api.prefect.io", "sens-o-matic.prefect.io", "static-assets.prefect.io"),
}


_KNOWN_ERRORS: Final = r"ERR_FAILED|Failed to fetch|401 \(Unauthorized\)|404 \(Not Found\)|^vO$"
"""On the console of others' pages: what the trial itself refused, a first 401, by which Prefect asks for the key, and a 404 of
what Prefect's page of a run asks its own server for."""


@dataclass(slots=True)
class Look:
    """The findings about one page."""

    name: str
    wrong: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)


class Browser:
    """Opens pages, one after the other, and notes what is wrong with each."""

    def __init__(self, chromium: Any, pages: Path) -> None:
        self._chromium, self._pages = chromium, pages
        self.looks: list[Look] = []

    def open(self, name: str, url: str, *, phone: bool = True, then: Callable[[Any], None] = lambda _: None) -> None:
        """Open a page wide, do ``then`` with it, and open it at a phone's width."""
        look = Look(name)
        self.looks.append(look)
        self._once(look, url, WIDE, then)
        if phone:
            self._once(look, url, PHONE, lambda page: _refuse_overflow(page, look))
        sys.stdout.write(f"{'WRONG' if look.wrong else 'good ':5} {name}: {url}\n")
        for what in dict.fromkeys(look.wrong):
            sys.stdout.write(f"      {what}\n")
        for host in sorted(look.known):
            sys.stdout.write(f"      known: asks {host}\n")
        sys.stdout.flush()

    def _once(self, look: Look, url: str, size: dict[str, int], then: Callable[[Any], None]) -> None:
        page = self._chromium.new_page(viewport=size)
        own = KNOWN.get(look.name.partition(" ")[0], ())

        def asked(route: Any) -> None:
            host = re.sub(r"^\w+://([^/:]*).*$", r"\1", route.request.url)
            if host in {"127.0.0.1", "localhost"} or not route.request.url.startswith("http"):
                route.continue_()
                return
            if host in own:
                look.known.add(host)
            else:
                look.wrong.append(f"asks {route.request.url[:120]}")
            route.abort()

        def said(message: Any) -> None:
            known = own and re.search(_KNOWN_ERRORS, message.text)
            if message.type == "error" and not known:
                look.wrong.append(f"console: {message.text[:200]}")

        page.route("**/*", asked)
        page.on("console", said)
        page.on("pageerror", lambda error: look.wrong.append(f"error: {error}"))
        try:
            page.goto(url, wait_until="load", timeout=120_000)
            then(page)
        except Exception as error:  # noqa: BLE001 - whatever it is, the page is wrong and the next one is opened
            look.wrong.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
        page.screenshot(path=self._pages / f"{look.name.replace(' ', '-')}-{size['width']}.png", timeout=120_000)
        page.close()


def _refuse_overflow(page: Any, look: Look) -> None:
    page.wait_for_timeout(500)
    wide, there = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    if wide > there + 1:
        look.wrong.append(f"{wide} px wide on a phone of {there}")


def main() -> None:
    """Fly, write, serve, look."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--viewer-image", type=Path, help="write docs/viewer.jpg here")
    parser.add_argument("--samples", default="2", help="of each scene: with more of them the viewer shows longer ways")
    parser.add_argument("--pages", type=Path, help="keep an image of each page here")
    options = parser.parse_args()
    if not Path(CHROMIUM).is_file():
        parser.error(f"no {CHROMIUM}, the browser: apt-get install chromium")
    if Path(sys.prefix) != ENVIRONMENT:
        subprocess.run([ROOT / "scripts/setup", "--browser"], check=True)
        python = str(ENVIRONMENT / "bin/python")
        os.execv(python, [python, "-m", "tools.trials.program", "tools.trials.browser", *sys.argv[1:]])
    from playwright.sync_api import sync_playwright

    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="uavsim-browser-")))
        pages = options.pages or work / "pages"
        pages.mkdir(parents=True, exist_ok=True)
        os.environ.update(XDG_DATA_HOME=str(work / "home"))
        play = stack.enter_context(sync_playwright())
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader"]
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=flags)
        stack.callback(chromium.close)
        browser = Browser(chromium, pages)
        prefect, key = stack.enter_context(_serving("ui", "--port", str(_free_port()), cwd=work, lines=2))
        run_uavsim("generate", *DATASET, "--samples", options.samples, "--out", "data", cwd=work)
        run_uavsim("report", "data", "--out", "report.html", cwd=work)
        _evaluate(work)
        browser.open("report", (work / "report.html").as_uri())
        browser.open("evaluate", (work / "scores.html").as_uri())
        site = stack.enter_context(_site())
        browser.open("site", site, then=_search)
        browser.open("reference", f"{site}docs/api.html")
        _prefect(browser, address=prefect.rsplit(" ", 1)[-1].rstrip("/"), key=key.rsplit(" ", 1)[-1])
        ports = ("--port", str(_free_port()), "--web-port", str(_free_port()))
        (said, _) = stack.enter_context(_serving("view", "data", "--web", *ports, cwd=work, lines=2))
        browser.open("view", said.split()[0], phone=False, then=functools.partial(_viewer, image=options.viewer_image))
    wrong = [look.name for look in browser.looks if look.wrong]
    sys.stdout.write(f"{len(browser.looks)} pages, {len(wrong)} wrong{': ' if wrong else ''}{', '.join(wrong)}\n")
    sys.exit(1 if wrong else 0)


def _evaluate(work: Path) -> None:
    """Score the truth against itself: a page with curves."""
    meta = {f"use_{sensor}": sensor == "camera" for sensor in ("camera", "lidar", "radar", "map", "external")}
    results = {
        sample.token: [
            {
                "sample_token": sample.token,
                "translation": pose.tolist(),
                "size": size[[1, 0, 2]].tolist(),
                "rotation": turn.tolist(),
                "velocity": [0.0, 0.0],
                "detection_name": "car",
                "detection_score": 0.5,
                "attribute_name": "vehicle.moving",
            }
            for name, pose, size, turn in zip(
                sample.boxes.categories,
                sample.boxes.map_SE3_box.translation_m,
                sample.boxes.size_lwh_m,
                sample.boxes.map_SE3_box.quat_wxyz,
                strict=True,
            )
            if name == "vehicle.car"
        ]
        for sample in uavsim.open(work / "data").samples()
    }
    (work / "results.json").write_text(json.dumps({"meta": meta, "results": results}))
    words = ("nuscenes-detection", "--truth", "data", "--results", "results.json", "--html", "scores.html")
    run_uavsim("evaluate", *words, cwd=work)


def _search(page: Any) -> None:
    """Find a page by a word, once the site says that it can be searched."""
    page.focus("input[name=query]")
    page.wait_for_selector(".md-search-result__meta:has-text('Type to start searching')", timeout=30_000)
    page.type("input[name=query]", "lockstep")  # by keys, which are what the site listens to
    page.wait_for_selector(".md-search-result__item a", timeout=30_000)


def _prefect(browser: Browser, *, address: str, key: str) -> None:
    """Look at the runs, at one with its scenes as tasks, and at our artifacts, the contact sheet's image among them."""

    def inside(page: Any, links: tuple[str, ...], shown: str) -> None:
        box = page.locator("input[type=password]")
        box.or_(page.locator([*links, shown][0])).first.wait_for(timeout=120_000)
        if box.count():
            box.fill(key)
            box.press("Enter")
        for link in links:
            page.locator(link).first.click(timeout=120_000)
        page.locator(shown).first.wait_for(timeout=120_000)

    for path, links, shown in (
        ("/runs", (), "text=generate"),
        ("/runs", ("a[href*='/runs/flow-run/']", "text=Task Runs"), "text=scene_0001"),
        ("/artifacts", (), "text=contact-sheet"),
        # the list of an artifact's versions: the image is a page further
        ("/artifacts/key/contact-sheet-data", ("a[href*='/artifacts/artifact/']",), "img[src^='data:image/jpeg']"),
    ):
        name = f"prefect {path.rsplit('/', 1)[-1]}{' one' if path == '/runs' and links else ''}"
        browser.open(name, address + path, phone=False, then=functools.partial(inside, links=links, shown=shown))


def _viewer(page: Any, *, image: Path | None) -> None:
    """Wait until the renderer has drawn: two images in a row, of many colours, that are the same."""
    import cv2
    import numpy as np

    last = b""
    for _ in range(40):
        page.wait_for_timeout(3_000)
        now = page.screenshot(timeout=120_000)
        pixels = cv2.imdecode(np.frombuffer(now, np.uint8), cv2.IMREAD_COLOR)
        assert pixels is not None, "a screenshot is a PNG"
        town = pixels[100:800, 50:850]
        if now == last and len(np.unique(town.reshape(-1, 3), axis=0)) > 5_000:
            break
        last = now
    else:
        raise TimeoutError("the renderer drew no town in two minutes")
    if image is not None:
        cv2.imwrite(str(image), pixels, [cv2.IMWRITE_JPEG_QUALITY, 88])


@contextmanager
def _serving(*words: str, cwd: Path, lines: int) -> Iterator[list[str]]:
    """Run a command that serves; yield the first lines that it prints; end it as Ctrl-C does, and see that it ends well."""
    command = [sys.executable, "-m", "uavsim", *words]
    process = subprocess.Popen(command, cwd=cwd, text=True, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield [process.stdout.readline().strip() for _ in range(lines)]
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(60)
        process.stdout.close()
    if code:
        sys.exit(f"uavsim {' '.join(words)} ended with {code}")


@contextmanager
def _site() -> Iterator[str]:
    subprocess.run([ROOT / "scripts/docs"], check=True)
    handler = functools.partial(_Quiet, directory=str(ROOT / "out/site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of what is asked."""


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
