"""emulated_kernels: the kernels that a test links, compiled for the CPU (README.md)."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_EmulatedKernels = provider(
    doc = "The kernels of a target and of what it depends on.",
    fields = {
        "headers": "depset: those of .cu files",
        "linking": "list of linking contexts",
    },
)

# -O1: they are read by the compiler longer than they run. What a GPU does not forgive is
# an error here.
_FLAGS = ["-O1", "-fsanitize=alignment,bounds,shift", "-fno-sanitize-recover=all", "-Wno-unknown-pragmas", "-Wno-sign-compare"]

# nvcc's launches and shared memory as C++, with the lines and the name of the original.
_REWRITE = """
rules=$1; shift
while [ $# -gt 0 ]; do
  { printf '%s#line 1 "%s"\\n' "$3" "$1"; sed -zE -f "$rules" "$1"; } > "$2"
  shift 3
done
"""

_PRELUDE = '#include "tests/emulated_cuda/device_code.h"\n'

def _compile(target, ctx, headers):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    folder = "_emulated/%s/" % ctx.label.name
    arguments = ctx.actions.args()
    arguments.add(ctx.file._rules)
    rewritten = []

    # The compiler looks for a quoted header beside the source first: a source finds these,
    # not the originals. (A header finds the originals.)
    for header in headers.to_list():
        made = ctx.actions.declare_file(folder + header.short_path)
        arguments.add_all([header, made, ""])
        rewritten.append(made)
    sources = []
    for source in ctx.rule.files.srcs:
        made = ctx.actions.declare_file(folder + source.basename + ".inc")
        arguments.add_all([source, made, _PRELUDE])
        sources.append(made)
    ctx.actions.run_shell(
        command = _REWRITE,
        arguments = [arguments],
        inputs = depset([ctx.file._rules] + ctx.rule.files.srcs, transitive = [headers]),
        outputs = sources + rewritten,
        mnemonic = "CudaToCpp",
        progress_message = "Rewriting %s as C++" % ctx.label,
    )

    # One for the compiler, as for nvcc.
    together = ctx.actions.declare_file(folder + ctx.label.name + "_files.cc")
    ctx.actions.write(together, "".join(["#include \"%s\"\n" % source.basename for source in sources]))
    _, compiled = cc_common.compile(
        name = ctx.label.name + "_emulated",
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = toolchain,
        srcs = [together],
        private_hdrs = sources + rewritten + headers.to_list(),
        user_compile_flags = _FLAGS,
        compilation_contexts = [
            dep[CcInfo].compilation_context
            for dep in ctx.rule.attr.deps + [ctx.attr._device_code]
        ],
    )
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        name = ctx.label.name + "_emulated",
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = toolchain,
        compilation_outputs = compiled,
        alwayslink = True,
        disallow_dynamic_library = True,
    )
    return linking

def _emulation_impl(target, ctx):
    below = []
    for attribute in ["srcs", "deps"]:
        for dep in getattr(ctx.rule.attr, attribute, None) or []:
            if _EmulatedKernels in dep:
                below.append(dep[_EmulatedKernels])
    linking = []
    for kernels in below:
        linking += [context for context in kernels.linking if context not in linking]
    headers = [kernels.headers for kernels in below]
    if ctx.rule.kind != "_cuda_objects":
        return [_EmulatedKernels(headers = depset(transitive = headers), linking = linking)]
    headers = depset(ctx.rule.files.hdrs, transitive = headers)
    return [_EmulatedKernels(headers = headers, linking = linking + [_compile(target, ctx, headers)])]

_emulation = aspect(
    implementation = _emulation_impl,
    attr_aspects = ["srcs", "deps"],
    attrs = {
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_device_code": attr.label(default = "//tests/emulated_cuda:device_code"),
        "_rules": attr.label(default = "//tests/emulated_cuda:rewrite.sed", allow_single_file = True),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _emulated_kernels_impl(ctx):
    infos = [ctx.attr._libraries[CcInfo]]
    for dep in ctx.attr.deps:
        infos += [CcInfo(linking_context = context) for context in dep[_EmulatedKernels].linking]
    return [cc_common.merge_cc_infos(cc_infos = infos)]

# Every kernel that `deps` reach, in whatever cuda_library, the runtime, cuDNN and cuBLASLt.
# All of it is linked, and what is linked is not looked for in a library: a test that names
# this before `deps` has neither nvcc's kernels nor libcudart, and the rest of `deps` as it is.
emulated_kernels = rule(
    implementation = _emulated_kernels_impl,
    attrs = {
        "deps": attr.label_list(aspects = [_emulation]),
        "_libraries": attr.label(default = "//tests/emulated_cuda:libraries"),
    },
)
