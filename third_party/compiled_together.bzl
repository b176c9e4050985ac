"""compiled_together: several files as one for the compiler.

What they all include is read, and what they all instantiate is compiled, once: half the time.
"""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//third_party:precompiled_header.bzl", "prefix_select")

def compiled_together(name, srcs, testonly = None):
    """`srcs` and what they need besides, for the target `name`, whose sources they are.

    Its .cc files become one that includes them. Together they define a name once, in unnamed
    namespaces, too. With --define=prefixes=no each is compiled by itself.

    Args:
      name: the target.
      srcs: its sources.
      testonly: whether it is.

    Returns:
      its srcs and deps to add.
    """
    files = [src for src in srcs if src.endswith(".cc")] if type(srcs) == "list" else []
    if len(files) < 2:
        return srcs, []
    together = name + "_files"
    includes = ["#include \"%s/%s\"\n" % (native.package_name(), file) for file in files]
    native.genrule(
        name = together,
        testonly = testonly,
        outs = [together + ".cc"],
        cmd = "cat > $@ <<'END'\n%sEND" % "".join(includes),
        tags = ["manual"],
    )
    included = together + "_included"
    cc_library(
        name = included,
        testonly = testonly,
        textual_hdrs = files,
        tags = ["manual"],
    )
    others = [src for src in srcs if src not in files]
    return others + prefix_select([together], files), prefix_select([included], [])
