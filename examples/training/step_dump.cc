#include "examples/training/step_dump.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/dce_pass.h"
#include "runtime/arguments/npz.h"

namespace toroid {
namespace {

absl::Status WriteArrays(const std::vector<Literal>& arrays, const std::vector<std::string>& names,
                         const std::string& path) {
  absl::StatusOr<std::string> bytes = WriteNpz(arrays, names);
  if (!bytes.ok()) return Annotate(bytes.status(), path);
  return WriteFile(path, *bytes);
}

// The program for one device, without shardings.
std::unique_ptr<Module> WithoutShardings(const Module& module) {
  std::unique_ptr<Module> single = CloneModule(module);
  single->config().num_partitions = 1;
  for (const std::unique_ptr<Computation>& computation : single->computations()) {
    std::vector<Instruction*> now(computation->instructions().size());
    for (const std::unique_ptr<Instruction>& instruction : computation->instructions()) {
      instruction->set_sharding(nullptr);
      Instruction* value = instruction.get();
      while (IsShardingAnnotation(*value)) value = value->operand(0);
      if (value != instruction.get()) now[instruction->index()] = value;
    }
    ReplaceUses(computation.get(), now);
  }
  EliminateDeadCode(single.get());
  return single;
}

}  // namespace

absl::Status DumpSteps(const Trainer& trainer, const TrainingData& data, int64_t steps,
                       const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  HloFile file;
  file.module = WithoutShardings(*trainer.program().step);
  RETURN_IF_ERROR(WriteHloFile(file, absl::StrCat(folder, "/step.hlo.pb")));
  ASSIGN_OR_RETURN(Checkpoint state, trainer.Save());
  state.names.resize(trainer.program().state.size());
  state.arrays.resize(trainer.program().state.size());
  RETURN_IF_ERROR(WriteArrays(state.arrays, state.names, absl::StrCat(folder, "/state.npz")));
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t step = trainer.steps_done() + i;
    std::vector<Literal> inputs = data.training(step);
    inputs.insert(inputs.begin(), trainer.SeedOfStep(step));
    RETURN_IF_ERROR(WriteArrays(inputs, {}, absl::StrCat(folder, "/inputs_", i, ".npz")));
  }
  return absl::OkStatus();
}

absl::Status DumpLosses(const LearningCurve& curve, const std::string& name, int64_t steps,
                        const std::string& folder) {
  std::string table = absl::StrCat("step\t", name, "\n");
  if (const LearningCurve::Series* series = curve.Find(name)) {
    for (const LearningCurve::Point& point : series->points) {
      if (point.step <= steps) absl::StrAppendFormat(&table, "%d\t%.9g\n", point.step, point.value);
    }
  }
  return WriteFile(absl::StrCat(folder, "/losses.tsv"), table);
}

}  // namespace toroid
