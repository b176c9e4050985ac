"""grapevine_repositories: what Grapevine's packages load and link, for its own workspace and for
those that name it as an external repository (docs/extending.md)."""

load("//third_party:bazel_offline.bzl", "offline_bazel_repositories")
load("//third_party:system_libraries.bzl", "system_libraries")
load("//third_party/cuda:cuda_configure.bzl", "cuda_configure")

def grapevine_repositories():
    """Defines the repositories that the workspace has not defined before: its own win."""
    offline_bazel_repositories()
    if not native.existing_rule("cuda"):
        cuda_configure(name = "cuda")
    system_libraries()
