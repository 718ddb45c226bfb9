"""@llvm: the installed LLVM, as headers plus two ways to link it."""

_BUILD = """
package(default_visibility = ["//visibility:public"])

# What a library that includes LLVM headers depends on; the binary decides how to link.
cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    defines = ["__STDC_CONSTANT_MACROS", "__STDC_FORMAT_MACROS", "__STDC_LIMIT_MACROS"],
)

# For the wheel: no LLVM is needed at run time.
cc_library(
    name = "llvm_static",
    deps = [":headers"],
    linkopts = {static},
)

# For test binaries: they link in a moment.
cc_library(
    name = "llvm_shared",
    deps = [":headers"],
    linkopts = {shared},
)

exports_files(glob(["bin/*"]))
"""

# Debian has these as archives too; the wheel must not ask for a shared library that other systems lack.
_SYSTEM_LIBS = ["-l:libz.a", "-l:libzstd.a", "-lrt", "-ldl", "-lm", "-lpthread"]

def _ask(rctx, config, args):
    result = rctx.execute([config] + args)
    if result.return_code != 0:
        fail("llvm-config {}: {}".format(" ".join(args), result.stderr))
    return result.stdout.strip()

def _llvm_repository(rctx):
    version = rctx.attr.version
    config = rctx.which("llvm-config-" + version)
    if not config:
        fail("llvm-config-{v} is not installed; tools/setup.sh installs llvm-{v}-dev.".format(v = version))

    include = _ask(rctx, config, ["--includedir"])
    lib = _ask(rctx, config, ["--libdir"])
    bin = _ask(rctx, config, ["--bindir"])
    for entry in ["llvm", "llvm-c"]:
        rctx.symlink(include + "/" + entry, "include/" + entry)
    for tool in ["FileCheck", "not", "llvm-mc", "llvm-objdump", "llc", "opt", "clang-format"]:
        if rctx.path(bin + "/" + tool).exists:
            rctx.symlink(bin + "/" + tool, "bin/" + tool)
    static = _ask(rctx, config, ["--link-static", "--libs"] + rctx.attr.components).split(" ")
    rctx.file("BUILD", _BUILD.format(
        static = repr(["-L" + lib] + static + _SYSTEM_LIBS),
        shared = repr(["-L" + lib, "-lLLVM-" + version]),
    ))

llvm_repository = repository_rule(
    implementation = _llvm_repository,
    attrs = {
        "version": attr.string(mandatory = True),
        "components": attr.string_list(default = ["x86", "nvptx", "orcjit", "passes"]),
    },
    environ = ["PATH"],
    local = True,
)
