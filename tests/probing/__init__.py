"""What is asked of simulators: by doctor, by conform, by calibrate."""
