"""cc_library, whose files begin with Abseil's headers, parsed once, if they use them."""

load("@rules_cc//cc:defs.bzl", _cc_library = "cc_library")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

_ABSEIL = ["@absl//:status", "@absl//:statusor", "@absl//:strings"]

def cc_library(name, srcs = [], deps = [], copts = [], **kwargs):
    if srcs and [dep for dep in deps if dep in _ABSEIL]:
        copts = copts + prefix_copts("third_party/abseil_prefix.h")
        deps = deps + prefix_deps("//third_party:abseil_prefix")
    _cc_library(name = name, srcs = srcs, deps = deps, copts = copts, **kwargs)
