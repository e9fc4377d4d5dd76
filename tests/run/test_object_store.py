"""Equal scenes in a folder and in a real S3 server give equal datasets."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.run.test_stages import run_all
from tools.common.leftovers import contents
from uavsim.run.overview import overview
from uavsim.run.request import Request
from uavsim.store.places import open_output

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
Paper = Callable[..., Request]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir("paper")
    yield "paper"
    server.stop()


def test_bucket_and_folder_hold_the_same(paper: Paper, bucket: str, tmp_path: Path) -> None:
    url = f"s3://{bucket}/sets/tiny"
    request = paper(scenes="2", faults={"scene_00": ["die"]})
    request = request.model_copy(
        update={"out": url, "run": request.run.model_copy(update={"scratch": tmp_path / "scratch"})}
    )
    assert [o.state for o in run_all(request)] == ["committed"] * 2
    run_all(paper(scenes="2", out=tmp_path / "folder"))
    output = open_output(url, scratch=tmp_path / "scratch")
    notes = (".uavsim/asked", ".uavsim/ledger", ".uavsim/recordings", ".uavsim/logs", ".uavsim/manifests")
    stored = {
        key: hashlib.sha256(output.read(key) or b"").hexdigest() for key in output.keys("") if not key.startswith(notes)
    }
    assert stored == contents(tmp_path / "folder")
    assert [e.scene for e in overview(url, scratch=tmp_path / "scratch").committed] == ["scene_00", "scene_01"]
    assert [o.state for o in run_all(request)] == ["committed"] * 2  # nothing is flown again
