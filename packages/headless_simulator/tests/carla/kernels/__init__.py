"""Methods by the room that defines them, called by the real client."""
