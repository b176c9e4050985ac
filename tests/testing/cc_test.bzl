"""cc_test and its libraries, whose files begin with what all tests include, parsed once."""

load("@rules_cc//cc:defs.bzl", "cc_library", _cc_test = "cc_test")
load("//third_party:cc_library.bzl", "GRPC_COPTS")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

def _prefixed(rule, deps, copts, prefix, **kwargs):
    file = "tests/testing/%stest_prefix" % (prefix + "_" if prefix else "")
    if prefix == "grpc":
        copts = copts + GRPC_COPTS
    rule(
        copts = copts + prefix_copts(file + ".h"),
        deps = deps + prefix_deps("//tests/testing:" + file.split("/")[-1]),
        **kwargs
    )

def cc_test(name, deps = [], copts = [], prefix = "", **kwargs):
    """As rules_cc's.

    Args:
      name: the test.
      deps: what it uses.
      copts: flags for it.
      prefix: "json", "protobuf" or "grpc", for a test that includes those as well.
      **kwargs: passed on.
    """
    _prefixed(_cc_test, deps, copts, prefix, name = name, **kwargs)

def test_library(name, deps = [], copts = [], prefix = "", **kwargs):
    """A cc_library of what tests share, with sources.

    Args:
      name: the library.
      deps: what it uses.
      copts: flags for it.
      prefix: as cc_test's.
      **kwargs: passed to cc_library.
    """
    _prefixed(cc_library, deps, copts, prefix, name = name, testonly = True, **kwargs)

def test_cases(name, **kwargs):
    """A cc_test's files as a library, for several tests that link different things.

    Args:
      name: the library.
      **kwargs: as test_library's.
    """
    test_library(name = name, alwayslink = True, **kwargs)
