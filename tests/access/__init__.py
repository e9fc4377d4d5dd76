"""What ``uavsim.open`` gives: arrays held against masks, both dialects, datasets of others."""
