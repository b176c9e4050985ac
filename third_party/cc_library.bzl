"""cc_library and cc_binary, whose files begin with the headers of gRPC and Protobuf, JSON or
Abseil, parsed once."""

load("@rules_cc//cc:defs.bzl", _cc_binary = "cc_binary", _cc_library = "cc_library")
load("//third_party:compiled_together.bzl", "compiled_together")
load("//third_party:precompiled_header.bzl", "prefix_copts", "prefix_deps")

# Some of gRPC's users get this from other libraries: all must, to share its header.
GRPC_COPTS = ["-DNOMINMAX"]

# The first of which a dependency is one; the headers of each hold Abseil's too.
_PREFIXES = [
    ("grpc", ["@grpc//:grpc++"]),
    ("json", ["@json"]),
    ("grpc", ["@protobuf", "//run/config:config_proto", ":config_proto"]),
]

# Packages, with those below them, for which -O1 is enough. With it the compiler takes a fifth less.
# No loop over weights, nodes, rounds or records is theirs; and what drives tests runs as long.
_LIGHTLY_OPTIMIZED = [
    "cli",
    "examples",
    "node/control",
    "node/discovery",
    "node/identity",
    "node/launch",
    "node/server",
    "node/store",
    "node/telemetry",
    "report",
    "tests/node/whole_node",
    "tests/testing",
]

def _optimization():
    package = native.package_name()
    ours = native.repository_name().lstrip("@") == Label("//:BUILD.bazel").workspace_name
    if not ours or not [p for p in _LIGHTLY_OPTIMIZED if (package + "/").startswith(p + "/")]:
        return []
    return select({
        str(Label("//third_party:optimized")): ["-O1"],
        "//conditions:default": [],
    })

def _prefix(deps, copts):
    # A header that was made without such a flag is not taken with it, or, with another level of
    # optimization, breaks GCC under ThreadSanitizer.
    if [flag for flag in copts if flag.startswith("-f") or flag.startswith("-O")]:
        return None
    for name, users in _PREFIXES:
        if [dep for dep in deps if dep in users]:
            return name
    return "abseil"

def _prefixed(rule, name, srcs, deps, copts, prefix, apart = False, **kwargs):
    prefix = prefix or _prefix(deps, copts)
    if not apart:
        srcs, included = compiled_together(name, srcs, testonly = kwargs.get("testonly"))
        deps = deps + included
    if prefix == "grpc":
        copts = copts + GRPC_COPTS
    if srcs and prefix:
        copts = copts + prefix_copts("third_party/%s_prefix.h" % prefix)
        deps = deps + prefix_deps(str(Label("//third_party:%s_prefix" % prefix)))
    rule(name = name, srcs = srcs, deps = deps, copts = copts + _optimization(), **kwargs)

def cc_library(name, srcs = [], deps = [], copts = [], prefix = None, apart = False, **kwargs):
    """As rules_cc's. Several files are compiled together, as one.

    Args:
      name: the library.
      srcs: its sources. Together they define a name once, in unnamed namespaces, too.
      deps: what they use.
      copts: flags for them.
      prefix: "grpc", for Protobuf too, or "json", where deps do not say by what the sources
        include through others.
      apart: whether each file is compiled for itself.
      **kwargs: passed on.
    """
    _prefixed(_cc_library, name, srcs, deps, copts, prefix, apart, **kwargs)

def cc_binary(name, srcs = [], deps = [], copts = [], prefix = None, **kwargs):
    """As rules_cc's.

    Args:
      name: the program.
      srcs: its sources.
      deps: what they use.
      copts: flags for them.
      prefix: as cc_library's.
      **kwargs: passed on.
    """
    _prefixed(_cc_binary, name, srcs, deps, copts, prefix, **kwargs)
