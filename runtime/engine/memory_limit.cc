#include "runtime/engine/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "hlo/base/math.h"
#include "runtime/engine/kernel_table.h"
#include "runtime/groups/run_group.h"
#include "runtime/kernels/movement.h"
#include "runtime/moves/run_move.h"

namespace toroid {
namespace {

std::optional<int64_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return std::nullopt;  // "max" means no limit.
  return number;
}

int64_t AvailableInMachine() {
  std::ifstream file("/proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kilobytes;
    if (words.size() >= 2 && words[0] == "MemAvailable:" && absl::SimpleAtoi(words[1], &kilobytes))
      return kilobytes << 10;
  }
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page_size > 0 ? pages * page_size : INT64_MAX;
}

// The free memory that the control groups of this process allow, the least over all levels of each hierarchy.
int64_t AvailableInGroups() {
  int64_t least = INT64_MAX;
  const auto look = [&](const std::string& folder, const char* limit_name, const char* usage_name) {
    const std::optional<int64_t> limit = NumberIn(folder + limit_name), usage = NumberIn(folder + usage_name);
    if (limit) least = std::min(least, std::max<int64_t>(0, *limit - usage.value_or(0)));
  };
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const bool second = parts[1].empty();
    if (!second && parts[1] != "memory") continue;
    for (std::string path = parts[2];; path.resize(path.rfind('/'))) {
      if (path == "/") path.clear();
      if (second) {
        look("/sys/fs/cgroup" + path + "/", "memory.max", "memory.current");
      } else {
        look("/sys/fs/cgroup/memory" + path + "/", "memory.limit_in_bytes", "memory.usage_in_bytes");
      }
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

// Ops that need no storage of their own: the result shares an operand's, comes from a called computation, or
// comes from outside.
bool HandsOnStorage(Opcode opcode) {
  return HasTrait(opcode, kNoStorage) || HasTrait(opcode, kRunsBody) || HasTrait(opcode, kExchangesData) ||
         opcode == Opcode::kInfeed || opcode == Opcode::kSend || opcode == Opcode::kRecv ||
         opcode == Opcode::kCopy || opcode == Opcode::kCopyStart || opcode == Opcode::kFusion ||
         opcode == Opcode::kCustomCall;
}

// Whether the step's kernel reads its operands until it ends, and writes to arrays of its own.
bool WritesApart(const Step& step) {
  if (const Move* move = MoveOf(step)) return !move->is_operand;
  if (step.instructions != 1 || GroupOf(step) != nullptr) return false;
  switch (step.instruction->opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kConcatenate:
    case Opcode::kSlice:
      return !HandsOnOperand(*step.instruction);
    case Opcode::kReverse:
    case Opcode::kPad:
    case Opcode::kDot:
    case Opcode::kConvolution:
    case Opcode::kGather:
    case Opcode::kFft:
    case Opcode::kSort:
      return true;
    default:
      return false;
  }
}

class Estimator {
 public:
  explicit Estimator(int64_t copies) : copies_(copies) {}

  PeakEstimate Visit(const Plan& plan, const std::vector<bool>& uniform_arguments, bool count_parameters) {
    const size_t n = plan.values.size();
    std::vector<int64_t> bytes(n, 0);
    std::vector<bool> uniform(n, true);
    int64_t live = 0;
    for (size_t i = 0; i < plan.parameters.size(); ++i) {
      const int slot = plan.parameters[i];
      uniform[slot] = i >= uniform_arguments.size() || uniform_arguments[i];
      if (!plan.parameter_used[i] || !count_parameters) continue;
      bytes[slot] = Rows(plan.values[slot]->shape().ByteSize(), uniform[slot]);
      live = SaturatingAdd(live, bytes[slot]);
    }
    PeakEstimate peak{live, nullptr};
    for (const Step& step : plan.steps) {
      const Instruction& instruction = *step.instruction;
      FindUniform(step, uniform);
      const PeakEstimate inside = Inside(step, uniform);
      int64_t outside = live;
      for (size_t i = 0; i < step.operands.size() && i < 64; ++i) {
        if ((step.last_uses >> i) & 1) outside -= bytes[step.operands[i]];
      }
      if (inside.bytes > 0) Raise(SaturatingAdd(outside, inside.bytes), inside.instruction, &peak);
      // Operands that die here give their place to results only where the kernel can take it.
      const int64_t before = live;
      int64_t dying = 0;
      for (const int slot : step.frees) {
        dying = SaturatingAdd(dying, bytes[slot]);
        bytes[slot] = 0;
      }
      live -= dying;
      bytes[step.result] = std::max(ResultBytes(step, bytes, uniform[step.result]), HandedOn(step, dying));
      const int64_t results = bytes[step.result];
      for (const int slot : step.more_results) {
        bytes[slot] = Rows(plan.values[slot]->shape().ByteSize(), uniform[slot]);
        live = SaturatingAdd(live, bytes[slot]);
      }
      const int64_t held = SaturatingAdd(WritesApart(step) ? before : live, results);
      Raise(SaturatingAdd(held, Scratch(step, uniform)), &instruction, &peak);
      const bool unused = std::find(step.frees.begin(), step.frees.end(), step.result) != step.frees.end();
      if (unused) {
        bytes[step.result] = 0;
      } else {
        live = SaturatingAdd(live, results);
      }
    }
    return peak;
  }

 private:
  // Which results of a step are stored once for all devices.
  static void FindUniform(const Step& step, std::vector<bool>& uniform) {
    uint64_t varied = 0;
    bool same = true;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      same &= uniform[step.operands[i]];
      if (i < 64 && !uniform[step.operands[i]]) varied |= uint64_t{1} << i;
    }
    if (const Group* group = GroupOf(step)) {
      for (size_t o = 0; o < group->outputs.size(); ++o) {
        uniform[o == 0 ? step.result : step.more_results[o - 1]] = (group->outputs[o].depends & varied) == 0;
      }
      return;
    }
    if (MoveOf(step) != nullptr) {
      uniform[step.result] = same;
      return;
    }
    uniform[step.result] =
        same || HandsOnStorage(step.instruction->opcode()) || step.instruction->shape().IsTuple();
  }

  // Argument patterns (uniform or not) told apart per plan; all others share one lower bound.
  static constexpr size_t kWays = 16;

  // A callee's peak; its parameters belong to the caller. A plan is visited once per argument pattern, so
  // 2^60 calls, nested two by two, take 60 visits.
  PeakEstimate Callee(const Plan& plan, std::vector<bool> uniform_arguments) {
    std::map<std::vector<bool>, PeakEstimate>& known = known_[&plan];
    if (known.size() >= kWays && known.count(uniform_arguments) == 0) uniform_arguments.clear();
    const auto it = known.find(uniform_arguments);
    if (it != known.end()) return it->second;
    return known[uniform_arguments] = Visit(plan, uniform_arguments, /*count_parameters=*/false);
  }

  // The peak inside the computations that a step calls once per device; reducers and the like, called per
  // element, count 0.
  PeakEstimate Inside(const Step& step, const std::vector<bool>& uniform) {
    const Opcode opcode = step.instruction->opcode();
    PeakEstimate inside;
    if (opcode != Opcode::kWhile && opcode != Opcode::kConditional && opcode != Opcode::kCall &&
        opcode != Opcode::kFusion) {
      return inside;
    }
    std::vector<bool> arguments;
    if (opcode == Opcode::kCall || opcode == Opcode::kFusion) {
      for (const int slot : step.operands) arguments.push_back(uniform[slot]);
    }
    bool first = true;
    for (const Plan* callee : step.called) {
      const PeakEstimate one = Callee(*callee, arguments);
      const bool takes =
          first || (opcode == Opcode::kConditional ? one.bytes < inside.bytes : one.bytes > inside.bytes);
      if (takes) inside = one;
      first = false;
    }
    return inside;
  }

  // Bytes of a result with storage of its own: an op that moves data hands its operand on if nothing moves.
  int64_t ResultBytes(const Step& step, const std::vector<int64_t>& bytes, bool uniform) const {
    const Opcode opcode = step.instruction->opcode();
    const Move* move = MoveOf(step);
    if (move != nullptr ? move->is_operand : step.instructions == 1 && HandsOnStorage(opcode)) return 0;
    const int64_t result = Rows(step.bytes, uniform);
    const bool computes = move != nullptr || step.instructions > 1 ||
                          (IsElementwise(opcode) && opcode != Opcode::kConvert && opcode != Opcode::kSelect);
    for (const int slot : step.operands) {
      if (!computes && !WritesApart(step) && bytes[slot] == result) return 0;
    }
    return result;
  }

  // Bytes of dying operands that live on in the result.
  int64_t HandedOn(const Step& step, int64_t dying) const {
    if (step.instructions != 1 || !HasTrait(step.instruction->opcode(), kNoStorage)) return 0;
    return std::min(dying, Rows(step.instruction->shape().ByteSize(), /*uniform=*/false));
  }

  int64_t Scratch(const Step& step, const std::vector<bool>& uniform) const {
    if (step.instructions != 1 || GroupOf(step) != nullptr || MoveOf(step) != nullptr) return 0;
    absl::InlinedVector<int64_t, 4> rows;
    for (const int slot : step.operands) rows.push_back(uniform[slot] ? 1 : copies_);
    return ScratchBytes(*step.instruction, rows);
  }

  int64_t Rows(int64_t bytes, bool uniform) const {
    return uniform ? bytes : SaturatingMultiply(bytes, copies_);
  }
  static void Raise(int64_t bytes, const Instruction* where, PeakEstimate* peak) {
    if (bytes > peak->bytes) *peak = {bytes, where};
  }

  const int64_t copies_;
  std::unordered_map<const Plan*, std::map<std::vector<bool>, PeakEstimate>> known_;
};

// Steps of `plan` and of its callees; `known` makes each computation visited once.
int64_t CountSteps(const Plan& plan, std::unordered_map<const Plan*, int64_t>* known) {
  const auto it = known->find(&plan);
  if (it != known->end()) return it->second;
  int64_t steps = 0;
  for (const Step& step : plan.steps) {
    int64_t all = 0, least = INT64_MAX;
    for (const Plan* callee : step.called) {
      const int64_t one = CountSteps(*callee, known);
      all = SaturatingAdd(all, one);
      least = std::min(least, one);
    }
    const int64_t inside = step.instruction->opcode() == Opcode::kConditional ? least : all;
    steps = SaturatingAdd(steps, SaturatingAdd(step.instructions, inside));
  }
  return (*known)[&plan] = steps;
}

}  // namespace

int64_t DefaultMaxBytes() { return std::min(AvailableInMachine(), AvailableInGroups()) / 5 * 4; }

PeakEstimate EstimatePeak(const Plan& plan, const std::vector<bool>& uniform_arguments, int64_t copies) {
  return Estimator(copies).Visit(plan, uniform_arguments, /*count_parameters=*/true);
}

int64_t StaticSteps(const Plan& plan) {
  std::unordered_map<const Plan*, int64_t> known;
  return CountSteps(plan, &known);
}

}  // namespace toroid
