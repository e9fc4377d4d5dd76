"""Session -> recording: verify that all sensor data belong to their tick and write them; runs in the client process."""
