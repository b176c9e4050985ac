"""cuda_test: a test of what needs the CUDA Toolkit."""

load("//tests/testing:cc_test.bzl", "cc_test")

def cuda_test(name, deps, **kwargs):
    """A test NAME.cc, of which nothing is left but a skip without the toolkit.

    Args:
      name: the test; its file is NAME.cc.
      deps: what it tests and compares with.
      **kwargs: passed to cc_test.
    """
    cc_test(
        name = name,
        size = "small",
        tags = ["gpu"],
        srcs = select({
            "@cuda//:enabled": [name + ".cc", "on_device.h"],
            "//conditions:default": ["without_cuda_test.cc"],
        }),
        deps = ["//tests/testing:gtest_main"] + select({
            "@cuda//:enabled": deps + [
                "//kernels:denormals",
                "//kernels/device:gpu",
                "//kernels/device:gpu_interface",
                "//kernels/cuda:cuda_status",
                "//random:keyed_random",
            ],
            "//conditions:default": [],
        }),
        **kwargs
    )
