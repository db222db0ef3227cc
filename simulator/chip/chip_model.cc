#include "simulator/chip/chip_model.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace toroid {
namespace {

constexpr double kPicosecondsPerSecond = 1e12;

int64_t PicosecondsIn(double cycles, const CoreSpec& core) {
  return static_cast<int64_t>(std::min(cycles / core.clock_hertz() * kPicosecondsPerSecond, 4e18));
}

// The largest part, and whose it is; latency if it is the smaller part of the whole.
Bound BoundOf(double total, double matrix, double vector, double memory, double movement) {
  const double most = std::max({matrix, vector, memory, movement});
  if (2 * most < total) return Bound::kLatency;
  if (most == matrix) return Bound::kMatrix;
  if (most == memory) return Bound::kMemory;
  return most == vector ? Bound::kVector : Bound::kMovement;
}

}  // namespace

const GroupTime& ChipModel::TimeOf(const Instruction& group) {
  const CompilerScope scope(core_, decisions_);
  const GroupWork work = GroupWorkOf(group, core_);
  const auto [place, is_new] = known_.try_emplace(work);
  if (is_new) place->second = Compute(work);
  return place->second;
}

RuleSet ChipModel::RulesOf(const Instruction& group) const {
  Decisions decisions;
  const CompilerScope scope(core_, &decisions);
  const GroupWork work = GroupWorkOf(group, core_);
  RuleSet rules;
  for (const auto& [op, decided] : decisions.of) rules |= decided;
  // Of rules that are asked for without an op: those without which the group asks for something else.
  const RuleSet others = decisions.asked & ~rules;
  for (size_t rule = 0; rule < kRules; ++rule) {
    if (!others[rule]) continue;
    CoreSpec without = core_;
    without.mutable_compiler()->add_without_rule(std::string(RowOf(static_cast<Rule>(rule)).name));
    const CompilerScope other_scope(without);
    if (!(GroupWorkOf(group, without) == work)) rules.set(rule);
  }
  return rules;
}

double ChipModel::TimesMade(const GroupWork& work) const {
  const MatrixWork &outer = work.products[0], &inner = work.products[1];
  if (outer.lhs_bytes > 0 || outer.channel_taps > 0) return 1;
  const double parts =
      2 * (inner.lhs_bytes + work.bytes) / static_cast<double>(core_.memory().window_budget_bytes());
  return ReadsOfParts(outer.places, std::exp2(std::ceil(std::log2(std::max(1.0, parts)))));
}

GroupTime ChipModel::Compute(const GroupWork& work) const {
  GroupTime time;
  if (work == GroupWork()) return time;
  const MemorySpec& memory = core_.memory();
  const double out_cycles = (work.bytes - work.written_bytes) / StreamRate(core_) +
                            (work.written_bytes + work.spill_bytes) / WriteRate(core_);
  const double slots = static_cast<double>(std::max<int64_t>(1, core_.vector().slots()));
  double cycles = core_.group_cycles();
  double matrix = 0, vector = 0, bytes = 0, moved = 0, movement = work.movement_cycles;
  const double transfers = work.rows * core_.movement().row_transfer_cycles();
  if (work.products.empty()) {
    bytes = work.bytes + work.spill_bytes;
    moved = out_cycles;
    vector = work.slots / slots + core_.vector().cycles_per_register() * work.registers +
             core_.vector().access_cycles() * work.accesses;
    const double window =
        static_cast<double>(work.single ? memory.single_window_bytes() : memory.window_bytes());
    // The small windows of a lone op are packed before the next one is loaded.
    const double passed = work.single ? std::max(moved, vector) + work.packing_cycles
                                      : std::max(moved, vector + work.packing_cycles);
    const double waits = bytes > window ? memory.window_cycles() * bytes / window : 0;
    time.windows = std::max(1.0, std::ceil(bytes / window));
    // Half of the windows are worked on while the others move: the work on the last ones is not hidden.
    const double last = !work.single && moved > vector ? vector / (2 * std::max(1.0, bytes / window)) : 0;
    cycles += std::max({passed + last + waits, movement, transfers + waits});
  } else {
    cycles += core_.matrix().fill_cycles();
    const double passes = core_.vector().cycles_per_register() * work.registers +
                          core_.vector().access_cycles() * work.accesses;
    const double out_slots = work.slots > 0 ? work.slots + slots * passes : 0;
    const bool leave_inside =
        work.products.size() == 2 && work.products[1].holds_rhs && work.products[0].channel_taps == 0;
    ProductResults leaving;
    time.windows = 0;
    for (size_t p = 0; p < work.products.size(); ++p) {
      // The outermost product stands first: it has the results of the group. They leave while the kernel inside of it slides.
      ProductResults results = p == 0 ? ProductResults{work.bytes + work.spill_bytes, out_cycles, out_slots,
                                                       work.bytes - work.written_bytes}
                                      : ProductResults{0, 0, work.products[p].out_slots, 0};
      if (leave_inside) std::swap(results.bytes, leaving.bytes), std::swap(results.cycles, leaving.cycles);
      WindowedTime windows = TimeInWindows(work.products[p], results, core_);
      if (p == 1) windows.cycles *= TimesMade(work);
      cycles += windows.cycles;
      time.product_cycles.push_back(windows.cycles);
      matrix += windows.matrix;
      vector += windows.vector;
      moved += windows.memory;
      bytes += windows.bytes;
      time.windows += windows.windows;
    }
    cycles += movement + work.packing_cycles;
  }
  movement = std::max(movement, transfers);
  time.picoseconds = PicosecondsIn(cycles, core_);
  time.bound = BoundOf(cycles, matrix, vector, moved, movement);
  time.unit_picoseconds = {PicosecondsIn(matrix, core_), PicosecondsIn(vector, core_),
                           PicosecondsIn(moved, core_), PicosecondsIn(movement, core_)};
  time.flops = work.matrix_flops + work.vector_flops;
  time.bytes = bytes;
  const double vector_peak =
      static_cast<double>(core_.vector().lanes() * core_.vector().sublanes()) * slots * core_.clock_hertz();
  const double ideal =
      std::max({work.matrix_flops / PeakMatrixFlopsPerSecond(core_), work.vector_flops / vector_peak,
                work.ideal_bytes / memory.bytes_per_second()});
  time.roofline_picoseconds = static_cast<int64_t>(std::min(ideal * kPicosecondsPerSecond, 4e18));
  return time;
}

}  // namespace toroid
