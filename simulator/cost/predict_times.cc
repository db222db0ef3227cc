#include "simulator/cost/predict_times.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "hlo/ir/edit.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

constexpr char kTag[] = "op";

// A copy in which names tell instructions apart: of a program that was just made many have none, and lowering keeps those of
// collectives. Instruction k of all has the name op<k>.
std::unique_ptr<Module> Tagged(const Module& program, std::vector<const Instruction*>* ops) {
  std::unique_ptr<Module> copy = CloneModule(program);
  for (const auto& computation : program.computations()) {
    for (const auto& op : computation->instructions()) {
      copy->computation(computation->index())
          ->instruction(op->index())
          ->set_name(absl::StrCat(kTag, ops->size()));
      ops->push_back(op.get());
    }
  }
  return copy;
}

// Null if the name, behind the computation's where that is given, is no tag.
const Instruction* TaggedOp(absl::string_view name, const std::vector<const Instruction*>& ops) {
  const size_t slash = name.rfind('/');
  if (slash != absl::string_view::npos) name.remove_prefix(slash + 1);
  size_t k = 0;
  if (!absl::ConsumePrefix(&name, kTag) || !absl::SimpleAtoi(name, &k) || k >= ops.size()) return nullptr;
  // An array of a merged collective, which lowering splits.
  return ops[k]->opcode() == Opcode::kGetTupleElement ? ops[k]->operand(0) : ops[k];
}

// What a collective of the lowered program stands for.
struct Part {
  const Instruction* op;
  double bytes;
};

// Of those that stand for several, by the first of them, whose name they have: the others' names are on their results.
absl::flat_hash_map<const Instruction*, std::vector<Part>> PartsOfCombined(
    const Module& lowered, const std::vector<const Instruction*>& ops) {
  absl::flat_hash_map<const Instruction*, std::vector<Part>> parts;
  for (const auto& computation : lowered.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() != Opcode::kGetTupleElement || op->operand(0)->opcode() != Opcode::kAllReduce)
        continue;
      const Instruction* all = TaggedOp(op->operand(0)->name(), ops);
      const Instruction* part = op->attrs().tuple_index() == 0 ? all : TaggedOp(op->name(), ops);
      // One with several results of its own is one.
      if (all == nullptr || part == nullptr || part->opcode() != Opcode::kAllReduce) continue;
      parts[all].push_back({part, static_cast<double>(ArrayBytes(op->shape()))});
    }
  }
  return parts;
}

// A simulated program, and what its collectives stand for.
class Simulated {
 public:
  static absl::StatusOr<Simulated> Of(const Module& program, const SimulationOptions& options) {
    Simulated made;
    const std::unique_ptr<Module> tagged = Tagged(program, &made.ops_);
    ASSIGN_OR_RETURN(Simulation simulation, Simulate(*tagged, options));
    made.parts_ = PartsOfCombined(*simulation.lowered, made.ops_);
    made.prediction_ = std::move(simulation.prediction);
    return made;
  }

  const Prediction& prediction() const { return prediction_; }

  // Adds seconds of a collective of the prediction to the ops of the program that it stands for, by their bytes.
  void Share(const PredictedCollective& collective, double seconds,
             absl::flat_hash_map<const Instruction*, double>* of) const {
    const Instruction* op = TaggedOp(collective.instruction, ops_);
    if (op == nullptr) return;  // Lowering made it.
    const auto found = parts_.find(op);
    double bytes = 0;
    if (found != parts_.end()) {
      for (const Part& part : found->second) bytes += part.bytes;
    }
    if (bytes == 0) {
      (*of)[op] += seconds;
      return;
    }
    for (const Part& part : found->second) (*of)[part.op] += seconds * part.bytes / bytes;
  }

 private:
  std::vector<const Instruction*> ops_;
  absl::flat_hash_map<const Instruction*, std::vector<Part>> parts_;
  Prediction prediction_;
};

// By collective of the prediction: the share of its time in which the core computes; -1 if the timeline does not show it.
std::vector<double> HiddenShares(const Prediction& prediction) {
  std::vector<const PredictedEvent*> computing, sending;
  for (const PredictedEvent& event : prediction.events) {
    if (event.stream == Stream::kCompute) computing.push_back(&event);
    if (event.stream == Stream::kCommunication) sending.push_back(&event);
  }
  std::vector<int64_t> hidden(prediction.collectives.size(), 0), all = hidden;
  size_t first = 0;  // Of the ops that may compute during the event; both lists are in order of time.
  for (const PredictedEvent* event : sending) {
    const int64_t end = event->start_ps + event->picoseconds;
    while (first < computing.size() &&
           computing[first]->start_ps + computing[first]->picoseconds <= event->start_ps)
      ++first;
    all[event->row] += event->picoseconds;
    for (size_t i = first; i < computing.size() && computing[i]->start_ps < end; ++i) {
      const int64_t from = std::max(event->start_ps, computing[i]->start_ps);
      const int64_t to = std::min(end, computing[i]->start_ps + computing[i]->picoseconds);
      hidden[event->row] += std::max<int64_t>(0, to - from);
    }
  }
  std::vector<double> shares;
  for (size_t i = 0; i < all.size(); ++i)
    shares.push_back(all[i] == 0 ? -1 : static_cast<double>(hidden[i]) / static_cast<double>(all[i]));
  return shares;
}

}  // namespace

absl::StatusOr<PredictedTimes> PredictTimes(const Module& program, const Machine& machine) {
  SimulationOptions options;
  options.machine = machine;
  ASSIGN_OR_RETURN(const Simulated simulated, Simulated::Of(program, options));
  PredictedTimes times;
  times.machine = simulated.prediction().machine;
  times.step_seconds = SecondsOf(simulated.prediction().step_ps);
  for (const PredictedCollective& collective : simulated.prediction().collectives) {
    if (IsHostCopy(collective)) continue;
    const double seconds = SecondsOf(collective.picoseconds) * collective.executions;
    times.collective_seconds += seconds;
    simulated.Share(collective, seconds, &times.of_collective);
  }
  return times;
}

absl::Status AddHiddenTimes(const Module& program, const Machine& machine, PredictedTimes* times) {
  SimulationOptions options;
  options.machine = machine;
  options.schedule.overlap = true;
  options.keep_timeline = true;
  ASSIGN_OR_RETURN(const Simulated simulated, Simulated::Of(program, options));
  times->overlapped_step_seconds = SecondsOf(simulated.prediction().step_ps);
  const std::vector<double> shares = HiddenShares(simulated.prediction());
  for (size_t i = 0; i < shares.size(); ++i) {
    const PredictedCollective& collective = simulated.prediction().collectives[i];
    const double seconds = SecondsOf(collective.picoseconds) * collective.executions;
    if (shares[i] >= 0) simulated.Share(collective, shares[i] * seconds, &times->hidden);
  }
  return absl::OkStatus();
}

}  // namespace toroid
