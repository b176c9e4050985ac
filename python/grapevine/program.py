"""The program `grapevine` of a wheel: pip makes a command of main()."""

import os
import pathlib
import sys


def main():
    """Becomes the program, with this process's arguments."""
    program = pathlib.Path(__file__).resolve().parent / "bin" / "grapevine"
    try:
        os.execv(program, ["grapevine", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"grapevine: {program}: {error.strerror}; install the wheel again")
