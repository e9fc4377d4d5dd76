"""The detection network of a swarm."""
