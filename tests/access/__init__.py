"""What ``uavsim.open`` gives: arrays held against masks, both dialects, data sets of others."""
