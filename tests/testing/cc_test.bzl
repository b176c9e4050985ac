"""cc_test, whose file begins with what all tests include, parsed once."""

load("@rules_cc//cc:defs.bzl", _cc_test = "cc_test")
load("//third_party:cc_library.bzl", "GRPC_COPTS")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

def cc_test(name, deps = [], copts = [], prefix = "", **kwargs):
    """As rules_cc's.

    Args:
      name: the test.
      deps: what it uses.
      copts: flags for it.
      prefix: "json" or "grpc", for a test that includes those as well.
      **kwargs: passed on.
    """
    file = "tests/testing/%stest_prefix" % (prefix + "_" if prefix else "")
    if prefix == "grpc":
        copts = copts + GRPC_COPTS
    _cc_test(
        name = name,
        copts = copts + prefix_copts(file + ".h"),
        deps = deps + prefix_deps("//tests/testing:" + file.split("/")[-1]),
        **kwargs
    )
