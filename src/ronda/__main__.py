"""`python -m ronda` is `ronda`."""

from ronda.cli import main

if __name__ == "__main__":
    main()
