"""Wire format of actors."""

from typing import Any

from headless_simulator.carla.attributes import BOOL, STRING
from headless_simulator.carla.streams import Streams
from headless_simulator.world.actors import Actor


def actor_wire(actor: Actor, streams: Streams) -> list[Any]:
    """Encode an actor: [id, parent, description, box, tags, stream token]."""
    text_type = streams.version.first_attribute_type + STRING - BOOL
    description = actor.order.description or [0, actor.blueprint, _default_attributes(actor, text_type)]
    token = streams.token(actor.stream_id) if actor.stream_id else b""
    return [actor.actor_id, actor.parent_id, description, box_wire(actor), bytes([actor.tag]), token]


def box_wire(actor: Actor) -> list[Any]:
    """Encode the bounding box in the actor's frame, metres; for a traffic light, its trigger volume."""
    return [list(actor.offset_m), list(actor.half_m), [0.0, actor.box_yaw_deg, 0.0], actor.actor_id]


def _default_attributes(actor: Actor, text_type: int) -> list[list[Any]]:
    if actor.blueprint == "spectator":
        return [["simulator", text_type, "headless"]]
    return [["role_name", text_type, actor.blueprint.split(".")[0]]]
