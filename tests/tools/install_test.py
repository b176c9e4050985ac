"""What tools/install writes, replaces, refuses and removes; what tools/package takes from files."""

import ast
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(os.environ.get("TEST_SRCDIR", "."),
                    os.environ.get("TEST_WORKSPACE", ".")).absolute()
PROGRAM = ROOT / "grapevine"
LIBRARY = ROOT / "capi/libgrapevine.so"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/packaging"))
import build
import bundled_libraries
import debian_package
import fresh_root
import installation
import python_wheel


def version_in(folder):
    """What the Python package there says, with the library that it finds by itself."""
    said = subprocess.run([sys.executable, "-c", "import grapevine; print(grapevine.version())"],
                          env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
                          capture_output=True, text=True, timeout=100)
    assert said.returncode == 0, said.stderr
    return said.stdout.strip()


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


class InstallTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.prefix = self.folder / "prefix"

    def tool(self, *arguments):
        return subprocess.run([sys.executable, str(ROOT / "tools/install"), *map(str, arguments)],
                              capture_output=True, text=True, timeout=100)

    def install(self, *more):
        ended = self.tool(f"--program={PROGRAM}", f"--prefix={self.prefix}", *more)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def refused(self, code, message, *arguments):
        ended = self.tool(*arguments)
        self.assertEqual(ended.returncode, code, ended.stderr)
        self.assertIn(message, ended.stderr)

    def test_everything_is_where_it_belongs_and_runs(self):
        said = self.install()
        self.assertIn(f"installed {len(files_in(self.prefix)) - 1} files into {self.prefix}", said)
        self.assertIn(f"{self.prefix}/bin is not in PATH", said)
        self.assertLessEqual({"bin/grapevine", "share/man/man1/grapevine.1.gz",
                              "share/man/man1/grapevine-train.1.gz",
                              "share/bash-completion/completions/grapevine",
                              "share/zsh/site-functions/_grapevine",
                              "share/doc/grapevine/README.md"}, files_in(self.prefix))
        tried = subprocess.run(
            ["bash", str(ROOT / "tools/packaging/try_installed")], capture_output=True, text=True,
            timeout=250, env={"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "HOME": str(self.folder)})
        self.assertEqual(tried.returncode, 0, tried.stdout + tried.stderr)

    def test_programs_in_c_and_python_find_the_library(self):
        self.install(f"--library={LIBRARY}")
        self.assertLessEqual({"lib/grapevine/libgrapevine.so.1", "lib/grapevine/libgrapevine.so",
                              "include/grapevine.h", "share/pkgconfig/grapevine.pc",
                              "lib/grapevine/python/grapevine/__init__.py"}, files_in(self.prefix))
        version = (ROOT / "VERSION").read_text().strip()
        self.assertEqual(version_in(self.prefix / "lib/grapevine/python"), version)
        source = self.folder / "version.c"
        source.write_text("#include <grapevine.h>\n#include <stdio.h>\n"
                          "int main(void) { return puts(grapevine_version()) < 0; }\n")
        found = (self.prefix / "share/pkgconfig/grapevine.pc").read_text()
        values = {name: text.replace("${libdir}", f"{self.prefix}/lib/grapevine")
                  .replace("${prefix}", str(self.prefix))
                  for name, text in re.findall(r"^(Cflags|Libs): (.*)$", found, re.M)}
        subprocess.run(["gcc", *values["Cflags"].split(), str(source), "-o",
                        str(self.folder / "version"), *values["Libs"].split()], check=True)
        said = subprocess.run([str(self.folder / "version")], capture_output=True, text=True)
        self.assertEqual(said.stdout, version + "\n")

    def test_a_library_alone_is_not_installed(self):
        self.refused(2, "--library goes with --program", f"--library={LIBRARY}")

    def test_twice_is_as_once_and_nothing_is_left(self):
        other = self.prefix / "share/man/man1/other.1"
        other.parent.mkdir(parents=True)
        other.touch()
        self.install()
        once = files_in(self.prefix)
        self.install()
        self.assertEqual(files_in(self.prefix), once)
        self.assertEqual(self.tool("--uninstall", f"--prefix={self.prefix}").returncode, 0)
        self.assertEqual({str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*")},
                         {"share", "share/man", "share/man/man1", "share/man/man1/other.1"})
        self.refused(1, "share/grapevine/installed is missing", "--uninstall",
                     f"--prefix={self.prefix}")

    def test_what_is_no_longer_there_is_removed(self):
        files = {"bin/grapevine": (b"new", 0o755), "share/doc/grapevine/old.md": (b"old", 0o644)}
        installation.install(files, str(self.prefix))
        del files["share/doc/grapevine/old.md"]
        installation.install(files, str(self.prefix))
        self.assertEqual(files_in(self.prefix), {"bin/grapevine", "share/grapevine/installed"})
        self.assertFalse((self.prefix / "share/doc").exists())

    def test_below_destdir_there_is_no_manifest(self):
        installation.install({"bin/grapevine": (b"", 0o755)}, "/usr", str(self.folder / "stage"))
        self.assertEqual(files_in(self.folder / "stage"), {"usr/bin/grapevine"})

    def test_mistakes_are_named_before_anything_is_built(self):
        self.refused(2, "'here' is no absolute path", "--prefix=here")
        self.refused(2, "unrecognized arguments: --prefx=/x", "--prefx=/x")
        self.refused(2, "--uninstall goes with --prefix alone", "--uninstall", "--program=x")
        self.refused(1, "/no/such/program", "--program=/no/such/program", f"--prefix={self.prefix}")
        (self.folder / "file").touch()
        self.refused(1, f"{self.folder}/file is no folder", f"--prefix={self.folder}/file")
        (self.prefix / "bin/grapevine").mkdir(parents=True)
        self.refused(1, "bin/grapevine is a folder; move it away", f"--prefix={self.prefix}")

    def test_a_prefix_that_cannot_be_written_comes_with_the_remedy(self):
        with self.assertRaisesRegex(installation.InstallError,
                                    "/proc.* cannot be written.*--prefix="):
            # Root may write everywhere but there.
            installation.check_writable(pathlib.Path("/proc/1"), [pathlib.PurePosixPath("x/y")],
                                        may_write=lambda folder: False)

    def test_a_manifest_that_leads_elsewhere_removes_nothing(self):
        manifest = self.prefix / "share/grapevine/installed"
        manifest.parent.mkdir(parents=True)
        victim = self.folder / "victim"
        victim.touch()
        for line in ("../victim", str(victim), "bin/../../victim"):
            manifest.write_text(line + "\n")
            self.refused(1, "is damaged", "--uninstall", f"--prefix={self.prefix}")
        self.assertTrue(victim.exists())


class WheelTest(unittest.TestCase):

    def pack(self, folder, *more):
        packed = subprocess.run([sys.executable, str(ROOT / "tools/wheel"), *more,
                                 f"--library={LIBRARY}", f"--program={PROGRAM}",
                                 f"--out={folder}"],
                                capture_output=True, text=True, timeout=100)
        self.assertEqual(packed.returncode, 0, packed.stderr)
        return pathlib.Path(packed.stdout.strip())

    def test_has_all_that_python_needs_and_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel = self.pack(folder)
            self.assertRegex(wheel.name, r"^grapevine-[0-9.]+-py3-none-manylinux_2_\d+_\w+\.whl$")
            with zipfile.ZipFile(wheel) as files:
                record, = [name for name in files.namelist() if name.endswith("/RECORD")]
                lines = files.read(record).decode().splitlines()
                for line in lines:
                    path, digest, size = line.split(",")
                    if path == record:
                        continue
                    data = files.read(path)
                    self.assertEqual(len(data), int(size), path)
                    expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
                    self.assertEqual(digest, "sha256=" + expected.decode().rstrip("="), path)
                self.assertEqual({line.split(",")[0] for line in lines}, set(files.namelist()))
                self.assertIn("grapevine = grapevine.program:main",
                              files.read(record.replace("RECORD", "entry_points.txt")).decode())
            # pip keeps what may be executed, as unzip does and zipfile does not.
            subprocess.run(["unzip", "-q", str(wheel), "-d", f"{folder}/site"], check=True)
            self.assertEqual(version_in(f"{folder}/site"),
                             (ROOT / "VERSION").read_text().strip())
            said = subprocess.run(
                [sys.executable, "-c", "from grapevine.program import main; main()", "--version"],
                env={"PYTHONPATH": f"{folder}/site"}, check=True, capture_output=True, text=True)
            self.assertIn((ROOT / "VERSION").read_text().strip(), said.stdout)
            self.assert_brings_its_libraries(pathlib.Path(folder).resolve() / "site")

    def assert_brings_its_libraries(self, site):
        """Whatever the loader finds is the wheel's, but for what every Linux has."""
        others = list((site / "grapevine.libs").iterdir())
        self.assertTrue(any(path.name.startswith("libgrpc-") for path in others))
        for library in [site / "grapevine/libgrapevine.so.1", site / "grapevine/bin/grapevine", *others]:
            found = subprocess.run(["ldd", str(library)], check=True, capture_output=True,
                                   text=True).stdout
            self.assertNotIn("not found", found)
            for name, path in re.findall(r"(\S+) => (\S+)", found):
                if not bundled_libraries.SYSTEMS_OWN.fullmatch(name):
                    self.assertEqual(pathlib.Path(path).resolve().parent, site / "grapevine.libs")
        info, = site.glob("*.dist-info")
        self.assertIn("Apache", (info / "licenses/libgrpc29").read_text())

    def test_may_leave_the_libraries_to_debian(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel = self.pack(folder, "--system-libraries")
            self.assertRegex(wheel.name, r"-py3-none-linux_\w+\.whl$")
            with zipfile.ZipFile(wheel) as files:
                libraries = [name for name in files.namelist() if ".so" in name]
                self.assertEqual(libraries, ["grapevine/libgrapevine.so.1"])
                files.extractall(f"{folder}/site")
            self.assertEqual(version_in(f"{folder}/site"),
                             (ROOT / "VERSION").read_text().strip())


class ToolsTest(unittest.TestCase):

    def test_what_they_take_from_modules_is_there(self):
        """Also what nothing else runs here, as it builds."""
        modules = {module.__name__: module for module in
                   (build, bundled_libraries, debian_package, fresh_root, installation, python_wheel)}
        for tool in ("docs", "install", "package", "wheel"):
            names = {(node.value.id, node.attr) for node in
                     ast.walk(ast.parse((ROOT / "tools" / tool).read_text(encoding="utf-8")))
                     if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)}
            self.assertTrue(any(module in modules for module, _ in names), tool)
            for module, name in names:
                if module in modules:
                    self.assertTrue(hasattr(modules[module], name), f"{tool}: {module}.{name}")


class PackageTest(unittest.TestCase):

    def test_the_container_installs_the_package(self):
        text = (ROOT / "deploy/Containerfile").read_text()
        build, last = text.split("FROM ")[1:]
        self.assertIn("RUN tools/package --out=/packages", build)
        self.assertIn("COPY --from=build /packages/ /packages/", last)
        commands = fresh_root.installing_commands(text)
        self.assertEqual([command for command in commands if command not in last], [])
        self.assertEqual(len(commands), last.count("RUN "))

    def test_a_container_file_that_installs_nothing_is_refused(self):
        with self.assertRaisesRegex(installation.InstallError, "does not install the package"):
            fresh_root.installing_commands("FROM a AS b\nRUN apt-get install x.deb\n"
                                           "FROM c\nRUN d\n")

    def test_lines_that_go_on_are_one_command(self):
        text = "FROM c\nRUN apt-get install \\\n  x.deb\n"
        self.assertEqual(fresh_root.installing_commands(text), ["apt-get install    x.deb"])

    def test_descriptions_and_versions_are_as_debian_wants_them(self):
        self.assertEqual(debian_package.debian_version("0.2.0-rc1"), "0.2.0~rc1")
        self.assertEqual(debian_package.wrapped("one\n\ntwo"), " one\n .\n two")


if __name__ == "__main__":
    unittest.main()
