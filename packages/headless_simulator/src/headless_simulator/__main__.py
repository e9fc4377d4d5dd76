"""``python -m headless_simulator``."""

from headless_simulator.cli import main

if __name__ == "__main__":
    main()
