"""The repositories that Toroid's targets use."""

def toroid_repositories(toroid = "."):
    """Declares them, in a WORKSPACE.

    Args:
      toroid: the folder of Toroid, as in the local_repository that names it; "." is Toroid's own.
    """

    # Dependencies are packages of the distribution, installed under /usr by setup.sh: nothing is downloaded.
    # A repository is looked at only when a target needs it, so the test libraries may be absent from a machine
    # that runs no tests.

    native.new_local_repository(
        name = "com_google_absl",
        build_file = "@toroid//third_party:absl.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "com_google_protobuf",
        build_file = "@toroid//third_party:protobuf.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "eigen",
        build_file = "@toroid//third_party:eigen.BUILD",
        path = "/usr/include/eigen3",
    )

    native.new_local_repository(
        name = "cli11",
        build_file = "@toroid//third_party:cli11.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "nlohmann_json",
        build_file = "@toroid//third_party:nlohmann_json.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "zlib",
        build_file = "@toroid//third_party:zlib.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "libzip",
        build_file = "@toroid//third_party:libzip.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "mimalloc",
        build_file = "@toroid//third_party:mimalloc.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "asmjit",
        build_file = "@toroid//third_party:asmjit.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "openmpi",
        build_file = "@toroid//third_party:openmpi.BUILD",
        path = "/usr/lib/x86_64-linux-gnu/openmpi",
    )

    native.new_local_repository(
        name = "d3",
        build_file = "@toroid//third_party:d3.BUILD",
        path = "/usr/share/javascript/d3",
    )

    native.new_local_repository(
        name = "dagre",
        build_file = "@toroid//third_party:dagre.BUILD",
        path = "/usr/lib/python3/dist-packages/xstatic/pkg/dagre/data",
    )

    # The one dependency that no package has.

    native.new_local_repository(
        name = "pocketfft",
        build_file = "@toroid//third_party:pocketfft.BUILD",
        path = toroid + "/third_party/pocketfft",
    )

    # For tests and benchmarks only.

    native.new_local_repository(
        name = "com_google_googletest",
        build_file = "@toroid//third_party:googletest.BUILD",
        path = "/usr",
    )

    native.new_local_repository(
        name = "com_google_benchmark",
        build_file = "@toroid//third_party:benchmark.BUILD",
        path = "/usr",
    )

    # Bazel's own tools name these repositories and would download them.

    native.local_repository(
        name = "rules_cc",
        path = toroid + "/third_party/rules_cc",
    )

    native.local_repository(
        name = "rules_java",
        path = toroid + "/third_party/rules_java",
    )

    native.local_repository(
        name = "remote_coverage_tools",
        path = toroid + "/third_party/remote_coverage_tools",
    )
