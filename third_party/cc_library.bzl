"""cc_library, whose files begin with the headers of gRPC or Abseil, parsed once, if they
use them."""

load("@rules_cc//cc:defs.bzl", _cc_library = "cc_library")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

_GRPC = ["@grpc//:grpc++"]
_ABSEIL = ["@absl//:status", "@absl//:statusor", "@absl//:strings"]

# Some of gRPC's users get this from other libraries: all must, to share its header.
GRPC_COPTS = ["-DNOMINMAX"]

def _prefix(deps):
    for name, users, copts in [("grpc_prefix", _GRPC, GRPC_COPTS), ("abseil_prefix", _ABSEIL, [])]:
        if [dep for dep in deps if dep in users]:
            return name, copts
    return None, []

def cc_library(name, srcs = [], deps = [], copts = [], **kwargs):
    prefix, prefix_flags = _prefix(deps)
    if srcs and prefix:
        copts = copts + prefix_flags + prefix_copts("third_party/%s.h" % prefix)
        deps = deps + prefix_deps("//third_party:" + prefix)
    _cc_library(name = name, srcs = srcs, deps = deps, copts = copts, **kwargs)
