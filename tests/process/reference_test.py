"""Manual pages and completion, as the program prints them and as man and the shells read them."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.path.join(os.environ.get("TEST_SRCDIR", "."), os.environ.get("TEST_WORKSPACE", "."),
                       "grapevine")
PATIENCE = 60  # seconds, on a busy machine


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)


def printed(*arguments):
    ended = run(PROGRAM, *arguments)
    if ended.returncode != 0:
        raise AssertionError(ended.stderr)
    return ended.stdout


def commands():
    listed = printed("--help").split("Commands:")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z]+) ", listed, re.M)


class ManualTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def pages(self):
        printed("manual", f"--all={self.folder}/man1")
        return sorted((self.folder / "man1").iterdir())

    def test_every_command_has_a_page(self):
        self.assertIn("train", commands())
        names = ["grapevine.1"] + [f"grapevine-{command}.1" for command in commands()]
        self.assertEqual([page.name for page in self.pages()], sorted(names))

    def test_mandoc_and_groff_have_no_complaint(self):
        for page in self.pages():
            lint = run("mandoc", "-Tlint", str(page)).stdout
            # Outside a git checkout there is no date to give.
            self.assertEqual([line for line in lint.splitlines() if "missing date" not in line], [])
            shown = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page),
                        env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="80"))
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), page)

    def test_a_page_has_every_flag_of_the_help(self):
        for command in commands():
            page = printed("manual", command).replace("\\-", "-")
            flags = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", printed(command, "--help=all"), re.M)
            self.assertIn("--help", flags)
            for flag in flags:
                self.assertIn(f"\\fB{flag}\\fR", page)

    def test_the_exit_codes_are_those_of_the_page(self):
        page = (pathlib.Path(PROGRAM).parent / "docs/failures.md").read_text()
        section = page.partition("\n## Exit codes\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| (\d[\d, ]*) \| (.*) \|$", section, re.M)
        self.assertGreater(len(rows), 8)
        help_text = " ".join(printed("--help").split())
        for code, meaning in rows[:-1]:
            plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", meaning).replace("`", "")
            self.assertIn(f" {code} {plain}", help_text)
        for code in rows[-1][0].split(", "):
            self.assertRegex(help_text, rf" {code} SIG")

    def test_what_is_no_command_is_answered_with_the_nearest(self):
        ended = run(PROGRAM, "manual", "trian")
        self.assertEqual(ended.returncode, 2)
        self.assertEqual(ended.stderr,
                         "grapevine manual: unknown command trian; did you mean train?\n")

    def test_a_folder_that_cannot_be_written_is_named(self):
        (self.folder / "file").touch()
        ended = run(PROGRAM, "manual", f"--all={self.folder}/file")
        self.assertEqual(ended.returncode, 4)
        self.assertIn(f"{self.folder}/file", ended.stderr)


class JsonTest(unittest.TestCase):

    def test_it_has_every_command_with_every_flag_and_all_that_is_registered(self):
        reference = json.loads(printed("manual", "--json"))
        self.assertEqual([command["name"] for command in reference["commands"]], commands())
        for command in reference["commands"]:
            flags = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", printed(command["name"], "--help=all"), re.M)
            described = [name for flag in command["flags"] for name in flag["names"]]
            self.assertEqual([flag for flag in flags if flag not in described], [])
        registered = json.loads(printed("version", "--json"))["registered"]
        self.assertEqual(list(reference["registered"]), list(registered))
        for kind, words in registered.items():
            names = {word.split(":")[0] for word in words}
            self.assertEqual({entry["name"] for entry in reference["registered"][kind]} - names,
                             set(), kind)
            self.assertTrue(all(entry["help"] for entry in reference["registered"][kind]))

    def test_one_command_alone_has_none(self):
        ended = run(PROGRAM, "manual", "--json", "train")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--json excludes COMMAND", ended.stderr)


class VersionTest(unittest.TestCase):

    def test_json_has_parts_and_names(self):
        version = json.loads(printed("version", "--json"))
        self.assertTrue(version["version"])
        for part in ("revision", "compiler", "build", "onednn", "grpc", "protobuf"):
            self.assertRegex(version[part], r"\w", part)
        self.assertIn("cpu", version["backends"])
        self.assertEqual("cuda" in version["backends"], version["cuda"] is not None)
        self.assertIn("dpsgd", version["registered"]["algorithm"])
        self.assertIn("file:PATH", version["registered"]["topology"])


class Terminal:
    """A shell as a user has it, with the completion loaded."""

    def __init__(self, command, setup, folder):
        environment = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(folder), "TERM": "dumb",
                       "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null"}
        # Zsh takes a = or / that it has added back when the line ends there.
        self.drops_ends = command[0] == "zsh"
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.text = ""
        self.type(setup + "; echo set''up\n")
        self.await_text("setup")

    def type(self, text):
        os.write(self.descriptor, text.encode())

    def await_text(self, text):
        """Returns all that came since the last call, which has `text` in it."""
        end = time.monotonic() + PATIENCE
        while text not in self.text:
            ready, _, _ = select.select([self.descriptor], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {text!r} in {self.text!r}")
            self.text += os.read(self.descriptor, 65536).decode(errors="replace")
        seen, self.text = self.text, ""
        return seen

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)


class CompletionTest(unittest.TestCase):
    """Both shells, by what their users see."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        # What is completed is run, and says its arguments.
        program = self.folder / "bin/grapevine"
        program.write_text("#!/bin/sh\nprintf 'got'\nprintf '<%s>' \"$@\"\necho .\n")
        program.chmod(0o755)
        (self.folder / "runs/ring").mkdir(parents=True)
        (self.folder / "settings.textproto").touch()
        (self.folder / "bash").write_text(printed("completion", "bash"))
        (self.folder / "_grapevine").write_text(printed("completion", "zsh"))

    def terminal(self, shell):
        if shell == "bash":
            command = ["bash", "--norc", "--noprofile", "-i"]
            setup = "bind 'set enable-bracketed-paste off'; PS1='$ '; source ./bash"
        else:
            command = ["zsh", "-f", "-i"]
            setup = ("PS1='$ '; unsetopt zle_bracketed_paste; fpath=($PWD $fpath); "
                     "autoload -Uz compinit; compinit -D -u")
        terminal = Terminal(command, setup, self.folder)
        self.addCleanup(terminal.close)
        return terminal

    def completes(self, terminal, typed, *arguments):
        terminal.type(f"{typed}\t\n")
        if terminal.drops_ends:
            arguments = [*arguments[:-1], arguments[-1].rstrip("=/")]
        expected = "got" + "".join(f"<{argument}>" for argument in arguments) + "."
        try:
            terminal.await_text(expected)
        except AssertionError as error:
            raise AssertionError(f"{typed!r}: {error}") from error

    def offers(self, terminal, typed, *words):
        """Tab, twice in bash, lists the words, in columns; then the line is given up."""
        terminal.type(f"{typed}\t\t")
        seen = ""
        for word in words:
            if word not in seen:
                seen += terminal.await_text(word)
        terminal.type("\x15echo an''other\n")
        terminal.await_text("another")

    def cases(self, terminal):
        for typed, arguments in (
                ("grapevine tra", ["train"]),
                ("grapevine train --topolo", ["train", "--topology="]),
                ("grapevine train --topology=hyp", ["train", "--topology=hypercube"]),
                ("grapevine train --topology hyp", ["train", "--topology", "hypercube"]),
                ("grapevine sim --topology=ring,hyp", ["sim", "--topology=ring,hypercube"]),
                ("grapevine train --algorithm=dps", ["train", "--algorithm=dpsgd"]),
                ("grapevine train --optimizer=nest", ["train", "--optimizer=nesterov"]),
                ("grapevine train --model=resnet2", ["train", "--model=resnet20"]),
                ("grapevine train --log-level=war", ["train", "--log-level=warning"]),
                ("grapevine train --data=mni", ["train", "--data=mnist:"]),
                ("grapevine train --data=mnist:run", ["train", "--data=mnist:runs/"]),
                ("grapevine train --config=sett", ["train", "--config=settings.textproto"]),
                ("grapevine train --config sett", ["train", "--config", "settings.textproto"]),
                ("grapevine train -n 4 --overw", ["train", "-n", "4", "--overwrite"]),
                ("grapevine train --no-overw", ["train", "--no-overwrite"]),
                ("grapevine plot runs/ri", ["plot", "runs/ring/"]),
                ("grapevine plot --kind=winner-", ["plot", "--kind=winner-target"]),
                ("grapevine compare --format mark", ["compare", "--format", "markdown"]),
                ("grapevine manual topo", ["manual", "topology"]),
                ("grapevine completion z", ["completion", "zsh"])):
            with self.subTest(typed=typed):
                self.completes(terminal, typed, *arguments)
        self.offers(terminal, "grapevine ", "compare", "eval", "train")
        self.offers(terminal, "grapevine topology --format=", "dot", "edges", "graphml")

    def test_bash(self):
        self.assertEqual(run("bash", "-n", str(self.folder / "bash")).stderr, "")
        self.cases(self.terminal("bash"))

    def test_bash_where_equals_signs_break_no_words(self):
        terminal = self.terminal("bash")
        terminal.type("COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]/}\n")
        self.cases(terminal)

    def test_bash_with_nothing_to_complete(self):
        terminal = self.terminal("bash")
        for typed, arguments in (("grapevine train --topology=no", ["train", "--topology=no"]),
                                 ("grapevine nothing", ["nothing"]),
                                 ("grapevine train --rounds=1", ["train", "--rounds=1"])):
            self.completes(terminal, typed, *arguments)

    def test_zsh(self):
        self.assertEqual(run("zsh", "-n", str(self.folder / "_grapevine")).stderr, "")
        self.cases(self.terminal("zsh"))


if __name__ == "__main__":
    unittest.main()
