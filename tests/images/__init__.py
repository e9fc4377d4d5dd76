"""Round trips of codecs, and drawings."""
