// What `--check` does once the program has run: reference runs, comparisons, the line of JSON.
#ifndef TOROID_RUNTIME_CHECK_RUN_CHECK_H_
#define TOROID_RUNTIME_CHECK_RUN_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "nlohmann/json.hpp"
#include "runtime/check/program_runner.h"

namespace toroid {

struct RunCheck {
  const Module* program = nullptr;    // What ran.
  const Module* reference = nullptr;  // The unpartitioned module to compare with, if there is one.
  const Literal* recorded = nullptr;  // The result recorded with the arguments, if there is one.
  const Shape* global = nullptr;      // Of the result; null: what the shards make.
  std::vector<double> tolerances;     // For each array leaf, or one for all.
  bool promote = false;
  int64_t num_partitions = 1;
  double partition_seconds = 0;
};

struct CheckOutcome {
  nlohmann::ordered_json json;
  std::string difference;  // The first one; empty if equal.
};

// Compares `result`, of the last run of `runner`. With neither reference nor recorded result it compares
// nothing.
absl::StatusOr<CheckOutcome> CheckRun(const RunCheck& check, const Literal& result, ProgramRunner& runner);

}  // namespace toroid

#endif  // TOROID_RUNTIME_CHECK_RUN_CHECK_H_
