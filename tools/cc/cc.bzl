"""The C++ rules of this project: Bazel's own, with a precompiled header of what most files include.

Compiling a typical file of a hundred lines takes 0.8 s of processor time instead of 2.6 s, and gives the same code.

    precompiled_header(name = "common_headers", hdr = "common_headers.h", deps = [...])
    cc_library(...), cc_binary(...), cc_test(...)    # attributes of Bazel's rules

g++ uses the precompiled header (common_headers.h.gch) if `common_headers.h` is the first file that a source includes;
the macros include it on the command line (-include). If g++ cannot use it, as in position-independent code, it reads
the text. A precompiled header brings its own optimization options, which override those of the command line, so targets
with `copts` of their own do not use it. Sources still include all headers that they use:
`--define=precompiled_headers=off` builds without precompiled headers.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
    context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context

    # A copy of the header in a folder of its own: g++ looks for NAME.h.gch only in the folder of NAME.h.
    header = ctx.actions.declare_file("precompiled/" + ctx.file.hdr.basename)
    ctx.actions.expand_template(template = ctx.file.hdr, output = header, substitutions = {})
    compiled = ctx.actions.declare_file(header.basename + ".gch", sibling = header)

    # g++ requires the same flags as for the files that use the header.
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = compiled.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
    )
    action = ACTION_NAMES.cpp_compile
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = ["-x", "c++-header"] + cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [compiled],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling " + ctx.file.hdr.short_path,
    )
    return [
        DefaultInfo(files = depset([header, compiled])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([header, compiled], transitive = [context.headers]),
            quote_includes = context.quote_includes,
            includes = context.includes,
            system_includes = context.system_includes,
            defines = context.defines,
        )),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "hdr": attr.label(mandatory = True, allow_single_file = [".h"], doc = "A header that includes others."),
        "deps": attr.label_list(providers = [CcInfo], doc = "The libraries of the included headers."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _with_precompiled(rule, headers, copts = [], deps = [], **attributes):
    if copts:
        rule(copts = copts, deps = deps, **attributes)
        return
    rule(
        copts = select({
            "//tools/cc:without_precompiled_headers": [],
            "//conditions:default": ["-include", "tools/cc/precompiled/%s.h" % headers],
        }),
        deps = deps + select({
            "//tools/cc:without_precompiled_headers": [],
            "//conditions:default": ["//tools/cc:" + headers],
        }),
        **attributes
    )

def _headers():
    return "test_headers" if native.package_name().split("/")[0] == "tests" else "common_headers"

def cc_library(**attributes):
    _with_precompiled(native.cc_library, _headers(), **attributes)

def cc_binary(**attributes):
    _with_precompiled(native.cc_binary, _headers(), **attributes)

def cc_test(**attributes):
    _with_precompiled(native.cc_test, _headers(), **attributes)

# The levels of x86-64 for which loops are compiled, the lowest, for which all else is compiled, first.
_LEVELS = ["v2", "v3", "v4"]

# Bits that do not depend on the level: no additions fused with multiplications (a file whose sums shall be asks for them by copts of
# its own), and halves converted by the same code. g++ 12 fuses complex products even so (vfmaddsub), where it makes vectors of
# straight code: it makes none here.
_LEVEL_COPTS = [
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-slp-vectorize",
    "-ffp-contract=off",
    "-mno-f16c",
    "-mtune=generic",
]

# Inline functions and templates become functions of the object: the linker would take one object's for all, and those with AVX-512
# would run on processors without it. g++ then warns of inline variables, which it leaves to other objects; v2 has the other warnings.
_ISOLATED = ["-fno-weak", "-w"]

def cc_library_per_level(name, hdrs, deps = [], copts = [], **attributes):
    """A library whose sources are compiled for each level of x86-64, into the namespace TOROID_LEVEL (runtime/loops/per_level.h)."""
    for level in _LEVELS:
        native.cc_library(
            name = name + "." + level,
            hdrs = hdrs,
            features = ["-supports_pic"],  # Each object is compiled once, also for those who read the archive.
            copts = _LEVEL_COPTS + ["-march=x86-64-" + level, "-DTOROID_LEVEL=" + level] +
                    (_ISOLATED if level != _LEVELS[0] else []) + copts,
            deps = deps,
            **attributes
        )
    native.cc_library(
        name = name,
        hdrs = hdrs,
        deps = deps + [":%s.%s" % (name, level) for level in _LEVELS],
    )
