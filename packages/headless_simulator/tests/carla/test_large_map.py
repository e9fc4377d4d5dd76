"""A large map through the unmodified client: one road of 3.4 km along x, tiles of 2 km."""

from pathlib import Path

from headless_simulator.testing import running_simulator

from tests.carla.conftest import run_client

ROAD = """<OpenDRIVE><header revMajor="1" revMinor="4"/><road name="" length="3400" id="1" junction="-1">
<planView><geometry s="0" x="0" y="-2" hdg="0" length="3400"><line/></geometry></planView>
<lanes><laneSection s="0"><center><lane id="0" type="none"/></center><right><lane id="-1" type="driving">
<width sOffset="0" a="4" b="0" c="0" d="0"/></lane></right></laneSection></lanes></road></OpenDRIVE>"""


def test_tiles_dormant_actors_and_headers_from_a_moving_origin(tmp_path: Path) -> None:
    file = tmp_path / "Long.xodr"
    file.write_text(ROAD)

    with running_simulator("--xodr", str(file), "--no-airsim", "--behaviour", "large-map=streamed") as simulator:
        assert simulator.airsim_port == 0
        result = run_client(
            simulator.carla_port,
            """
            world = client.get_world(); synchronous(world)
            s = world.get_settings(); s.tile_stream_distance = 500; s.actor_active_distance = 400; world.apply_settings(s)
            world.get_spectator().set_transform(carla.Transform(carla.Location(2450, 1, 60)))
            car = world.get_blueprint_library().find('vehicle.tesla.model3')
            cars = [world.spawn_actor(car, carla.Transform(carla.Location(x, 4, 0.5))) for x in (2400, 3000)]
            down = carla.Transform(carla.Location(2000, 4, 30), carla.Rotation(-90, 0, 0))
            eye = camera(world, 'camera.semantic_segmentation', down)
            world.tick(); first = get(eye, world.tick())
            world.get_spectator().set_transform(carla.Transform(carla.Location(2550, 1, 60)))
            image = get(eye, world.tick())
            halves = [sorted(set(bgra(i)[rows, :, 2].ravel().tolist()))
                      for i in (first, image) for rows in (slice(0, 40), slice(50, 90))]
            locations = [image.transform.location, eye.get_transform().location]
            done(asleep=[c.is_dormant for c in cars], halves=halves, locations=[[p.x, p.y, p.z] for p in locations])
            """,
        )

    header, snapshot = result["locations"]
    assert result["asleep"] == [False, True]
    assert header == [-1000, -996, 30]  # the spectator's tile has its middle at (3000, 1000)
    assert snapshot == [2000, 4, 30]
    first, after = result["halves"][:2], result["halves"][2:]
    assert 1 in first[0]  # road
    assert 1 in first[1]
    assert 1 in after[0]
    assert 1 not in after[1]  # behind 2000 m is another tile, more than 500 m from the spectator
