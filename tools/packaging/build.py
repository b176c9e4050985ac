"""Building the program that is installed or packed."""
import os
import signal
import subprocess
import sys

from installation import SOURCE, InstallError


def end_as_asked():
    """Ctrl-C and SIGTERM end the tool after it has tidied up, which a second one does not end."""
    signals = (signal.SIGINT, signal.SIGTERM)

    def end(number, _):
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)
    for each in signals:
        signal.signal(each, end)


def run_to_end(command):
    """Its exit status. Where this process is told to end, so is the command, which tidies up."""
    child = subprocess.Popen(command, cwd=SOURCE)
    try:
        return child.wait()
    except BaseException:
        child.terminate()
        child.wait()
        raise


def succeed(*command):
    if run_to_end(command) != 0:
        raise InstallError(f"{' '.join(command)} failed (above)")


def install_packages(*lists):
    """What the build needs, and what further lists in tools/ name."""
    succeed("tools/install_packages", *lists)


def built(arguments, *targets):
    """Builds targets of Bazel, with further arguments for it, and returns their paths."""
    install_packages()
    succeed("bazel", "build", "--jobs=2", *arguments, *targets)
    # Where this build put it: the link bazel-bin may show another configuration's.
    binaries = subprocess.run(["bazel", "info", *arguments, "bazel-bin"], cwd=SOURCE, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [os.path.join(binaries.strip(), target.lstrip("/").replace(":", "/").lstrip("/"))
            for target in targets]


def built_programs(arguments):
    """The program and the library."""
    return built(arguments, "//:grapevine", "//capi:libgrapevine.so")
