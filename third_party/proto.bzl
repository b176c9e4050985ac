"""cc_proto: the system's protoc (and gRPC plugin) as one genrule and a library."""

load("//third_party:cc_library.bzl", "cc_library")

def cc_proto(name, src, grpc = False, imports = [], deps = [], **kwargs):
    """A C++ library for one .proto file.

    Args:
      name: the library.
      src: the .proto file, in this package.
      grpc: whether to generate its services too.
      imports: labels of the .proto files that it imports (as "folder/file.proto").
      deps: the cc_proto libraries of the imports.
      **kwargs: passed to cc_library.
    """
    base = src[:-len(".proto")]
    outs = [base + ".pb.h", base + ".pb.cc"]

    # Files name each other from the root of the repository that they are in.
    repository = native.repository_name().lstrip("@")
    root = "/external/" + repository if repository else ""
    made = "$(GENDIR)" + root
    cmd = "protoc -I.%s -I/usr/include --cpp_out=%s" % (root, made)
    if grpc:
        outs += [base + ".grpc.pb.h", base + ".grpc.pb.cc"]
        cmd += " --grpc_out=" + made + " --plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin"
    native.genrule(
        name = name + "_generated",
        srcs = [src] + imports,
        outs = outs,
        cmd = cmd + " $(location %s)" % src,
    )
    cc_library(
        name = name,
        srcs = [o for o in outs if o.endswith(".cc")],
        hdrs = [o for o in outs if o.endswith(".h")],
        copts = ["-w"],
        # Nobody refers to the descriptor of a service, but reflection looks it up.
        alwayslink = grpc,
        deps = deps + ["@protobuf"] + (["@grpc//:grpc++"] if grpc else []),
        **kwargs
    )
