"""@cuda: the CUDA Toolkit of this machine, or empty stand-ins.

Looked for in $CUDA_HOME, $CUDA_PATH and /usr/local/cuda: bin/nvcc and
include/cudnn.h. cuDNN and cuBLASLt are not linked: kernels/tensor/cuda/library/shared_library.h
loads them. $GRAPEVINE_CUDA=0 turns it off, 1 makes its absence an error;
--@cuda//:enable=false turns it off for one build.
"""

_FLAG = """
def _impl(ctx):
    return []

bool_flag = rule(implementation = _impl, build_setting = config.bool(flag = True))
"""

_BUILD = """
load(":flag.bzl", "bool_flag")

package(default_visibility = ["//visibility:public"])

bool_flag(name = "enable", build_setting_default = {found})

config_setting(name = "enabled", flag_values = {{":enable": "True"}})
"""

_LIBRARIES = """
# A folder is one symlink of a sandbox, its files two thousand.
cc_library(name = "headers", hdrs = ["include"], includes = ["include"])

cc_library(
    name = "cudart",
    linkopts = ["-L{home}/lib64", "-lcudart_static", "-ldl", "-lrt", "-pthread"],
    deps = [":headers"],
)
"""

_NO_LIBRARIES = """
[cc_library(name = name) for name in ["headers", "cudart"]]
"""

def _find(ctx):
    wish = ctx.os.environ.get("GRAPEVINE_CUDA", "")
    if wish == "0":
        return None
    for place in [ctx.os.environ.get("CUDA_HOME"), ctx.os.environ.get("CUDA_PATH"), "/usr/local/cuda"]:
        if place and ctx.path(place + "/bin/nvcc").exists and ctx.path(place + "/include/cudnn.h").exists:
            return place
    if wish == "1":
        fail("GRAPEVINE_CUDA=1, but neither CUDA_HOME, CUDA_PATH nor /usr/local/cuda has bin/nvcc and include/cudnn.h")
    return None

def _cuda_configure_impl(ctx):
    home = _find(ctx)
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    ctx.file("flag.bzl", _FLAG)
    ctx.file("home.bzl", "CUDA_HOME = %r\n" % (home or ""))
    build = _BUILD.format(found = bool(home))
    if home:
        ctx.symlink(home + "/include", "include")
        build += _LIBRARIES.format(home = home)
    else:
        build += _NO_LIBRARIES
    ctx.file("BUILD.bazel", build)

cuda_configure = repository_rule(
    implementation = _cuda_configure_impl,
    environ = ["CUDA_HOME", "CUDA_PATH", "GRAPEVINE_CUDA"],
    local = True,
)
