// The parts of build_prediction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hlo/analysis/source_frames.h"
#include "hlo/io/hlo_text_names.h"
#include "simulator/prediction/build_prediction.h"

namespace toroid {

class PredictionBuilder {
 public:
  explicit PredictionBuilder(const PredictionInputs& inputs)
      : inputs_(inputs),
        module_(inputs.lowered),
        schedule_(inputs.schedule),
        frames_(module_),
        names_(module_) {}

  absl::StatusOr<Prediction> Build();

 private:
  // A row for each op that takes time; costliest first.
  absl::Status AddRows();
  void AddNotes();
  // What a target computes is not known here, so it takes as long as reading its operands and writing its result.
  void AddNotesOnCustomCalls();
  // As the printed module has it: lowering makes many instructions of one name.
  std::string NameOf(const Instruction& op) const;
  PredictedGroup GroupRow(const Instruction& op);
  // Of groups with several products; what they share is divided as their own cycles are.
  static void AddParts(const Instruction& group, const std::vector<double>& product_cycles,
                       PredictedGroup* row);
  absl::StatusOr<PredictedCollective> CollectiveRow(const Instruction& op);
  PredictedCollective HostRow(const Instruction& op, HostCopy copy);
  static std::string NameOf(HostCopy copy);
  // Collectives with the same traffic share a pattern.
  int LinkLoad(const CollectiveTime& time);
  void AddNetwork();
  void AddMemory();
  void AddNoteOnRematerialization();
  // Events of one run of a computation that begins at `start`.
  void AddEvents(const Computation& computation, int64_t start);
  void AddBodies(const ScheduledOp& op, int64_t start);
  int64_t DurationOf(const Computation& computation) const;

  const PredictionInputs& inputs_;
  const Module& module_;
  const Schedule& schedule_;
  SourceFrames frames_;
  const TextNames names_;
  std::map<const Instruction*, double> executions_;
  std::map<const Instruction*, int> row_;
  std::map<const Instruction*, HostCopy> host_copies_;
  std::map<const Instruction*, int64_t> copy_ps_;  // Of those.
  std::map<std::pair<const std::vector<double>*, int64_t>, int> patterns_;
  Prediction prediction_;
};

// What the framework that wrote the program calls the op that a group is named after; "" if nothing does.
std::string OpNameOf(const Instruction& instruction);
// Runs computations of its own.
bool HasBody(const Instruction& op);

}  // namespace toroid
