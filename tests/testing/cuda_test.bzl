"""cuda_test: a test of what needs the CUDA Toolkit."""

load("//tests/testing:cc_test.bzl", "cc_test")

def cuda_test(name, deps, srcs = [], gpu = True, size = "small"):
    """A test NAME.cc, of which nothing is left but a skip without the toolkit.

    Args:
      name: the test; its file is NAME.cc.
      deps: what it tests and compares with.
      srcs: its further files.
      gpu: whether it has cases for a GPU, so that tools/gpu_check takes it along.
      size: Bazel's.
    """
    cc_test(
        name = name,
        size = size,
        srcs = select({
            "@cuda//:enabled": [name + ".cc"] + srcs,
            "//conditions:default": ["//tests/testing:without_cuda_test.cc"],
        }),
        tags = ["gpu"] if gpu else [],
        deps = ["//tests/testing:gtest_main"] + select({
            "@cuda//:enabled": deps,
            "//conditions:default": [],
        }),
    )
