"""The programs of an archive: linked statically where Debian has static libraries, and compiled for a given processor."""

LEVELS = ["x86-64", "x86-64-v2"]

def _level_impl(settings, attr):
    copts = [c for c in settings["//command_line_option:copt"] if not c.startswith(("-march=", "-mtune="))]
    return {"//command_line_option:copt": copts + ["-march=" + attr.level]}

_level = transition(
    implementation = _level_impl,
    inputs = ["//command_line_option:copt"],
    outputs = ["//command_line_option:copt"],
)

def _program_impl(ctx):
    # A transition of an attribute gives a list.
    linked = ctx.attr.linked[0][DefaultInfo].files_to_run.executable
    program = ctx.actions.declare_file(ctx.attr.level + "/" + ctx.attr.command)
    ctx.actions.run_shell(
        inputs = [linked],
        outputs = [program],
        command = "strip --strip-all -o %s %s" % (program.path, linked.path),
        mnemonic = "Strip",
    )
    return [DefaultInfo(files = depset([program]))]

program = rule(
    implementation = _program_impl,
    doc = "LEVEL/COMMAND: `linked` with all it uses, compiled for a level of x86-64, without symbols.",
    attrs = {
        "command": attr.string(mandatory = True),
        "level": attr.string(values = LEVELS, mandatory = True),
        "linked": attr.label(cfg = _level, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)

def programs(commands):
    """Targets NAME.x86-64-v2: all `commands` (name to the label of its main).

    Returns: their labels.
    """
    labels = []
    for name, main in commands.items():
        native.cc_binary(
            name = "linked/" + name,
            # The static libraries come first on the line, so that the shared ones behind them have nothing to give.
            # RPATH, unlike RUNPATH, holds for the libraries of the libraries too.
            linkopts = [
                "-Wl,--as-needed,--gc-sections,--exclude-libs=ALL",
                "$(location :static_libraries.lds)",
                "-Wl,--disable-new-dtags,-rpath,$$ORIGIN/..",
            ],
            tags = ["manual"],
            deps = [
                main,
                ":older_glibc",
                ":static_libraries.lds",
            ],
        )
        program(
            name = name + ".x86-64-v2",
            command = name,
            level = "x86-64-v2",
            linked = ":linked/" + name,
            tags = ["manual"],
        )
        labels.append(":%s.x86-64-v2" % name)
    return labels
