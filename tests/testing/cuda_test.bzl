"""cuda_test: a test of what needs the CUDA Toolkit."""

load("//tests/emulated_cuda:emulated_kernels.bzl", "emulated_kernels")
load("//tests/testing:cc_test.bzl", "cc_test", "test_cases")

def _with_toolkit(values, otherwise = []):
    return select({"@cuda//:enabled": values, "//conditions:default": otherwise})

def cuda_test(name, deps, srcs = [], gpu = True, emulated = False, size = "small"):
    """A test NAME.cc, of which nothing is left but a skip without the toolkit.

    Args:
      name: the test; its file is NAME.cc. It ends in "_test".
      deps: what it tests and compares with.
      srcs: its further files.
      gpu: whether it has cases for a GPU, so that tools/gpu_check takes it along.
      emulated: whether there is also a test whose name ends in "_emulated_test" that has
        the same cases and an emulated GPU (tests/emulated_cuda).
      size: Bazel's.
    """
    cases = name + "_cases"
    test_cases(
        name = cases,
        srcs = _with_toolkit([name + ".cc"] + srcs, ["//tests/testing:without_cuda_test.cc"]),
        deps = ["@gtest"] + _with_toolkit(deps),
    )
    main = "//tests/testing:gtest_main"
    cc_test(
        name = name,
        size = size,
        tags = ["gpu"] if gpu else [],
        deps = [cases, main],
    )
    if emulated:
        kernels = name + "_emulated_kernels"
        emulated_kernels(name = kernels, testonly = True, tags = ["manual"], deps = deps)
        cc_test(
            name = name.rpartition("_")[0] + "_emulated_test",
            size = size,
            deps = _with_toolkit([kernels]) + [cases, main],
        )
