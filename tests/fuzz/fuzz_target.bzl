"""fuzz_target, a parser's entry for fuzzers, replayed in every test run."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

def fuzz_target(name, deps):
    """NAME.cc with LLVMFuzzerTestOneInput, and its seeds in corpus/NAME/.

    Makes NAME_fuzz_test, which replays the seeds and mutations of them, and
    NAME_fuzzer, libFuzzer's program (--config=fuzz).

    Args:
      name: the target.
      deps: what it uses, beside ":fuzz_input".
    """
    cc_library(
        name = name,
        testonly = True,
        srcs = [name + ".cc"],
        deps = deps + [":fuzz_input"],
        alwayslink = True,
    )
    cc_test(
        name = name + "_fuzz_test",
        size = "small",
        args = ["%s/corpus/%s" % (native.package_name(), name)],
        data = native.glob(["corpus/%s/*" % name]),
        deps = [
            ":" + name,
            ":replay",
        ],
    )
    cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = [":" + name],
    )
