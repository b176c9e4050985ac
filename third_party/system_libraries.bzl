"""Libraries of the system as Bazel targets: @absl, @grpc, @protobuf, ...

Debian's headers sit in the compiler's own include path, so that a target only
needs linker flags; pkg-config knows them. A missing library fails with the
name of the Debian package that has it.
"""

def _flags(ctx, module):
    result = ctx.execute(["pkg-config", "--cflags", "--libs", module])
    if result.return_code != 0:
        fail("%s: pkg-config %s: %s; on Debian: apt-get install %s" % (ctx.name, module, result.stderr, ctx.attr.deb))
    return [f for f in result.stdout.strip().split(" ") if f]

def _system_library_impl(ctx):
    missing = [h for h in ctx.attr.probe if not ctx.path(h).exists]
    if missing:
        fail("%s: %s not found; on Debian: apt-get install %s" % (ctx.name, ", ".join(missing), ctx.attr.deb))
    if ctx.attr.include:
        ctx.symlink(ctx.attr.include, "include")
    build = ["package(default_visibility = [\"//visibility:public\"])"]
    for target, spec in ctx.attr.targets.items():
        flags = []
        deps = []
        for word in spec:
            if word.startswith("pc:"):
                flags += _flags(ctx, word[3:])
            elif word.startswith(":"):
                deps.append(word)
            else:
                flags.append(word)
        linkopts = [f for f in flags if f[:2] in ("-l", "-L", "-p") or f.startswith("-Wl,")]
        defines = [f[2:] for f in flags if f.startswith("-D")]
        build.append("cc_library(name = %r, linkopts = %r, defines = %r, deps = %r, hdrs = %r, includes = %r)" % (
            target,
            linkopts,
            defines,
            deps,
            ["include"] if ctx.attr.include else [],
            ["include"] if ctx.attr.include else [],
        ))
    ctx.file("BUILD.bazel", "\n".join(build) + "\n")
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)

_library_of_system = repository_rule(
    implementation = _system_library_impl,
    attrs = {
        "deb": attr.string(doc = "Debian packages that have it"),
        "probe": attr.string_list(doc = "files that must exist"),
        "include": attr.string(doc = "a header folder outside the compiler's own include path"),
        "targets": attr.string_list_dict(doc = "target: linker flags, pc:MODULE, :other_target"),
    },
    environ = ["PKG_CONFIG_PATH"],
    local = True,
)

def _system_library(name, **kwargs):
    if not native.existing_rule(name):
        _library_of_system(name = name, **kwargs)

_ABSL = [
    "base",
    "cleanup",
    "flat_hash_map",
    "flat_hash_set",
    "inlined_vector",
    "span",
    "status",
    "statusor",
    "str_format",
    "strings",
    "time",
]

def system_libraries():
    """Defines one repository for each library that the project takes from the system.

    Not where the workspace has one of that name.
    """
    _system_library(
        name = "absl",
        deb = "libabsl-dev",
        probe = ["/usr/include/absl/base/config.h"],
        targets = {m: ["pc:absl_" + m] for m in _ABSL},
    )
    _system_library(
        name = "grpc",
        deb = "libgrpc++-dev protobuf-compiler-grpc",
        probe = ["/usr/include/grpcpp/grpcpp.h", "/usr/bin/grpc_cpp_plugin"],
        targets = {
            # gRPC's headers inline absl::Mutex.
            "grpc++": ["-lgrpc++", "-lgrpc", "-lgpr", "-labsl_synchronization", "-pthread"],
            "grpc++_reflection": ["-lgrpc++_reflection", ":grpc++"],
        },
    )
    _system_library(
        name = "protobuf",
        deb = "libprotobuf-dev protobuf-compiler",
        probe = ["/usr/include/google/protobuf/message.h", "/usr/bin/protoc"],
        targets = {"protobuf": ["-lprotobuf", "-pthread"]},
    )
    _system_library(
        name = "openssl",
        deb = "libssl-dev",
        probe = ["/usr/include/openssl/ssl.h"],
        targets = {"crypto": ["-lcrypto"]},
    )
    _system_library(
        name = "glog",
        deb = "libgoogle-glog-dev",
        probe = ["/usr/include/glog/logging.h"],
        targets = {"glog": ["pc:libglog"]},
    )
    _system_library(
        name = "boost",
        deb = "libboost-graph-dev",
        probe = [
            "/usr/include/boost/graph/adjacency_list.hpp",
            "/usr/include/boost/beast/http.hpp",
        ],
        targets = {
            "graph": ["-lboost_graph", "-lboost_regex"],
            "beast": ["-pthread"],
        },
    )
    _system_library(
        name = "eigen",
        deb = "libeigen3-dev libspectra-dev",
        probe = ["/usr/include/eigen3/Eigen/Dense", "/usr/include/Spectra/SymEigsSolver.h"],
        include = "/usr/include/eigen3",
        targets = {"eigen": []},
    )
    _system_library(
        name = "onednn",
        deb = "libdnnl-dev",
        probe = ["/usr/include/dnnl.hpp"],
        targets = {"onednn": ["-ldnnl", "-lgomp"]},
    )
    _system_library(
        name = "zlib",
        deb = "zlib1g-dev",
        probe = ["/usr/include/zlib.h"],
        targets = {"zlib": ["-lz"]},
    )
    _system_library(
        name = "zip",
        deb = "libzip-dev",
        probe = ["/usr/include/zip.h"],
        targets = {"zip": ["-lzip"]},
    )
    _system_library(
        name = "expat",
        deb = "libexpat1-dev",
        probe = ["/usr/include/expat.h"],
        targets = {"expat": ["-lexpat"]},
    )
    _system_library(
        name = "jpeg",
        deb = "libjpeg62-turbo-dev",
        probe = ["/usr/include/jpeglib.h"],
        targets = {"jpeg": ["-ljpeg"]},
    )
    _system_library(
        name = "json",
        deb = "nlohmann-json3-dev",
        probe = ["/usr/include/nlohmann/json.hpp"],
        targets = {"json": []},
    )
    _system_library(
        name = "cli11",
        deb = "libcli11-dev",
        probe = ["/usr/include/CLI/CLI.hpp"],
        targets = {"cli11": []},
    )
    _system_library(
        name = "prometheus",
        deb = "prometheus-cpp-dev",
        probe = ["/usr/include/prometheus/text_serializer.h"],
        targets = {"core": ["pc:prometheus-cpp-core"]},
    )
    _system_library(
        name = "tcmalloc",
        deb = "libgoogle-perftools-dev",
        probe = ["/usr/include/gperftools/malloc_extension.h"],
        targets = {"tcmalloc": ["-ltcmalloc_minimal"]},
    )
    _system_library(
        name = "gtest",
        deb = "libgtest-dev libgmock-dev",
        probe = ["/usr/include/gtest/gtest.h", "/usr/include/gmock/gmock.h"],
        targets = {
            "gtest": ["-lgmock", "-lgtest", "-pthread"],
            "gtest_main": ["-lgmock_main", ":gtest"],
        },
    )
    _system_library(
        name = "benchmark",
        deb = "libbenchmark-dev",
        probe = ["/usr/include/benchmark/benchmark.h"],
        targets = {"benchmark": ["-lbenchmark", "-pthread"]},
    )
