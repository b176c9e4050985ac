"""cc_test, whose file begins with what all tests include, parsed once."""

load("@rules_cc//cc:defs.bzl", _cc_test = "cc_test")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

def cc_test(name, deps = [], copts = [], **kwargs):
    _cc_test(
        name = name,
        copts = copts + prefix_copts("tests/testing/test_prefix.h"),
        deps = deps + prefix_deps("//tests/testing:test_prefix"),
        **kwargs
    )
