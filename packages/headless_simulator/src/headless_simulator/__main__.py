"""``python -m headless_simulator``."""

if __name__ == "__main__":
    from headless_simulator.memory import collect_seldom

    collect_seldom()  # before most of what is imported, of which nothing is dropped
    from headless_simulator.cli import main

    main()
