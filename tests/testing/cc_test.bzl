"""cc_test and its libraries, whose files begin with what all tests include, parsed once."""

load("@rules_cc//cc:defs.bzl", "cc_library", _cc_test = "cc_test")
load("//third_party:cc_library.bzl", "GRPC_COPTS")
load("//third_party:compiled_together.bzl", "compiled_together")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

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
        copts = copts + prefix_copts(file + ".h"),
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
