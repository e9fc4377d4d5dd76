"""Simulator slots restart after failures; a pool lends them, prefers the loaded town, and gives up failing slots."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.supervise.fake_cards import fake_cards
from uavsim.capture.client_events import ClientReady
from uavsim.config.deadlines import Deadlines
from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.errors import SimulatorLost, UavsimError
from uavsim.supervise import start_watch
from uavsim.supervise.simulator_slot import NoSlotLeft, SimulatorSlot, SlotPool

FAKE = Path(__file__).with_name("fake_client_worker.py")
RUN = RunConfig(deadlines=Deadlines(load_s=30, call_s=30), client_recycle_scenes=2)


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        yield server.getsockname()[1]


def slot(tmp_path: Path, port: int, *, behaviour: str = "good", name: str = "s", mark: bool = False) -> SimulatorSlot:
    words = [sys.executable, str(FAKE), behaviour, *([str(tmp_path / f"{name}-mark")] if mark else [])]
    return SimulatorSlot(
        SimulatorConfig(kind="attach", ports={"carla": port}),
        run=RUN,
        topology="carla",
        name=name,
        logs=tmp_path,
        home=tmp_path / "home",
        command=lambda **_: words,
    )


def fly(one: SimulatorSlot, tmp_path: Path, *, town: str = "Town10HD") -> None:
    plan = tmp_path / "plan.msgpack"
    plan.write_bytes(b"plan")
    one.fly(plan, out=tmp_path / "scene", town=town, on_event=lambda _: None)


def test_the_client_is_kept_and_recycled(tmp_path: Path, port: int) -> None:
    one = slot(tmp_path, port)
    for _ in range(3):
        fly(one, tmp_path)
    assert one.client_starts == 2  # the third scene found a client process that had flown two
    assert one.scenes_flown == 3
    one.close()


def test_after_a_crash_the_next_scene_finds_a_new_client(tmp_path: Path, port: int) -> None:
    one = slot(tmp_path, port, behaviour="segfault", mark=True)
    with pytest.raises(SimulatorLost, match="SIGSEGV"):
        fly(one, tmp_path)
    fly(one, tmp_path)
    assert one.client_starts == 2
    assert one.client_facts is not None
    assert one.client_facts.map_name == "Town10HD"
    one.close()


def of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ensure: Callable[[], dict[str, str]]) -> SimulatorSlot:
    """Return a slot with a simulator started by the run; its client leaves a mark when its worker starts."""
    words = [sys.executable, str(FAKE), "good", str(tmp_path / "client-began")]
    one = SimulatorSlot(
        SimulatorConfig(), run=RUN, topology="carla", name="s", logs=tmp_path, home=tmp_path, command=lambda **_: words
    )
    monkeypatch.setattr(one.simulator, "ensure", ensure)
    return one


def test_a_client_starts_while_its_simulator_comes_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def up_after_the_client() -> dict[str, str]:
        while not (tmp_path / "client-began").exists():
            time.sleep(0.01)
        return {"carla": "127.0.0.1:1"}

    one = of_ours(tmp_path, monkeypatch, up_after_the_client)
    assert one.ready().map_name == "Town10HD"
    one.close()


def test_a_failed_simulator_start_leaves_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never_up() -> dict[str, str]:
        raise SimulatorLost("it died")

    one = of_ours(tmp_path, monkeypatch, never_up)
    with pytest.raises(SimulatorLost, match="it died"):
        one.ready()
    assert one._client is None


def test_a_client_that_was_killed_between_scenes_leaves_no_pipe_open(tmp_path: Path, port: int) -> None:
    one = slot(tmp_path, port)
    before = len(list(Path("/proc/self/fd").iterdir()))
    fly(one, tmp_path)
    assert one._client is not None
    one._client.kill()  # as an interrupt does, from another thread
    fly(one, tmp_path)  # the pipes of the first are closed, not left to the garbage collector: that is a warning
    one.close()
    assert one.client_starts == 2
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_pool_prefers_the_slot_with_the_town_loaded(tmp_path: Path, port: int) -> None:
    slots = [slot(tmp_path, port, name=name) for name in ("a", "b", "c")]
    with SlotPool(slots) as pool:
        slots[0].town, slots[1].town = "Town06", "Town10HD"
        with pool.borrow_ready(town="Town10HD", journal=print) as first:
            assert first.name == "b"
            with pool.borrow_ready(town="Town10HD", journal=print) as second:
                assert second.name == "c"  # one without a town before one that would have to leave its own


def test_a_slot_that_never_comes_up_is_given_up_and_the_last_one_ends_the_run(tmp_path: Path, port: int) -> None:
    events: list[str] = []
    broken, good = slot(tmp_path, port, behaviour="connect@die", name="broken"), slot(tmp_path, port, name="good")
    with SlotPool([broken, good]) as pool:
        with pool.borrow_ready(
            town="Town10HD", journal=lambda event, **facts: events.append(f"{event} {facts['times']}")
        ) as one:
            assert one is good
        assert events == ["slot failed 1", "slot failed 2", "slot failed 3"]
        assert broken.given_up
        good.given_up = True
        pool._free.clear()
        with pytest.raises(NoSlotLeft, match="no simulator is left: the client process ended with code 134"):
            pool._take("Town10HD")


def test_borrowers_wait_for_their_turn(tmp_path: Path, port: int) -> None:
    order: list[str] = []
    with SlotPool([slot(tmp_path, port)]) as pool:
        waiting = threading.Event()

        def second() -> None:
            waiting.set()
            with pool.borrow_ready(town="Town10HD", journal=print):
                order.append("second")

        with pool.borrow_ready(town="Town10HD", journal=print):
            thread = threading.Thread(target=second)
            thread.start()
            waiting.wait(5)
            order.append("first")
        thread.join(20)
    assert order == ["first", "second"]


def test_bringing_up_all_raises_the_first_failure(tmp_path: Path, port: int) -> None:
    pool = SlotPool([slot(tmp_path, port), slot(tmp_path, port, behaviour="connect@version", name="old")])
    with pool, pytest.raises(Exception, match="asked to: version"):
        pool.ready_all()


def test_a_client_that_dies_while_it_connects_is_tried_again(tmp_path: Path, port: int) -> None:
    one, waited = slot(tmp_path, port, behaviour="connect@segfault", mark=True), []
    with SlotPool([one]) as pool:
        pool.ready_all(meanwhile=lambda: waited.append(threading.current_thread()))
        assert waited == [threading.current_thread()]
        assert one.client_starts == 2
        assert one.client_facts is not None


def test_a_client_of_another_version_is_not_tried_again(tmp_path: Path, port: int) -> None:
    one = slot(tmp_path, port, behaviour="connect@version")
    with SlotPool([one]) as pool, pytest.raises(UavsimError, match="asked to: version"):
        pool.ready_all()
    assert one.client_starts == 1


@pytest.mark.parametrize("sent", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.release)])
@pytest.mark.parametrize("to", ["guard", "simulator"])
def test_a_simulator_that_is_killed_or_frozen_before_it_listens_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, sent: signal.Signals
) -> None:
    """The first simulator never announces its ports; the second one does."""
    monkeypatch.setattr(start_watch, "_SILENT_LOOKS", 2)
    said: list[str] = []
    mark = tmp_path / "mark"
    script = "import json, pathlib, time; p = pathlib.Path({0!r}); first = not p.exists(); p.touch(); \
time.sleep(600) if first else print(json.dumps({{'carla': {1}}}), flush=True); time.sleep(600)"
    with socket.create_server(("127.0.0.1", 0), backlog=9) as server:
        one = SimulatorSlot(
            SimulatorConfig(),
            run=RUN,
            topology="carla",
            name="s",
            logs=tmp_path,
            home=tmp_path / "home",
            command=lambda **_: [sys.executable, str(FAKE), "good"],
        )
        words = [sys.executable, "-c", script.format(str(mark), server.getsockname()[1])]
        one.simulator._headless_command = lambda: words  # type: ignore[method-assign]
        with SlotPool([one]) as pool:
            thread = threading.Thread(target=pool.ready_all, kwargs={"say": said.append})
            thread.start()
            while not mark.exists():
                time.sleep(0.02)
            process = one.simulator._process
            assert process is not None
            os.kill(process.pid if to == "guard" else process.child_pid or 0, sent)
            thread.join(60)
            assert not thread.is_alive()
            assert one.client_facts is not None
    assert any(line.endswith("it is started again") for line in said)  # slow starts are reported between
    assert any("stopped (SIGSTOP) for 1 s" in text for text in said) == (sent == signal.SIGSTOP)


def test_a_silent_start_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    monkeypatch.setattr(start_watch, "_SILENT_LOOKS", 2)
    said: list[str] = []
    one = slot(tmp_path, port)
    one.simulator.say = said.append
    with start_watch.watched_start(one.simulator, kill=one.close):
        time.sleep(1.6)
    assert said == ["s: starts, no answer and no output for 1 s so far"]


def test_an_interrupt_while_simulators_start_ends_them_and_leaves_no_thread(tmp_path: Path) -> None:
    deaf = SimulatorConfig(kind="command", command=(sys.executable, "-c", "import time; time.sleep(600)"))
    slots = [
        SimulatorSlot(deaf, run=RUN, topology="carla", name=name, logs=tmp_path, home=tmp_path / name) for name in "ab"
    ]

    def interrupt_when_started() -> None:
        while any(one.simulator.pid is None for one in slots):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt_when_started).start()
    with pytest.raises(KeyboardInterrupt), SlotPool(slots) as pool:
        pool.ready_all()
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("ready-")] == []
    assert [one.simulator.pid for one in slots] == [None, None]


@pytest.mark.parametrize("kind", ["ours", "of others"])
def test_the_end_of_a_run_does_not_wait_for_a_restarting_simulator(
    tmp_path: Path, port: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiling simulator takes minutes, and an attached one may return after its configured time."""
    monkeypatch.setattr(SlotPool, "close", lambda _: None)  # the start ends, not the final cleanup
    deaf = SimulatorConfig(kind="command", command=(sys.executable, "-c", "import time; time.sleep(600)"))
    lost = SimulatorConfig(kind="attach", ports={"carla": port}, ready_s=600.0)
    one = SimulatorSlot(
        deaf if kind == "ours" else lost, run=RUN, topology="carla", name="s", logs=tmp_path, home=tmp_path / "home"
    )
    connection_tried = threading.Event()
    if kind == "of others":  # it was there, and is gone
        one.simulator._answered_before = True

        def refuse(*_: object, **__: object) -> socket.socket:
            connection_tried.set()
            raise ConnectionRefusedError

        monkeypatch.setattr("uavsim.supervise.simulator.socket.create_connection", refuse)
    reasons: list[str] = []
    with SlotPool([one]) as pool:

        def borrow() -> None:
            with pytest.raises(NoSlotLeft) as refused, pool.borrow_ready(town="Town10HD", journal=print):
                pass
            reasons.append(str(refused.value))

        thread = threading.Thread(target=borrow, daemon=True)
        thread.start()
        while not (one.simulator.pid is not None or connection_tried.is_set()):
            time.sleep(0.02)
        pool.interrupt()
        thread.join(30)
    assert reasons == ["the run is ending"]
    assert one.simulator.pid is None


def test_a_client_that_starts_after_the_runs_end_is_ended(tmp_path: Path, port: int) -> None:
    one = slot(tmp_path, port, behaviour="connect@hang")
    start = one.simulator.ensure

    def ended_meanwhile() -> dict[str, str]:
        one.interrupt()
        return start()

    one.simulator.ensure = ended_meanwhile  # type: ignore[method-assign]
    with pytest.raises(SimulatorLost, match="killed by SIG"):  # not: silent for so long
        one.ready()


class _SlowToEnd(SimulatorSlot):
    """A slot that only starts when it is ended, and then ends slowly."""

    def __init__(self, *, name: str, tidying_s: float, tmp_path: Path) -> None:
        super().__init__(SimulatorConfig(), run=RUN, topology="carla", name=name, logs=tmp_path, home=tmp_path)
        self.waits, self.asked_to_end, self.tidying_s = threading.Event(), threading.Event(), tidying_s

    def ready(self) -> ClientReady:
        self.waits.set()
        assert self.asked_to_end.wait(60)
        threading.Event().wait(self.tidying_s)
        raise UavsimError("ended before it was up")

    def close(self) -> None:
        self.asked_to_end.set()


def test_an_interrupt_waits_for_the_slot_that_ends_last(tmp_path: Path) -> None:
    slots = [_SlowToEnd(name=name, tidying_s=s, tmp_path=tmp_path) for name, s in (("a", 1.0), ("b", 0.0))]

    def interrupt_when_waited_for() -> None:
        for one in slots:
            assert one.waits.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt_when_waited_for).start()
    with pytest.raises(KeyboardInterrupt), SlotPool(slots) as pool:
        pool.ready_all()
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("ready-")] == []


def test_a_nearly_full_graphics_card_is_reported_once(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = slot(tmp_path, port)
    fake_cards(tmp_path, monkeypatch, free_mb=9000, used_mb=9000)
    assert one.card_warning() == ""
    fake_cards(tmp_path, monkeypatch, free_mb=900, used_mb=9000)
    assert "900 MB of graphics memory are free" in one.card_warning()
    assert one.card_warning() == ""
