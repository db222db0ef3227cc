#include "tests/random/check_program.h"

#include "absl/strings/str_cat.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"

namespace toroid {

std::string CheckRandomProgram(const RandomProgram& program) {
  const auto failure = [&](absl::string_view what) {
    return absl::StrCat(
        program.kind, ": ", what, "\npartitions ", program.options.num_partitions, ", device order ",
        program.options.device_order_seed ? absl::StrCat(*program.options.device_order_seed) : "plain",
        program.options.on_local_value ? ", poisoned" : "",
        program.options.replicate_outputs ? ", outputs replicated" : "", "\n", program.text,
        program.reference);
  };
  const auto module = ParseModule(program.text);
  if (!module.ok()) return failure(absl::StrCat("does not parse: ", module.status().message()));
  const absl::Status verified = VerifyModule(**module);
  if (!verified.ok()) return failure(absl::StrCat("does not verify: ", verified.message()));
  const auto reference = ParseModule(program.reference.empty() ? program.text : program.reference);
  if (!reference.ok())
    return failure(absl::StrCat("the reference does not parse: ", reference.status().message()));
  RunOptions single;
  single.num_replicas = ReplicasOf(**module);
  const auto expected = RunSingle(**reference, program.arguments, single);
  if (!expected.ok()) return failure(absl::StrCat("unpartitioned: ", expected.status().message()));
  const auto actual = PartitionAndRun(**module, program.options, program.arguments);
  if (!actual.ok()) return failure(absl::StrCat("partitioned: ", actual.status().message()));
  const Comparison comparison =
      Compare(*actual, *expected, program.exact ? std::optional<double>(0) : std::nullopt);
  if (comparison.equal) return "";
  return failure(
      absl::StrCat("differs at ", comparison.outputs.empty() ? "" : comparison.outputs[0].difference));
}

}  // namespace toroid
