"""cuda_library: .cu files, compiled by nvcc, as a library for C++."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@cuda//:home.bzl", "CUDA_HOME")
load("@rules_cc//cc:defs.bzl", "cc_library")

# Machine code for Hopper; PTX, which the driver compiles, for all from Turing on. Both
# from one reading of the source: nothing in it asks for more than Turing has.
_TARGETS = ["-gencode=arch=compute_75,code=[sm_90,compute_75]"]

# No contraction, and denormals are flushed (kernels/passes/denormals.h): the same bits as the
# CPU's passes.
_FLAGS = [
    "-std=c++20",
    "-fmad=false",
    "-ftz=true",
    "--expt-relaxed-constexpr",
    "-I.",
    "-Xcompiler=-fPIC,-Wall,-Wno-unused-parameter",
]

def _cuda_objects_impl(ctx):
    if not CUDA_HOME:
        fail("%s needs the CUDA Toolkit" % ctx.label)
    compiler = find_cpp_toolchain(ctx)
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    headers = depset(ctx.files.hdrs, transitive = [context.headers for context in contexts])

    # nvcc reads most of what a file includes three times: all files are one for it.
    together = ctx.actions.declare_file(ctx.label.name + ".cu")
    ctx.actions.write(together, "".join(["#include \"%s\"\n" % src.path for src in ctx.files.srcs]))
    output = ctx.actions.declare_file(ctx.label.name + ".o")
    arguments = ctx.actions.args()
    arguments.add("-c", together)
    arguments.add("-o", output)
    arguments.add("-ccbin", compiler.compiler_executable)
    arguments.add("-O3" if ctx.var["COMPILATION_MODE"] == "opt" else "-O1")
    arguments.add_all(_FLAGS + _TARGETS)
    if ctx.label.workspace_root:
        arguments.add("-I" + ctx.label.workspace_root)
    for context in contexts:
        arguments.add_all(context.defines, before_each = "-D")
        arguments.add_all(context.quote_includes, before_each = "-I")
    ctx.actions.run(
        executable = CUDA_HOME + "/bin/nvcc",
        arguments = [arguments],
        inputs = depset([together] + ctx.files.srcs, transitive = [headers]),
        tools = compiler.all_files,
        outputs = [output],
        env = {"PATH": "/usr/bin:/bin"},
        mnemonic = "CudaCompile",
        progress_message = "Compiling %s with nvcc" % ctx.label,
    )
    return [DefaultInfo(files = depset([output]))]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        # nvcc leaves no list of what it read: every header must be here or in deps.
        "hdrs": attr.label_list(allow_files = [".h"]),
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def cuda_library(name, srcs, hdrs = [], deps = [], **kwargs):
    """Reached through a select() on @cuda//:enabled alone.

    Args:
      name: the library.
      srcs: .cu files. Together they define a name once, in unnamed namespaces, too.
      hdrs: its headers, for C++ as well.
      deps: libraries whose headers they include.
      **kwargs: passed to cc_library.
    """
    _cuda_objects(name = name + "_objects", srcs = srcs, hdrs = hdrs, deps = deps, tags = ["manual"])
    cc_library(
        name = name,
        srcs = [":" + name + "_objects"],
        hdrs = hdrs,
        tags = ["manual"],
        deps = deps + ["@cuda//:cudart"],
        **kwargs
    )
