"""CARLA's protocol, sensors, traffic and recorder, against its own client."""
