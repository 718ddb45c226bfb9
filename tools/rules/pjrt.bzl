"""@pjrt: the headers of the PJRT C API, out of a wheel that carries them.

Only the headers are fetched, not the quarter of a gigabyte around them; they lie in ~/.cache/armillary and are checked
against the hashes below, so that a build with a warm cache needs no network.
"""

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
)

filegroup(
    name = "header",
    srcs = ["include/xla/pjrt/c/pjrt_c_api.h"],
)
"""

_INCLUDE = "tensorflow/include/"

def _pjrt_repository(rctx):
    python = [
        line.split("\"")[1]
        for line in rctx.read(rctx.attr._python).split("\n")
        if line.startswith("PYTHON = ")
    ][0]
    cache = "{}/.cache/armillary/{}".format(rctx.os.environ["HOME"], rctx.attr.wheel.replace("==", "-"))
    members = [_INCLUDE + name + "=" + digest for name, digest in rctx.attr.headers.items()]
    rctx.report_progress("fetching headers of " + rctx.attr.wheel)
    made = rctx.execute([python, rctx.path(rctx.attr._script), rctx.attr.wheel, cache] + members, timeout = 1800)
    if made.return_code != 0:
        fail("wheel_files.py failed:\n" + made.stdout + made.stderr)
    for name in rctx.attr.headers:
        rctx.symlink(cache + "/" + _INCLUDE + name, "include/" + name)
    rctx.file("BUILD", _BUILD)

pjrt_repository = repository_rule(
    implementation = _pjrt_repository,
    attrs = {
        "wheel": attr.string(mandatory = True, doc = "name==version"),
        "headers": attr.string_dict(mandatory = True, doc = "path below include/ -> SHA-256"),
        "_python": attr.label(default = "@python//:defs.bzl"),
        "_script": attr.label(default = "//tools:wheel_files.py"),
    },
    environ = ["HOME"],
)
