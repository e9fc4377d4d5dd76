"""Hiding objects of the town and unloading layers, through the unmodified client."""

import pytest

LOOK = """
world = client.load_world('Town10HD'); synchronous(world)
Label = carla.CityObjectLabel
def looking_at(item, back_m=40.0):
    centre = item.bounding_box.location
    return carla.Transform(centre + carla.Location(z=back_m + item.bounding_box.extent.z), carla.Rotation(pitch=-90))
def pixels(cam, number):
    image = get(cam, world.tick()); a = bgra(image).astype(int)
    return int(((a[..., 1] + 256 * a[..., 0]) == (0x8000 | number & 0x7FFF)).sum())
"""


def test_hidden_object_has_no_pixels_hits_or_box(client) -> None:
    result = client(
        LOOK
        + """
house = max(world.get_environment_objects(Label.Buildings), key=lambda o: o.bounding_box.extent.z)
cam = camera(world, 'camera.instance_segmentation', looking_at(house))
centre = house.bounding_box.location
def ray(): return len([p for p in world.cast_ray(centre + carla.Location(z=300), centre + carla.Location(z=-300))
                       if p.label == Label.Buildings])
def state(): return [pixels(cam, house.id), ray(), len(world.get_level_bbs(Label.Buildings)),
                     len(world.get_environment_objects(Label.Buildings))]
before = state()
world.enable_environment_objects({house.id}, False); hidden = state()
world.enable_environment_objects({house.id}, True); after = state()
world.enable_environment_objects({10**6}, False)  # nothing has that number
done(before=before, hidden=hidden, after=after, later=state())
"""
    )

    pixels, hits, boxes, listed = result["before"]
    assert pixels > 500
    assert hits > 0
    assert result["hidden"] == [0, 0, boxes - 1, listed]
    assert result["after"] == result["later"] == result["before"]


def test_hidden_parked_vehicle_frees_spawn_point(client) -> None:
    result = client(
        LOOK
        + """
parked = next(o for o in world.get_environment_objects(Label.Car))
library = world.get_blueprint_library()
spawn_pose = carla.Transform(parked.transform.location + carla.Location(z=0.5), parked.transform.rotation)
def spawns():
    car = world.try_spawn_actor(library.find('vehicle.tesla.model3'), spawn_pose)
    if car is not None: car.destroy(); world.tick()
    return car is not None
before = spawns()
world.enable_environment_objects({parked.id}, False)
done(before=before, hidden=spawns())
"""
    )

    assert result == {"before": False, "hidden": True}


@pytest.mark.parametrize(
    ("layer", "label"), [("Buildings", "Buildings"), ("Foliage", "Vegetation"), ("ParkedVehicles", "Car")]
)
def test_layer_can_be_unloaded_and_loaded(client, layer: str, label: str) -> None:
    result = client(
        LOOK
        + f"""
layer, label = carla.MapLayer.{layer}, Label.{label}
def counts(): return [len(world.get_environment_objects(l)) for l in (label, Label.Any)]
loaded = counts()
item = max(world.get_environment_objects(label), key=lambda o: o.bounding_box.extent.z)
cam = camera(world, 'camera.instance_segmentation', looking_at(item))
visible_px = [pixels(cam, item.id)]
world.unload_map_layer(layer); without = counts(); visible_px.append(pixels(cam, item.id))
world.load_map_layer(layer); again = counts(); visible_px.append(pixels(cam, item.id))
done(loaded=loaded, without=without, again=again, visible_px=visible_px)
"""
    )

    of_layer, total = result["loaded"]
    assert of_layer > 0
    assert result["without"] == [0, total - of_layer]
    assert result["again"] == result["loaded"]
    assert result["visible_px"][0] > 0
    assert result["visible_px"][1] == 0
    assert result["visible_px"][2] == result["visible_px"][0]


def test_a_town_can_be_loaded_without_its_layers(client) -> None:
    result = client("""
        world = client.load_world('Town10HD', map_layers=carla.MapLayer.NONE); Label = carla.CityObjectLabel
        bare = [len(world.get_environment_objects(l)) for l in (Label.Buildings, Label.Vegetation, Label.Car, Label.Any)]
        synchronous(world)
        world.load_map_layer(carla.MapLayer.Buildings)
        done(bare=bare, built=[len(world.get_environment_objects(l)) for l in (Label.Buildings, Label.Vegetation)])
    """)

    assert result["bare"][:3] == [0, 0, 0]
    assert 0 < result["bare"][3] < 100  # traffic lights belong to no layer
    assert result["built"][0] > 100
    assert result["built"][1] == 0


def test_texture_lasts_until_town_is_reloaded(client) -> None:
    result = client(
        LOOK
        + """
house = max(world.get_environment_objects(Label.Buildings), key=lambda o: o.bounding_box.extent.z)
cam = camera(world, 'camera.rgb', looking_at(house))
def red(): a = bgra(get(cam, world.tick())).astype(float); return float((a[..., 2] > 2 * a[..., 0]).mean())
texture = carla.TextureColor(2, 1)
texture.set(0, 0, carla.Color(255, 0, 0, 255)); texture.set(1, 0, carla.Color(155, 0, 0, 255))
before = red()
world.apply_color_texture_to_object(house.name, carla.MaterialParameter.Normal, texture); normal = red()
world.apply_color_texture_to_objects([house.name, 'Nothing'], carla.MaterialParameter.Diffuse, texture); after = red()
world.enable_environment_objects({house.id}, False); hidden = red()
world.enable_environment_objects({house.id}, True); back = red()
world = client.load_world('Town10HD'); synchronous(world)
cam = camera(world, 'camera.rgb', looking_at(house))
done(before=before, normal=normal, after=after, hidden=hidden, back=back, reloaded=red())
"""
    )

    assert result["before"] == result["normal"] == result["reloaded"]
    assert result["after"] == result["back"] > 4 * result["before"]  # of the roof; walls are in the shade
    assert result["hidden"] <= result["before"]


def test_street_lights(client) -> None:
    result = client(
        LOOK
        + """
manager = world.get_lightmanager(); lights = manager.get_all_lights(carla.LightGroup.Street); lamp = lights[5]
world.set_weather(carla.WeatherParameters.ClearNight); world.tick()
eye = camera(world, 'camera.rgb', carla.Transform(lamp.location + carla.Location(z=12), carla.Rotation(pitch=-90)))
def brightness(): return float(bgra(get(eye, world.tick()))[..., :3].mean())
def after(before):  # the client sends changes from a thread of its own, after a tick
    until(lambda: abs(brightness() - before) > 1); return brightness()
first = brightness()
manager.turn_off(lights); dark = after(first)
manager.turn_on([lamp]); usual = after(dark)
manager.set_intensity([lamp], 2 * lamp.intensity); bright = after(usual)
manager.set_intensity([lamp], lamp.intensity / 2); manager.set_color([lamp], carla.Color(9, 8, 7)); again = after(bright)
fresh = carla.Client('127.0.0.1', int(sys.argv[1])); fresh.set_timeout(20)
state_of = {light.id: light for light in fresh.get_world().get_lightmanager().get_all_lights(carla.LightGroup.NONE)}
state = state_of[lamp.id]
done(count=len(lights), usual=usual, bright=bright, dark=dark, again=again, on=sum(light.is_on for light in state_of.values()),
     colour=[state.color.r, state.color.g, state.color.b], intensity=state.intensity, high=lamp.location.z)
"""
    )

    assert result["count"] > 20
    assert result["dark"] + 3 < result["usual"] < result["bright"] - 3
    assert result["again"] == result["usual"]
    assert result["on"] == 1
    assert result["colour"] == [9, 8, 7]
    assert result["intensity"] == 10_000
    assert 7 < result["high"] < 9
