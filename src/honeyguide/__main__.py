"""`python -m honeyguide`: the same as the command `honeyguide`."""

from honeyguide.cli.main import main

if __name__ == "__main__":
    main()
