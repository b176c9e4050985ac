"""What tools/checks/definitions.py makes of small trees and their objects."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                      os.environ.get("TEST_WORKSPACE", "."),
                                      "tools/checks/definitions.py"))


def inside(text):
    return f"namespace grapevine {{\n{text}\n}}  // namespace grapevine\n"


def including(header, text):
    return f'#include "{header}"\n' + inside(text)


READ = inside("int Read(int from);")
# In an unnamed namespace, and in the object all the same.
OWN = "namespace {\n[[gnu::used]] int Own() { return File().Size(); }\n}  // namespace"


class DefinitionsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def check(self, files, leftover=(), made=r".*"):
        """(exit status, lines) of the check over a tree of which each source is compiled.

        The build's actions make the objects that `made` matches.
        """
        for path, text in files.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            if file.suffix == ".cc" and "TEST" not in text:
                self.compile(file)
        for path in leftover:
            (self.root / path).unlink()
        subprocess.run(["git", "add", "-A", "--", ":!built"], cwd=self.root, check=True)
        objects = [path.relative_to(self.root / "built").as_posix()
                   for path in (self.root / "built").rglob("*.o")]
        actions = "".join(f"  Outputs: [bazel-out/k8-opt/bin/{path[:-2]}.d, bazel-out/k8-opt/bin/{path}]\n"
                          for path in objects if re.fullmatch(made, path))
        done = subprocess.run([sys.executable, SCRIPT, "built"], cwd=self.root, input=actions,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def compile(self, source, below=None):
        folder = source.parent.relative_to(below or self.root)
        objects = self.root / "built" / folder / "_objs/library"
        objects.mkdir(parents=True, exist_ok=True)
        subprocess.run(["c++", "-std=c++20", "-I", self.root, "-c", source, "-o",
                        objects / f"{source.stem}.o"], check=True)

    def test_what_one_header_declares_and_one_source_defines(self):
        self.assertEqual(
            self.check({
                "base/read.h": READ + inside("class File {\n public:\n  int Size() { return 1; }\n};"),
                "base/read.cc": including("base/read.h", "int Read(int) { return File().Size(); }"),
                "node/own.cc": including("base/read.h", OWN),
            }), (0, ["1 types, 2 symbols of 2 sources"]))

    def test_a_function_that_two_sources_define(self):
        define = including("base/read.h", "int Read(int from) { return from; }")
        self.assertEqual(
            self.check({"base/read.h": READ, "base/read.cc": define, "node/read.cc": define}),
            (1, ["grapevine::Read(int) is defined by base/read.cc and node/read.cc"]))

    def test_a_source_that_stands_in_for_another(self):
        define = including("base/read.h", "int Read(int from) { return from; }")
        self.assertEqual(
            self.check({"base/read.h": READ, "base/read.cc": define, "node/no_read.cc": define})[0],
            0)

    def test_inline_functions_of_two_headers(self):
        half = inside("inline int Half(int of) { return of / 2; }")
        source = inside("namespace {\n[[gnu::used]] int (*kept)(int) = &Half;\n}  // namespace")
        self.assertEqual(
            self.check({
                "base/half.h": half, "node/half.h": half,
                "base/user.cc": '#include "base/half.h"\n' + source,
                "node/user.cc": '#include "node/half.h"\n' + source,
            }), (1, ["grapevine::Half(int) has two definitions: no header that names it is common "
                     "to base/user.cc and node/user.cc"]))

    def check_together(self, files):
        """check() of sources of base/ that are compiled as one, too, and afterwards."""
        self.check(files)
        together = self.root / "built/base/read_files.cc"
        together.write_text("".join(f'#include "{path}"\n' for path in files
                                    if path.startswith("base/") and path.endswith(".cc")))
        self.compile(together, self.root / "built")
        return self.check({}, made=r".*read_files\.o|node/.*")

    def test_sources_that_are_compiled_together(self):
        files = {
            "base/read.h": READ,
            "base/read.cc": including("base/read.h", "int Read(int from) { return from; }"),
            "base/own.cc": including("base/read.h", "int Own() { return 1; }"),
        }
        own = ("grapevine::Own() is named by no header of base/read_files.cc: put it into an "
               "unnamed namespace")
        self.assertEqual(self.check_together(files), (1, [own]))
        self.assertEqual(
            self.check_together({**files, "node/read.cc": files["base/read.cc"]}),
            (1, [own, "grapevine::Read(int) is defined by base/read_files.cc and node/read.cc"]))

    def test_what_a_source_keeps_for_itself_is_in_an_unnamed_namespace(self):
        self.assertEqual(
            self.check({"base/own.cc": inside("int Own() { return 1; }")}),
            (1, ["grapevine::Own() is named by no header of base/own.cc: put it into an unnamed "
                 "namespace"]))

    def test_two_types_of_one_name(self):
        reader = inside("class LineReader {\n};")
        self.assertEqual(
            self.check({"base/reader.h": reader, "node/lines.cc": reader}),
            (1, ["grapevine::LineReader: base/reader.h:2, node/lines.cc:2"]))

    def check_headers(self, *texts):
        """check() of headers base/0.h, base/1.h, … that nothing includes."""
        headers = {f"base/{place}.h": inside(text) for place, text in enumerate(texts)}
        return self.check({**headers, "base/own.cc": ""})

    def test_types_that_fit_on_one_line(self):
        self.assertEqual(
            self.check_headers(
                "struct Start {};\nenum class Mode { kOn };\nenum Way : int { kUp };",
                "enum class Mode { kOff };\nstruct Start {};\nclass Way {};"),
            (1, ["grapevine::Mode: base/0.h:3, base/1.h:2",
                 "grapevine::Start: base/0.h:2, base/1.h:3",
                 "grapevine::Way: base/0.h:4, base/1.h:4"]))

    def test_forward_declarations_and_specializations_define_no_name(self):
        self.assertEqual(
            self.check_headers(
                "class Reader final : public Base {\n};\nenum class Mode : int {\n};\n"
                "template <typename T>\nstruct SizeOf {\n};",
                "class Reader;\nenum class Mode : int;\nstruct SizeOf<int> {\n};\n"
                "class Reader::State {\n};"),
            (0, ["3 types, 0 symbols of 1 sources"]))

    def test_types_with_attributes(self):
        self.assertEqual(
            self.check_headers("class ABSL_LOCKABLE Mutex {\n};",
                               "class ABSL_LOCKABLE Lock {\n};\nstruct alignas(8) Pair {\n};",
                               "class [[nodiscard]] Mutex {\n};\nstruct Pair {\n};"),
            (1, ["grapevine::Mutex: base/0.h:2, base/2.h:2",
                 "grapevine::Pair: base/1.h:4, base/2.h:4"]))

    def test_aliases_of_two_headers(self):
        self.assertEqual(
            self.check_headers("using Time = int;\ntemplate <typename T>\nusing List = T*;",
                               "using Time = int;\nusing std::size;", "class List {\n};"),
            (1, ["grapevine::List: base/0.h:4, base/2.h:2",
                 "grapevine::Time: base/0.h:2, base/1.h:2"]))

    def test_suites_of_two_tests(self):
        files = {"base/own.cc": "", "tests/a_test.cc": "TEST(Reader, Reads) {}\n"}
        self.assertEqual(self.check({**files, "tests/b_test.cc": "TEST(Reader, Ends) {}\n"})[0], 0)
        self.assertEqual(
            self.check({**files, "tests/b_test.cc": "TEST_F(Reader, Ends) {}\n"}),
            (1, ["tests Reader: tests/a_test.cc, tests/b_test.cc"]))

    def test_objects_of_sources_that_are_gone_do_not_count(self):
        define = including("base/read.h", "int Read(int from) { return from; }")
        self.assertEqual(
            self.check({"base/read.h": READ, "base/read.cc": define, "node/read.cc": define},
                       leftover=["node/read.cc"])[0], 0)

    def test_objects_that_no_action_makes_any_more_do_not_count(self):
        define = including("base/read.h", "int Read(int from) { return from; }")
        files = {"base/read.h": READ, "base/read.cc": define, "node/read.cc": define}
        self.assertEqual(self.check(files)[0], 1)
        self.assertEqual(self.check({}, made=r"base/.*"), (0, ["0 types, 1 symbols of 1 sources"]))

    def test_nothing_was_built(self):
        self.assertEqual(self.check({"base/read.h": READ}),
                         (1, ["no objects below built: bazel build //... makes them"]))


if __name__ == "__main__":
    unittest.main()
