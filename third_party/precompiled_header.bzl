"""precompiled_header: headers that many files begin with, parsed once.

GCC takes FILE.h.gch in place of FILE.h where it was made with the same flags, else
the text of FILE.h.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )

    # Beside each other, and not where the source is: there GCC would find that first.
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.symlink(output = header, target_file = ctx.file.header)
    precompiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = precompiled.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
    )
    arguments = ["-x", "c++-header"] + cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_compile,
        variables = variables,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
        ),
        arguments = arguments,
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        inputs = depset([header], transitive = [toolchain.all_files]),
        outputs = [precompiled],
        mnemonic = "PrecompileHeader",
        progress_message = "Precompiling " + header.short_path,
    )
    files = depset([header, precompiled])
    return [
        DefaultInfo(files = files),
        CcInfo(compilation_context = cc_common.create_compilation_context(headers = files)),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "copts": attr.string_list(doc = "what the files that begin with it are compiled with besides"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def json_headers(name, header, **kwargs):
    """`header`, in which <nlohmann/json.hpp> only declares its literal _json, as NAME.h.

    The literal parses: all files that begin with the header would compile a parser.

    Args:
      name: the target.
      header: includes <nlohmann/json.hpp> in a line of its own.
      **kwargs: passed on.
    """
    literal = "inline nlohmann::json operator \"\" _json(const char"
    native.genrule(
        name = name,
        srcs = [header],
        outs = [name + ".h"],
        cmd = "sed '/^%s/,/^}/{s/^inline \\(.*\\)/\\1;/;t;d}' /usr/include/nlohmann/json.hpp > $(@D)/json.tmp && " % literal +
              "sed -e '/<nlohmann.json.hpp>/{r $(@D)/json.tmp' -e 'd}' $< > $@ && rm $(@D)/json.tmp",
        tags = ["manual"],
        **kwargs
    )

# With --define=prefixes=no every file stands by itself: a check that it includes what
# it uses.
def prefix_select(with_prefixes, without):
    return select({
        str(Label("//third_party:no_prefixes")): without,
        "//conditions:default": with_prefixes,
    })

def prefix_copts(path):
    # A header that was made with other flags is not taken: say so.
    return prefix_select(["-include", path, "-Winvalid-pch"], [])

def prefix_deps(label):
    return prefix_select([label], [])
