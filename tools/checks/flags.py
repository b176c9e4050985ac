#!/usr/bin/env python3
"""Every flag that a message or a page names exists.

    tools/checks/flags.py GRAPEVINE      the built program

Its own help texts say which flags there are, and the sources which other names some have, so that
this is no second list. Looked at: string literals of the sources, README.md and docs/.
"""
import pathlib
import re
import subprocess
import sys

# Flags of other programs that the pages name: Bazel's, Slurm's, Open MPI's,
# Podman's and TensorBoard's, and our scripts'.
OTHERS = {"config", "jobs", "ntasks-per-node", "cpus-per-task", "requeue", "signal", "cifar10",
          "seconds", "attempts", "patience", "prefix", "destdir", "program", "library", "uninstall", "test",
          "logdir", "full", "rm", "system-libraries", "redirects", "standalone", "tee",
          "allow-run-as-root", "oversubscribe", "mca", "enable-recovery", "bind-to"}

# Not what a name is put together from: "--no-".
FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![\w-])")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
FOLDERS = ["algorithm", "base", "cli", "experiment", "kernels", "model", "node", "optim", "random", "report", "run",
           "sim", "system", "topology"]


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "--", *patterns], check=True,
                            capture_output=True, text=True)
    return listed.stdout.split()


def help_text(program, *command):
    return subprocess.run([program, *command, "--help=all"], check=True, capture_output=True,
                          text=True).stdout


def flags_of(program):
    """The flags of all commands."""
    top = help_text(program)
    commands = re.findall(r"^  ([a-z]+) ", top[top.index("Commands:"):], re.M)
    texts = [top] + [help_text(program, command) for command in commands]
    return {flag for text in texts for flag in FLAG.findall(text)}


def aliases():
    """Names that are accepted and shown in no help: of flags of settings, and of commands' own."""
    settings = re.findall(r'\balias: "([a-z_]+)"', pathlib.Path("run/config/config.proto").read_text())
    own = [name for path in tracked("cli/*.cc")
           for found in re.findall(r"\.aliases = \{([^}]*)\}", pathlib.Path(path).read_text())
           for name in FLAG.findall(found)]
    return {name.replace("_", "-") for name in settings} | set(own)


def messages(line):
    """What a line of C++ may say to a user: its literals, not its comment."""
    for literal in LITERAL.finditer(line):
        if "//" not in LITERAL.sub("", line[:literal.start()]):
            yield literal.group()


def unknown(path, known):
    """(line, flag) of the flags in a file that do not exist."""
    source = not path.endswith(".md")
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        for text in messages(line) if source else [line]:
            for flag in FLAG.findall(text):
                if flag not in known and (source or flag not in OTHERS):
                    yield number, flag


def main(program):
    known = flags_of(program) | aliases()
    paths = tracked(*[f"{folder}/*.{ending}" for folder in FOLDERS for ending in ("h", "cc")],
                    "README.md", "docs/*.md")
    wrong = [f"{path}:{number}: there is no --{flag}"
             for path in paths for number, flag in unknown(path, known)]
    print("\n".join(wrong) or f"{len(known)} flags, {len(paths)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
