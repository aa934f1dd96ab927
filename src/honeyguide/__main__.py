"""`python -m honeyguide`, and the command `honeyguide`: Ctrl-C is a sentence from the first moment on."""

import sys

INTERRUPTED = 130  # what shells expect after Ctrl-C
UNCHANGED = "Stopped by Ctrl-C; files and stores are as they were."


def main(args: list[str] | None = None) -> None:
    """Run the command line; always ends with `SystemExit`."""
    try:
        from honeyguide.cli.main import main as run  # takes a while, and may be interrupted

        run(args)
    except KeyboardInterrupt:
        sys.stderr.write(f"{UNCHANGED}\n")
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()
