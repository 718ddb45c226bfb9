"""@python: an interpreter that has every package of the lock file, so tests need no virtual environment.

The packages lie in ~/.cache/armillary/python-<key>, where the key hashes the lock file and the interpreter: all
output bases share them, a changed lock makes a new one. Tests get the interpreter, not its 18,000 files, as an input.
"""

_PROBE = """
import hashlib, platform, sys, sysconfig
key = hashlib.sha256(open(sys.argv[1], "rb").read() + (sys.version + sys.base_prefix).encode()).hexdigest()[:12]
cpython = "cp{}{}".format(*sys.version_info)
glibc = platform.libc_ver()[1].replace(".", "_")
tag = "{0}-{0}-manylinux_{1}_{2}".format(cpython, glibc, platform.machine())
print(sys.executable, sysconfig.get_path("include"), tag, key, sep="\\n")
"""

_BUILD = """
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")

package(default_visibility = ["//visibility:public"])

py_runtime(
    name = "runtime",
    interpreter_path = "{python}",
    python_version = "PY3",
)

py_runtime_pair(
    name = "runtimes",
    py2_runtime = None,
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtimes",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)

cc_library(
    name = "headers",
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
)

cc_library(
    name = "pybind11",
    hdrs = glob(["site-packages/pybind11/include/**/*.h"]),
    includes = ["site-packages/pybind11/include"],
    deps = [":headers"],
)

cc_library(
    name = "nanobind",
    srcs = ["site-packages/nanobind/src/nb_combined.cpp"],
    hdrs = glob(["site-packages/nanobind/include/**/*.h"]),
    copts = ["-w", "-fno-strict-aliasing"],
    includes = [
        "site-packages/nanobind/ext/robin_map/include",
        "site-packages/nanobind/include",
    ],
    textual_hdrs = glob([
        "site-packages/nanobind/src/*.cpp",
        "site-packages/nanobind/src/*.h",
        "site-packages/nanobind/ext/**/*.h",
    ]),
    deps = [":headers"],
)

# Header only: who calls OpenBLAS opens the shared library that its Python package carries.
cc_library(
    name = "openblas",
    hdrs = glob(["site-packages/scipy_openblas32/include/**/*.h"]),
    includes = ["site-packages/scipy_openblas32/include"],
)

# The C API of XLA's FFI, which jaxlib ships.
cc_library(
    name = "jaxlib_headers",
    hdrs = glob(["site-packages/jaxlib/include/**/*.h"]),
    includes = ["site-packages/jaxlib/include"],
)

# A file that changes with the packages, for rules that read them.
filegroup(
    name = "stamp",
    srcs = ["stamp"],
)
"""

_DEFS = """
PYTHON = "{python}"
SITE_PACKAGES = "{site_packages}"
WHEEL_TAG = "{tag}"
"""

_HEADER_PACKAGES = ["pybind11", "nanobind", "scipy_openblas32", "jaxlib"]

def _python_repository(rctx):
    lock = rctx.path(rctx.attr.lock)
    python = rctx.which("python3")
    if not python:
        fail("python3 is not installed; tools/setup.sh installs it.")
    probe = rctx.execute([python, "-c", _PROBE, lock])
    if probe.return_code != 0:
        fail("python3 cannot describe itself: " + probe.stderr)
    executable, include, tag, key = probe.stdout.strip().split("\n")

    env = "{}/.cache/armillary/python-{}".format(rctx.os.environ["HOME"], key)
    rctx.report_progress("installing the locked Python packages into " + env)
    made = rctx.execute([rctx.path(rctx.attr.script), executable, lock, env], timeout = 1800)
    if made.return_code != 0:
        fail("python_env.sh failed:\n" + made.stdout + made.stderr)
    site_packages = rctx.execute([env + "/bin/python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
    site_packages = site_packages.stdout.strip()

    rctx.symlink(include, "include")
    for package in _HEADER_PACKAGES:
        rctx.symlink(site_packages + "/" + package, "site-packages/" + package)
    rctx.file("stamp", key)
    rctx.file("BUILD", _BUILD.format(python = env + "/bin/python"))
    rctx.file("defs.bzl", _DEFS.format(python = env + "/bin/python", site_packages = site_packages, tag = tag))

python_repository = repository_rule(
    implementation = _python_repository,
    attrs = {
        "lock": attr.label(mandatory = True, allow_single_file = True),
        "script": attr.label(mandatory = True, allow_single_file = True),
    },
    environ = ["PATH", "HOME"],
)
