"""The commands and their mains, and the version. Written by tools/generate_build.py; do not edit."""

COMMANDS = {
    "hlo-convert": "//commands:hlo_convert_main",
    "hlo-diff": "//commands:hlo_diff_main",
    "hlo-partition": "//commands:hlo_partition_main",
    "hlo-run": "//commands:hlo_run_main",
    "hlo-simulate": "//commands:hlo_simulate_main",
}

VERSION = "0.1.0"
