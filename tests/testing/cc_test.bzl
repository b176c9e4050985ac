"""cc_test and its libraries, whose files begin with what all tests include, parsed once."""

load("@rules_cc//cc:defs.bzl", "cc_library", _cc_test = "cc_test")
load("//third_party:cc_library.bzl", "GRPC_COPTS", _optimized_library = "cc_library")
load("//third_party:compiled_together.bzl", "compiled_together")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

# Tests are read by the compiler longer than they run. The flags of the headers that they begin
# with, too.
TEST_COPTS = [
    "-O0",
    "-U_FORTIFY_SOURCE",
]

def _prefixed(rule, name, srcs, deps, copts, prefix, apart, **kwargs):
    file = "tests/testing/%stest_prefix" % (prefix + "_" if prefix else "")
    if prefix == "grpc":
        copts = copts + GRPC_COPTS
    if not apart:
        srcs, included = compiled_together(name, srcs, testonly = True)
        deps = deps + included
    rule(
        name = name,
        srcs = srcs,
        copts = copts + prefix_copts(file + ".h") + TEST_COPTS,
        deps = deps + prefix_deps(str(Label("//tests/testing:" + file.split("/")[-1]))),
        **kwargs
    )

def cc_test(name, srcs = [], deps = [], copts = [], prefix = "", apart = False, **kwargs):
    """As rules_cc's. Several files are compiled together, as one.

    Args:
      name: the test.
      srcs: its files. Together they define a name once, in unnamed namespaces, too.
      deps: what it uses.
      copts: flags for it.
      prefix: "json", or "grpc", for Protobuf too, for a test that includes those as well.
      apart: whether each file is compiled for itself.
      **kwargs: passed on.
    """
    _prefixed(_cc_test, name, srcs, deps, copts, prefix, apart, **kwargs)

def test_library(name, srcs = [], deps = [], copts = [], prefix = "", optimized = False, **kwargs):
    """A cc_library of what tests share, with sources.

    Args:
      name: the library.
      srcs: as cc_test's; several are compiled together.
      deps: what it uses.
      copts: flags for it.
      prefix: as cc_test's.
      optimized: whether tests run it longer than the compiler reads it.
      **kwargs: passed to cc_library.
    """
    if optimized:
        _optimized_library(name = name, srcs = srcs, deps = deps, copts = copts, testonly = True, **kwargs)
    else:
        _prefixed(cc_library, name, srcs, deps, copts, prefix, False, testonly = True, **kwargs)

def test_cases(name, **kwargs):
    """A cc_test's files as a library, for several tests that link different things.

    Args:
      name: the library.
      **kwargs: as test_library's.
    """
    test_library(name = name, alwayslink = True, **kwargs)
