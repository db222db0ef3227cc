#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "simulator/prediction/prediction_builder.h"

namespace toroid {
namespace {

// A timeline with more events is slow to draw and no clearer.
constexpr size_t kMostEvents = 50000;

Stream StreamOf(const ScheduledOp& op) {
  if (op.host_copy == HostCopy::kToHost) return Stream::kToHost;
  if (op.host_copy == HostCopy::kToDevice) return Stream::kToDevice;
  if (op.host_copy == HostCopy::kToChip) return Stream::kToChip;
  return op.is_communication ? Stream::kCommunication : Stream::kCompute;
}

}  // namespace

void PredictionBuilder::AddEvents(const Computation& computation, int64_t start) {
  for (const ScheduledOp& op : schedule_.computations[computation.index()].ops) {
    if (prediction_.events.size() >= kMostEvents) {
      prediction_.events_truncated = true;
      return;
    }
    if (!HasBody(*op.instruction)) {
      if (op.end_ps == op.start_ps) continue;
      prediction_.events.push_back(
          {start + op.start_ps, op.end_ps - op.start_ps, StreamOf(op), row_.at(op.instruction)});
    } else {
      AddBodies(op, start + op.start_ps);
    }
  }
}

void PredictionBuilder::AddBodies(const ScheduledOp& op, int64_t start) {
  const auto called = op.instruction->called();
  if (op.instruction->opcode() == Opcode::kConditional) {
    const auto costliest = std::max_element(
        called.begin(), called.end(),
        [&](const Computation* a, const Computation* b) { return DurationOf(*a) < DurationOf(*b); });
    AddEvents(**costliest, start);
    return;
  }
  int64_t iteration = 0;
  for (const Computation* callee : called) iteration += DurationOf(*callee);
  for (int64_t trip = 0; trip < op.trips && iteration > 0; ++trip) {
    if (prediction_.events.size() >= kMostEvents) {
      prediction_.events_truncated = true;
      return;
    }
    int64_t at = start + trip * iteration;
    // The condition of a loop is its second computation, and runs first.
    for (size_t i = called.size(); i-- > 0;) {
      AddEvents(*called[i], at);
      at += DurationOf(*called[i]);
    }
  }
}

int64_t PredictionBuilder::DurationOf(const Computation& computation) const {
  return schedule_.computations[computation.index()].duration_ps;
}

}  // namespace toroid
