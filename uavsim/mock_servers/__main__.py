"""``python -m uavsim.mock_servers``."""

from uavsim.mock_servers.cli import main

if __name__ == "__main__":
    main()
