#include "simulator/lowering/rematerialization_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "simulator/lowering/elementwise.h"
#include "simulator/memory/temporaries.h"

namespace toroid {
namespace {

// Values that are made again; each costs a look at all instructions.
constexpr int kMostTimes = 1000;

class Rematerializer {
 public:
  Rematerializer(Computation* computation, const ArraySize& size)
      : computation_(computation), n_(computation->size()), buffers_(*computation, &size),
        last_(LastUses(*computation, buffers_)), stays_(ResultBuffers(*computation->module(), buffers_)), uses_(buffers_.size()) {
    for (const Instruction* parameter : computation->parameters()) {
      for (const int b : buffers_.Of(*parameter)) stays_[b] = true;
    }
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = computation->instruction(i);
      if (HasTrait(op->opcode(), kNoStorage)) continue;
      for (const Instruction* operand : op->operands()) {
        for (const int b : buffers_.Of(*operand)) {
          if (uses_[b].empty() || uses_[b].back() != i) uses_[b].push_back(i);
        }
      }
    }
  }

  bool Run(int64_t most_temporary) {
    std::vector<int64_t> live(n_ + 1, 0);
    std::vector<bool> passes_on(buffers_.size(), false);  // Its place, as it is read for the last time.
    for (const int from : PlacesTaken(*computation_, buffers_, last_, stays_)) {
      if (from >= 0) passes_on[from] = true;
    }
    for (int b = 0; b < buffers_.size(); ++b) {
      if (stays_[b] || last_[b] < 0) continue;
      Add(&live, buffers_[b].maker->index(), last_[b] + (passes_on[b] ? 0 : 1), buffers_[b].bytes);
    }
    while (static_cast<int>(again_.size()) < kMostTimes) {
      const int peak = static_cast<int>(std::max_element(live.begin(), live.end()) - live.begin());
      if (live[peak] <= most_temporary) break;
      const int value = Largest(peak);
      if (value < 0) break;
      const auto [before, next] = Around(value, peak);
      Add(&live, before + 1, next, -buffers_[value].bytes);
      // What else the group makes comes and goes with it.
      again_.push_back({value, next});
      last_[value] = before;
      for (const Instruction* operand : buffers_[value].maker->operands()) {
        for (const int o : buffers_.Of(*operand)) uses_[o].insert(std::upper_bound(uses_[o].begin(), uses_[o].end(), next), next);
      }
    }
    if (again_.empty()) return false;
    Write();
    return true;
  }

 private:
  struct Again {
    int buffer;
    int next;  // The instruction before which it is made.
  };

  static void Add(std::vector<int64_t>* live, int from, int to, int64_t bytes) {
    for (int i = from; i < std::min(to, static_cast<int>(live->size())); ++i) (*live)[i] = SaturatingAdd((*live)[i], bytes);
  }

  // The use at or before `peak` (the maker if there is none) and the one after it.
  std::pair<int, int> Around(int b, int peak) const {
    const auto next = std::upper_bound(uses_[b].begin(), uses_[b].end(), peak);
    return {next == uses_[b].begin() ? buffers_[b].maker->index() : *std::prev(next), next == uses_[b].end() ? n_ : *next};
  }

  bool CanRunAgain(int b, int at) const {
    const Instruction* maker = buffers_[b].maker;
    if (maker->opcode() != Opcode::kFusion && maker->opcode() != Opcode::kDot && !IsElementwise(*maker)) return false;
    for (const Instruction* operand : maker->operands()) {
      for (const int o : buffers_.Of(*operand)) {
        // Arguments stay, but for donated ones, which are overwritten after their last use.
        if (last_[o] < at) return false;
      }
    }
    // Later readers name it by at most one chain of names.
    for (const int u : uses_[b]) {
      if (u < at) continue;
      for (const Instruction* operand : computation_->instruction(u)->operands()) {
        for (const Instruction* name = operand; Names(name, b) && name != maker; name = name->operand(0)) {
          if (name->opcode() != Opcode::kBitcast && name->opcode() != Opcode::kGetTupleElement) return false;
        }
      }
    }
    return true;
  }
  bool Names(const Instruction* value, int b) const {
    const auto own = buffers_.Of(*value);
    return std::find(own.begin(), own.end(), b) != own.end();
  }

  int Largest(int peak) const {
    int best = -1;
    for (int b = 0; b < buffers_.size(); ++b) {
      if (stays_[b] || last_[b] <= peak || buffers_[b].maker->index() >= peak) continue;
      if (best >= 0 && buffers_[b].bytes <= buffers_[best].bytes) continue;
      const auto [before, next] = Around(b, peak);
      if (before >= peak || next >= n_ || !CanRunAgain(b, next)) continue;
      best = b;
    }
    return best;
  }

  void Write() {
    std::vector<std::vector<Instruction*>> in_front(n_);
    for (const Again& again : again_) {
      const Instruction* maker = buffers_[again.buffer].maker;
      absl::flat_hash_map<const Instruction*, Instruction*> now;
      const auto add = [&](const Instruction& op, absl::Span<Instruction* const> operands) {
        Instruction* copy = computation_->AddClone(op, op.shape(), operands);
        if (!op.called().empty()) copy->set_called(op.called());
        copy->set_cause(op.cause());
        copy->set_name(absl::StrCat(op.name(), kRematerializedSuffix));
        in_front[again.next].push_back(copy);
        return now[&op] = copy;
      };
      for (const int u : uses_[again.buffer]) {
        if (u < again.next) continue;
        Instruction* user = computation_->instruction(u);
        for (int k = 0; k < user->num_operands(); ++k) {
          std::vector<const Instruction*> names;  // From the user to the maker.
          const Instruction* value = user->operand(k);
          while (value->index() < n_ && Names(value, again.buffer) && value != maker) {
            names.push_back(value);
            value = value->operand(0);
          }
          if (value != maker || !Names(user->operand(k), again.buffer)) continue;
          if (!now.contains(maker)) add(*maker, maker->operands());
          Instruction* made = now[maker];
          for (auto name = names.rbegin(); name != names.rend(); ++name) {
            made = now.contains(*name) ? now[*name] : add(**name, absl::MakeConstSpan(&made, 1));
          }
          user->set_operand(k, made);
        }
      }
    }
    std::vector<Instruction*> order;
    order.reserve(computation_->size());
    for (int i = 0; i < n_; ++i) {
      order.insert(order.end(), in_front[i].begin(), in_front[i].end());
      order.push_back(computation_->instruction(i));
    }
    computation_->Reorder(order);
  }

  Computation* computation_;
  const int n_;
  const Buffers buffers_;
  std::vector<int> last_;
  std::vector<bool> stays_;
  std::vector<std::vector<int>> uses_;  // By buffer.
  std::vector<Again> again_;
};

}  // namespace

absl::StatusOr<bool> RematerializationPass::Run(std::unique_ptr<Module>* module) {
  const ArraySize size = PaddedSize(tiling_);
  const MemoryNeeds needs = ComputeMemoryNeeds(**module, &size);
  if (needs.All() <= most_bytes_) return false;
  return Rematerializer((*module)->entry(), size).Run(most_bytes_ - SaturatingAdd(needs.arguments, needs.results));
}

}  // namespace toroid
