"""cc_test and its libraries, whose files begin with what all tests include, parsed once."""

load("@rules_cc//cc:defs.bzl", "cc_library", _cc_test = "cc_test")
load("//third_party:cc_library.bzl", "GRPC_COPTS")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps", "prefix_select")

def _compiled_together(name, files):
    """One file that includes these: what they share is compiled once, in half the time."""
    together = name + "_files"
    includes = ["#include \"%s/%s\"\n" % (native.package_name(), file) for file in files]
    native.genrule(
        name = together,
        testonly = True,
        outs = [together + ".cc"],
        cmd = "cat > $@ <<'END'\n%sEND" % "".join(includes),
        tags = ["manual"],
    )
    included = together + "_included"
    cc_library(
        name = included,
        testonly = True,
        textual_hdrs = files,
        tags = ["manual"],
    )
    return together, included

def _prefixed(rule, name, srcs, deps, copts, prefix, apart, **kwargs):
    file = "tests/testing/%stest_prefix" % (prefix + "_" if prefix else "")
    if prefix == "grpc":
        copts = copts + GRPC_COPTS
    files = [src for src in srcs if src.endswith(".cc")] if type(srcs) == "list" else []
    if len(files) > 1 and not apart:
        others = [src for src in srcs if src not in files]
        together, included = _compiled_together(name, files)
        srcs = others + prefix_select([together], files)
        deps = deps + prefix_select([included], [])
    rule(
        name = name,
        srcs = srcs,
        copts = copts + prefix_copts(file + ".h"),
        deps = deps + prefix_deps("//tests/testing:" + file.split("/")[-1]),
        **kwargs
    )

def cc_test(name, srcs = [], deps = [], copts = [], prefix = "", apart = False, **kwargs):
    """As rules_cc's. Several files are compiled together, as one.

    Args:
      name: the test.
      srcs: its files. Together they define a name once, in unnamed namespaces, too.
      deps: what it uses.
      copts: flags for it.
      prefix: "json", "protobuf" or "grpc", for a test that includes those as well.
      apart: whether each file is compiled for itself.
      **kwargs: passed on.
    """
    _prefixed(_cc_test, name, srcs, deps, copts, prefix, apart, **kwargs)

def test_library(name, srcs = [], deps = [], copts = [], prefix = "", **kwargs):
    """A cc_library of what tests share, with sources.

    Args:
      name: the library.
      srcs: as cc_test's; several are compiled together.
      deps: what it uses.
      copts: flags for it.
      prefix: as cc_test's.
      **kwargs: passed to cc_library.
    """
    _prefixed(cc_library, name, srcs, deps, copts, prefix, False, testonly = True, **kwargs)

def test_cases(name, **kwargs):
    """A cc_test's files as a library, for several tests that link different things.

    Args:
      name: the library.
      **kwargs: as test_library's.
    """
    test_library(name = name, alwayslink = True, **kwargs)
