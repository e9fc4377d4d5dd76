"""The network: images of many drones to the head's maps of one of them."""
