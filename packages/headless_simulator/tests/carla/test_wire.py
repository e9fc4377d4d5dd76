from headless_simulator.carla import wire


def test_sizes_of_structs():
    sizes = [
        d.itemsize for d in (wire.ACTOR_STATE, wire.VEHICLE_DATA, wire.LIGHT_DATA, wire.WALKER_DATA, wire.SIGN_DATA)
    ]

    assert sizes == [119, 54, 54, 54, 54]
    fields = wire.VEHICLE_DATA.fields
    assert fields is not None
    assert (fields["limit"][1], fields["tl_id"][1]) == (19, 25)
    assert (wire.TOKEN.size, wire.SENSOR_HEADER.size, wire.IMAGE_HEADER.size, wire.EPISODE_HEADER.size) == (
        24,
        48,
        12,
        36,
    )
