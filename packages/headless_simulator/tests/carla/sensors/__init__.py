"""What each family of CARLA's sensors sends, without a socket."""
