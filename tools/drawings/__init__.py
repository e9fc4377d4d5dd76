"""Images of the pages that programs draw: ``frames`` (docs/frames.md) and ``towns`` (the simulator's page of towns)."""
