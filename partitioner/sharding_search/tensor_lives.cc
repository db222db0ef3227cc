#include "partitioner/sharding_search/tensor_lives.h"

#include <algorithm>

#include "hlo/analysis/peak_memory.h"

namespace toroid {
namespace {

class Lives {
 public:
  explicit Lives(const PreparedProgram& program)
      : module_(*program.flat),
        graph_(*program.graph),
        spaces_(module_),
        ordered_(OrderAsCompiled(module_, spaces_)),
        lives_(graph_.num_tensors()) {}

  std::vector<TensorLife> Find() {
    Run(*module_.entry());
    return std::move(lives_);
  }

 private:
  // By buffer of one computation.
  struct BufferLife {
    int64_t begin = -1, end = -1;
  };

  // Numbers the steps of a computation and of what it runs.
  void Run(const Computation& computation) {
    const OrderedSteps& ordered = ordered_[computation.index()];
    const Buffers& buffers = ordered.steps.buffers;
    const bool is_entry = &computation == module_.entry();
    std::vector<BufferLife> lives(buffers.size());
    const int64_t first = now_;
    if (is_entry) {
      for (const Instruction* parameter : computation.parameters()) {
        for (const int b : buffers.Of(*parameter)) lives[b].begin = first;
      }
    }
    const std::vector<int> last = LastReads(ordered);
    for (size_t i = 0; i < ordered.order.size(); ++i) {
      const MemoryStep& step = ordered.steps.steps[ordered.order[i]];
      const int64_t begin = ++now_;
      for (const Computation* body : step.op->called()) {
        if (graph_.Reached(*body)) Run(*body);
      }
      ++now_;
      for (const int b : step.reads) lives[b].end = now_ + 1;
      for (const int b : buffers.Of(*step.op)) {
        if (buffers[b].maker != step.op) continue;
        lives[b].begin = begin;
        lives[b].end = now_ + 1;
      }
      Place(step, static_cast<int>(i), begin, last, &lives);
    }
    const int64_t end = now_ + 2;
    for (const int b : buffers.Of(*computation.root())) lives[b].end = end;
    if (is_entry) {
      for (const Instruction* parameter : computation.parameters()) {
        for (const int b : buffers.Of(*parameter)) lives[b].end = end;
      }
    }
    now_ = end;
    Keep(computation, buffers, lives);
  }

  // What the step writes over an array that is not read later: the array's life ends. One of the caller's stays the caller's.
  static void Place(const MemoryStep& step, int i, int64_t begin, const std::vector<int>& last,
                    std::vector<BufferLife>* lives) {
    std::vector<int> placed;
    for (const auto& [from, to] : step.places) {
      if (last[from] != i || std::find(placed.begin(), placed.end(), to) != placed.end()) continue;
      placed.push_back(to);
      if ((*lives)[from].begin < 0) {
        (*lives)[to].begin = -1;
      } else {
        (*lives)[from].end = begin;
      }
    }
  }

  // By buffer: the position in the order of the last step that reads it.
  static std::vector<int> LastReads(const OrderedSteps& ordered) {
    std::vector<int> last(ordered.steps.buffers.size(), -1);
    for (size_t i = 0; i < ordered.order.size(); ++i) {
      for (const int b : ordered.steps.steps[ordered.order[i]].reads) last[b] = static_cast<int>(i);
    }
    return last;
  }

  // Gives the lives of buffers to the tensors that lie in them.
  void Keep(const Computation& computation, const Buffers& buffers, const std::vector<BufferLife>& lives) {
    std::vector<bool> is_reused(buffers.size(), false);
    if (&computation == module_.entry()) {
      const ReusedArguments reused = FindReusedArguments(module_);
      const auto results = buffers.Of(*computation.root());
      for (size_t leaf = 0; leaf < results.size(); ++leaf) {
        if (reused.by_result[leaf]) is_reused[results[leaf]] = true;
      }
    }
    for (int b = 0; b < buffers.size(); ++b) {
      const Buffer& buffer = buffers[b];
      if (buffer.maker == nullptr || buffer.bytes == 0 || lives[b].begin < 0) continue;
      const auto leaves = graph_.Leaves(*buffer.maker);
      if (buffer.leaf >= static_cast<int>(leaves.size()) || lives[b].begin >= lives[b].end) continue;
      if (is_reused[b] && buffer.maker->opcode() != Opcode::kParameter) continue;
      lives_[leaves[buffer.leaf]] = {lives[b].begin, lives[b].end, true};
    }
  }

  const Module& module_;
  const FlowGraph& graph_;
  const MemorySpaces spaces_;
  const std::vector<OrderedSteps> ordered_;
  std::vector<TensorLife> lives_;
  int64_t now_ = 0;
};

}  // namespace

std::vector<TensorLife> LivesOf(const PreparedProgram& program, const ProgramSteps& steps) {
  std::vector<TensorLife> lives = Lives(program).Find();
  for (size_t t = 0; t < lives.size(); ++t) {
    if (steps.is_free(static_cast<int>(t))) lives[t].is_written = false;
  }
  return lives;
}

int64_t PeakOfPlan(const PreparedProgram& program, const std::vector<TensorLife>& lives, const Plan& plan) {
  const FlowGraph& graph = *program.graph;
  ShardingPlan made = plan.shardings;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    if (!plan.ops[i]) continue;
    const FlowOp& op = graph.ops()[i];
    for (size_t k = 0; k < op.results.size(); ++k) {
      Sharding sharding = ResultSharding(program, op, k, *plan.ops[i]);
      if (sharding.partial == 0) made[op.results[k]] = std::move(sharding);
    }
  }
  std::vector<std::pair<int64_t, int64_t>> changes;  // Times and bytes.
  for (int t = 0; t < graph.num_tensors(); ++t) {
    if (!lives[t].is_written || !graph.shape(t).IsArray()) continue;
    const int64_t bytes = LocalBytes(program, t, made[t]);
    changes.push_back({lives[t].begin, bytes});
    changes.push_back({lives[t].end, -bytes});
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, peak = 0;
  for (const auto& [time, bytes] : changes) peak = std::max(peak, now += bytes);
  return peak;
}

}  // namespace toroid
