"""cuda_test: a test of what needs the CUDA Toolkit."""

load("//tests/emulated_cuda:emulated_kernels.bzl", "emulated_kernels")
load("//tests/testing:cc_test.bzl", "cc_test", "test_cases")

def _with_toolkit(values, otherwise = []):
    return select({"@cuda//:enabled": values, "//conditions:default": otherwise})

def emulated_gpu_test(name, cases, deps, args = [], data = [], size = "small", tags = []):
    """A test's cases with an emulated GPU (tests/emulated_cuda); a skip without the toolkit.

    Args:
      name: the test.
      cases: a library of test_cases.
      deps: what they reach GPUs by: all kernels below are emulated.
      args: the test's.
      data: files for it.
      size: Bazel's.
      tags: Bazel's. CI runs what has "emulated-gpu" among them under asan alone, which looks at
        the same arithmetic.
    """
    kernels = name + "_kernels"
    emulated_kernels(name = kernels, testonly = True, tags = ["manual"], deps = deps)
    cc_test(
        name = name,
        size = size,
        srcs = _with_toolkit([], ["//tests/testing:without_cuda_test.cc"]),
        args = args,
        data = _with_toolkit(data),
        tags = tags,
        deps = _with_toolkit([kernels, cases]) + ["//tests/testing:gtest_main"],
    )

def cuda_test(name, deps, srcs = None, gpu = True, emulated = False, size = "small", tags = []):
    """A test of which nothing is left but a skip without the toolkit.

    Args:
      name: the test. It ends in "_test".
      deps: what it tests and compares with.
      srcs: its files; NAME.cc where nothing is said.
      gpu: whether it has cases for a GPU, so that tools/gpu_check takes it along. Their suites are
        named Cuda..., and left out where there is none (gpu_main.cc).
      emulated: whether there is a second test, whose name ends in "_emulated_test", that has
        the same cases and an emulated GPU.
      size: Bazel's.
      tags: Bazel's.
    """
    cases = name + "_cases"
    test_cases(
        name = cases + "_with_cuda",
        srcs = srcs or [name + ".cc"],
        tags = ["manual"],
        deps = deps + ["@gtest"],
    )
    native.alias(
        name = cases,
        testonly = True,
        actual = _with_toolkit(cases + "_with_cuda", "//tests/testing:cases_without_cuda"),
    )
    cc_test(
        name = name,
        size = size,
        tags = tags + (["gpu"] if gpu else []),
        deps = [cases] + _with_toolkit(
            ["//tests/testing:gpu_main" if gpu else "//tests/testing:gtest_main"],
            ["//tests/testing:gtest_main"],
        ),
    )
    if emulated:
        emulated_gpu_test(
            name = name.rpartition("_")[0] + "_emulated_test",
            size = size,
            cases = cases,
            tags = ["emulated-gpu"],
            deps = deps,
        )
