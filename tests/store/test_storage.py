"""A dataset in a real S3 server on this machine."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.store.test_local import stage
from uavsim.errors import InputError, StorageError
from uavsim.store import storage
from uavsim.store.commit import commit_scene, read_fragment, sweep_orphans
from uavsim.store.identity import check_identity, claim_output
from uavsim.store.ledger import LedgerEntry, read_entry, read_ledger, write_entry
from uavsim.store.places import open_output
from uavsim.store.storage import ObjectOutput

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def output(
    s3_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> ObjectOutput:
    import s3fs

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()
    bucket = f"bucket-{abs(hash(request.node.name)) % 10**8}"
    s3fs.S3FileSystem().mkdir(bucket)
    opened = open_output(f"s3://{bucket}/data/set", scratch=tmp_path / "scratch")
    assert isinstance(opened, ObjectOutput)
    return opened


def commit(output: ObjectOutput, scene: str) -> None:
    folder, moves = stage(output.scratch, scene)
    entry = LedgerEntry(scene, "flying")
    write_entry(output, entry)
    commit_scene(output, entry, folder=folder, moves=moves, log="log.msgpack", fragment=scene.encode())
    output.drop_staged(folder)


def test_commit_and_read_back(output: ObjectOutput) -> None:
    commit(output, "scene_00")
    assert output.keys("") == [
        ".uavsim/fragments/scene_00.msgpack",
        ".uavsim/ledger/scene_00.json",
        ".uavsim/manifests/scene_00~0.json",
        ".uavsim/recordings/scene_00/log.msgpack",
        "samples/CAMERA_FRONT_id_0/scene_00__CAMERA_FRONT_id_0__0.png",
        "samples/CAMERA_FRONT_id_0/scene_00__CAMERA_FRONT_id_0__1.png",
    ]
    assert output.read("samples/CAMERA_FRONT_id_0/scene_00__CAMERA_FRONT_id_0__1.png") == b"scene_001"
    entry = read_entry(output, "scene_00")
    assert entry is not None
    assert read_fragment(output, entry) == b"scene_00"
    assert read_entry(output, "scene_01") is None
    assert sweep_orphans(output) == []
    assert not any((output.root / ".uavsim/staging").iterdir())


def test_an_entry_that_cannot_be_read_is_not_taken_for_none(
    output: ObjectOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, a throttled request for an entry would cause another flight."""
    for scene in ("scene_00", "scene_01", "scene_02"):
        write_entry(output, LedgerEntry(scene, "flying"))
    assert list(read_ledger(output)) == ["scene_00", "scene_01", "scene_02"]
    file_system = type(output._fs)
    real = file_system._cat_file

    def failing(error: Exception) -> Callable[..., object]:
        async def read(self: object, path: str, **options: object) -> bytes:
            if path.endswith("scene_01.json"):
                raise error
            return bytes(await real(self, path, **options))

        return read

    monkeypatch.setattr(file_system, "_cat_file", failing(FileNotFoundError("removed since it was listed")))
    assert list(read_ledger(output)) == ["scene_00", "scene_02"]
    monkeypatch.setattr(file_system, "_cat_file", failing(OSError("SlowDown")))
    with pytest.raises(StorageError, match=r"cannot read \.uavsim/ledger.*SlowDown"):
        read_ledger(output)


def test_an_upload_cut_short_is_swept(output: ObjectOutput, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(output, "scene_00")
    before = output.keys("")
    for verb in ("adopt", "replace"):
        with monkeypatch.context() as patch:
            real = getattr(ObjectOutput, verb)

            def cut(
                self: ObjectOutput, *args: object, verb: str = verb, real: Callable[..., None] = real, **kwargs: object
            ) -> None:
                if verb == "replace" and not str(args[0]).startswith(".uavsim/manifests"):
                    return real(self, *args, **kwargs)
                real(self, *args, **kwargs)
                raise KeyboardInterrupt

            patch.setattr(ObjectOutput, verb, cut)
            with pytest.raises(KeyboardInterrupt):
                commit(output, "scene_01")
        assert len(output.keys("")) > len(before)
        sweep_orphans(output)
        assert [k for k in output.keys("") if k != ".uavsim/ledger/scene_01.json"] == before


def test_the_first_claim_wins(output: ObjectOutput) -> None:
    claim_output(output, identity={"dataset": "a", "seed": 0, "fingerprint": "1"})
    claim_output(output, identity={"dataset": "a", "seed": 0, "fingerprint": "1"})
    assert not output.create(".uavsim/dataset.json", b"x")
    with pytest.raises(InputError, match="another dataset"):
        check_identity(output, mark="2", name="b")


def test_unreachable_store_is_reported_without_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    store = open_output("s3://nobody/x", scratch=tmp_path)
    with pytest.raises(StorageError, match="check address and credentials") as caught:
        store.read("a")
    assert "hunter2" not in str(caught.value)


def test_waiting_for_a_silent_store_ends_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setattr(storage, "_GRACE_S", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        s3fs.S3FileSystem.clear_instance_cache()
        store = open_output("s3://nobody/x", scratch=tmp_path)
        messages: list[str] = []

        def read() -> None:
            with pytest.raises(StorageError) as caught:
                store.read("a")
            messages.append(str(caught.value))

        thread = threading.Thread(target=read)
        thread.start()
        with silent.accept()[0]:
            store.give_up()
            thread.join(30)
            assert messages == ["s3://nobody/x did not answer before the end of the run"]


@pytest.mark.parametrize("url", ["nosuch://x/y", "https://example.org/x", "s3://"])
def test_addresses_that_cannot_be_written(url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--out"):
        open_output(url, scratch=tmp_path)
