"""fuzz_targets, parsers' entries for fuzzers, replayed in every test run."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//tests/testing:cc_test.bzl", "cc_test")

def _unique(labels):
    return {label: None for label in labels}.keys()

def fuzz_targets(name, targets):
    """NAME.cc for each of `targets`, which registers it; its seeds are in corpus/NAME/.

    Makes NAME_fuzzer of each, libFuzzer's program (--config=fuzz), and one test, which
    replays the seeds of all of them and mutations of these.

    Args:
      name: the test.
      targets: by name what each uses, beside glog and ":fuzz_target".
    """
    shared = [":fuzz_target", "@glog"]
    for target, deps in targets.items():
        cc_binary(
            name = target + "_fuzzer",
            testonly = True,
            srcs = [
                target + ".cc",
                "libfuzzer.cc",
            ],
            linkopts = ["-fsanitize=fuzzer"],
            tags = ["manual"],
            deps = _unique(deps + shared),
        )
    cc_test(
        name = name,
        size = "small",
        srcs = [target + ".cc" for target in targets] + [
            "mutator.cc",
            "mutator.h",
            "replay.cc",
        ],
        args = [native.package_name() + "/corpus"],
        data = native.glob(["corpus/**"]),
        deps = _unique([dep for deps in targets.values() for dep in deps] + shared + [
            "//random:random",
            "@absl//:strings",
            "@gtest",
        ]),
    )
