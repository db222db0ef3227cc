#include "simulator/compiler/memory/depth_first_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "hlo/base/math.h"
#include "simulator/memory/donated_arguments.h"

namespace toroid {
namespace {

class DepthFirst {
 public:
  DepthFirst(const Computation& entry, const Buffers& buffers)
      : entry_(entry), n_(entry.size()), before_(n_), rank_(n_), done_(n_, false) {
    for (const auto& op : entry.instructions()) {
      std::vector<int>& before = before_[op->index()];
      for (const Instruction* operand : op->operands()) before.push_back(operand->index());
      for (const Instruction* other : op->control_predecessors()) before.push_back(other->index());
    }
    for (const ReadBeforeWritten& pair : ReadersOfDonated(entry, buffers))
      before_[pair.writer].push_back(pair.reader);
    for (std::vector<int>& before : before_) {
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
    }
    Rank(buffers);
    for (std::vector<int>& before : before_) {
      std::sort(before.begin(), before.end(), [&](int a, int b) { return rank_[a] > rank_[b]; });
    }
  }

  std::vector<Instruction*> Run() {
    for (const Instruction* parameter : entry_.parameters()) Visit(parameter->index());
    Visit(entry_.root()->index());
    for (int i = 0; i < n_; ++i) Visit(i);
    return std::move(order_);
  }

 private:
  // How many other readers, and how many bytes, all that an op is made from has. Each value counts once for each path to it, up
  // to the total of the program.
  using RankOf = std::tuple<int64_t, int64_t, int>;

  void Rank(const Buffers& buffers) {
    std::vector<int64_t> readers(n_, 0);
    for (const auto& op : entry_.instructions()) {
      std::vector<int> read;
      for (const Instruction* operand : op->operands()) read.push_back(operand->index());
      std::sort(read.begin(), read.end());
      read.erase(std::unique(read.begin(), read.end()), read.end());
      for (const int operand : read) ++readers[operand];
    }
    int64_t all_bytes = 0;
    for (int i = 0; i < n_; ++i) {
      const Instruction& op = *entry_.instruction(i);
      int64_t further = 0, bytes = 0;
      if (op.opcode() != Opcode::kParameter && op.opcode() != Opcode::kConstant) {
        further = std::max<int64_t>(readers[i] - 1, 0);
        for (const int b : buffers.Of(op)) {
          if (buffers[b].maker == &op) bytes = SaturatingAdd(bytes, buffers[b].bytes);
        }
        all_bytes = SaturatingAdd(all_bytes, bytes);
        for (const int operand : before_[i]) {
          further = SaturatingAdd(further, std::get<0>(rank_[operand]));
          bytes = SaturatingAdd(bytes, std::get<1>(rank_[operand]));
        }
      }
      rank_[i] = {std::min<int64_t>(further, n_), std::min(bytes, all_bytes), -i};
    }
  }

  void Visit(int from) {
    if (done_[from]) return;
    done_[from] = true;
    std::vector<std::pair<int, size_t>> path = {{from, 0}};
    while (!path.empty()) {
      auto& [i, next] = path.back();
      if (next == before_[i].size()) {
        order_.push_back(entry_.instruction(i));
        path.pop_back();
        continue;
      }
      const int operand = before_[i][next++];
      if (done_[operand]) continue;
      done_[operand] = true;
      path.emplace_back(operand, 0);
    }
  }

  const Computation& entry_;
  const int n_;
  std::vector<std::vector<int>> before_;  // By index: what must have run.
  std::vector<RankOf> rank_;
  std::vector<bool> done_;
  std::vector<Instruction*> order_;
};

}  // namespace

std::vector<Instruction*> DepthFirstOrder(const Computation& entry, const Buffers& buffers) {
  return DepthFirst(entry, buffers).Run();
}

}  // namespace toroid
