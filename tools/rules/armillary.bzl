"""The three shapes our targets have; everything else about a build is in .bazelrc."""

def arm_test(name, srcs, deps = [], **kwargs):
    """A GoogleTest binary; LLVM's shared library is linked only if something asks for it."""
    native.cc_test(
        name = name,
        srcs = srcs,
        deps = deps + ["@system//:gtest", "@llvm//:llvm_shared"],
        linkstatic = True,
        **kwargs
    )

def arm_pytest(name, srcs, deps = [], data = [], args = [], **kwargs):
    """A py_test that hands its files to pytest; every locked package can be imported."""
    native.py_test(
        name = name,
        srcs = srcs + ["//tools/rules:pytest_main.py"],
        main = "//tools/rules:pytest_main.py",
        args = ["$(location {})".format(src) for src in srcs] + args,
        data = data + srcs,
        deps = deps,
        **kwargs
    )

def arm_proto(name, src, visibility = None):
    """A .proto file as a C++ library, through the system's protoc; include it as "<package>/<name>.pb.h"."""
    base = src[:-len(".proto")]
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [base + ".pb.cc", base + ".pb.h"],
        cmd = "protoc --cpp_out=$(GENDIR) $(SRCS)",
    )
    native.cc_library(
        name = name,
        srcs = [base + ".pb.cc"],
        hdrs = [base + ".pb.h"],
        copts = ["-w"],
        visibility = visibility,
        deps = ["@system//:protobuf"],
    )
