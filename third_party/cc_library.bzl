"""cc_library, whose files begin with the headers of gRPC, JSON, Protobuf or Abseil, parsed
once, if they use them."""

load("@rules_cc//cc:defs.bzl", _cc_library = "cc_library")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

# Whose headers include those of Abseil.
_ABSEIL = [
    "//algorithm",
    "//base:spec",
    "//topology",
    "@absl//:status",
    "@absl//:statusor",
    "@absl//:strings",
]

# Some of gRPC's users get this from other libraries: all must, to share its header.
GRPC_COPTS = ["-DNOMINMAX"]

# The first of which a dependency is one; the headers of one hold the last one's too.
_PREFIXES = [
    ("grpc", ["@grpc//:grpc++"]),
    ("json", ["@json"]),
    ("protobuf", ["@protobuf", "//run/config:config_proto", ":config_proto"]),
    ("abseil", _ABSEIL),
]

def _prefix(deps):
    for name, users in _PREFIXES:
        if [dep for dep in deps if dep in users]:
            return name
    return None

def cc_library(name, srcs = [], deps = [], copts = [], prefix = None, **kwargs):
    """As rules_cc's.

    Args:
      name: the library.
      srcs: its sources.
      deps: what they use.
      copts: flags for them.
      prefix: "grpc", "json", "protobuf" or "abseil", where deps do not say by what the sources
        include through others.
      **kwargs: passed on.
    """
    prefix = prefix or _prefix(deps)
    if srcs and prefix:
        if prefix == "grpc":
            copts = copts + GRPC_COPTS
        copts = copts + prefix_copts("third_party/%s_prefix.h" % prefix)
        deps = deps + prefix_deps("//third_party:%s_prefix" % prefix)
    _cc_library(name = name, srcs = srcs, deps = deps, copts = copts, **kwargs)
