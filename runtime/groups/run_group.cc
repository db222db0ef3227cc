#include "runtime/groups/run_group.h"

#include <algorithm>
#include <utility>

#include "hlo/base/status.h"
#include "runtime/groups/block_program.h"
#include "runtime/groups/block_runner.h"
#include "runtime/groups/scalar_run.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

// Elements times the program's cost of one: 32 and 16 microseconds. Less is not split, for to wake a thread takes about as
// long; parts are not smaller.
constexpr double kSplitCost = 512 << 10, kGrainCost = 256 << 10;

// With one band per segment sums are made where the outputs are.
int64_t SumBytes(const BlockLayout& layout, const BlockProgram::Sink& sink) {
  return layout.bands == 1 ? 0 : layout.units * layout.sum_elements * sink.width;
}

// Moves the storage of a dying input into an output of the same size, if it may.
bool TakeStorage(const GroupNode& source, int output, int64_t bytes, bool uniform, OpCall& call) {
  if (!call.last_use(source.input)) return false;
  MeshBuffer& operand = call.mutable_operand(source.input);
  if (operand.empty() || operand.is_tuple() || !operand.unique() || operand.uniform() != uniform ||
      operand.sizes() != nullptr || operand.bytes() != bytes) {
    return false;
  }
  call.result(output) = std::move(operand);
  return true;
}

// Runs the outputs of one program, for all rows of the mesh or, if they are uniform, for one.
class Run {
 public:
  Run(const Group& group, const BlockProgram& program, bool uniform, OpCall& call)
      : group_(group),
        program_(program),
        uniform_(uniform),
        call_(call),
        copies_(uniform ? 1 : call.copies()) {}

  absl::Status Execute() {
    inputs_.resize(group_.num_inputs);
    for (int i = 0; i < group_.num_inputs; ++i) {
      if (!call_.operand(i).empty() && !call_.operand(i).is_tuple())
        inputs_[i] = {call_.data(i), call_.uniform(i)};
    }
    RETURN_IF_ERROR(MakeOutputs());
    const int64_t total = copies_ * group_.elements;
    if (total == 0) return absl::OkStatus();
    BlockRunner runner(group_, program_, copies_, inputs_, outputs_);
    const BlockLayout& layout = runner.layout();
    RETURN_IF_ERROR(MakeSums(layout));
    runner.set_sums(sums_);
    const double cost = program_.cost * static_cast<double>(total);
    if (layout.units == 1 || cost < kSplitCost) {
      runner.RunUnits(0, layout.units);
    } else {
      const double unit_cost = cost / static_cast<double>(layout.units);
      const auto grain = static_cast<int64_t>(kGrainCost / std::max(1.0, unit_cost));
      ParallelFor(layout.units, std::max<int64_t>(1, grain),
                  [&](int64_t begin, int64_t end) { runner.RunUnits(begin, end); });
    }
    if (!program_.sinks.empty()) runner.FinishSums();
    return absl::OkStatus();
  }

 private:
  absl::Status MakeOutputs() {
    outputs_.resize(group_.outputs.size());
    for (const int o : program_.outputs) {
      const int64_t bytes = group_.outputs[o].bytes;
      bool taken = false;
      for (const BlockProgram::InPlace& pair : program_.in_place) {
        if (taken || pair.output != o) continue;
        taken = TakeStorage(group_.nodes[pair.node], o, bytes * copies_, uniform_, call_);
      }
      if (!taken) RETURN_IF_ERROR(call_.New(bytes, uniform_, &call_.result(o)));
      outputs_[o] = call_.result(o).mutable_data();
    }
    return absl::OkStatus();
  }

  absl::Status MakeSums(const BlockLayout& layout) {
    sums_.resize(program_.sinks.size());
    sum_buffers_.resize(program_.sinks.size());
    for (size_t s = 0; s < program_.sinks.size() && layout.bands != 1; ++s) {
      const int64_t bytes = SumBytes(layout, program_.sinks[s]);
      RETURN_IF_ERROR(call_.New(bytes, /*uniform=*/true, &sum_buffers_[s]));
      sums_[s] = sum_buffers_[s].mutable_data();
    }
    return absl::OkStatus();
  }

  const Group& group_;
  const BlockProgram& program_;
  const bool uniform_;
  OpCall& call_;
  const int64_t copies_;
  absl::InlinedVector<BlockInput, 8> inputs_;
  absl::InlinedVector<char*, 4> outputs_, sums_;
  absl::InlinedVector<MeshBuffer, 2> sum_buffers_;
};

}  // namespace

const BlockProgram& ProgramFor(const Group& group, uint64_t outputs) {
  for (const auto& [computed, program] : group.programs) {
    if (computed == outputs) return static_cast<const BlockProgram&>(*program);
  }
  group.programs.emplace_back(outputs, CompileBlocks(group, outputs));
  return static_cast<const BlockProgram&>(*group.programs.back().second);
}

int64_t SumBytes(const Group& group, const BlockProgram& program, int64_t copies) {
  if (program.sinks.empty() || copies * group.elements == 0) return 0;
  const BlockLayout layout = LayoutOf(group, program, copies);
  int64_t bytes = 0;
  for (const BlockProgram::Sink& sink : program.sinks) bytes += SumBytes(layout, sink);
  return bytes;
}

absl::Status RunGroup(Group& group, OpCall& call) {
  uint64_t varied = 0;  // Inputs that are not uniform.
  for (int i = 0; i < group.num_inputs; ++i) {
    if (!call.uniform(i)) varied |= uint64_t{1} << i;
  }
  uint64_t uniform = 0, other = 0;
  for (size_t o = 0; o < group.outputs.size(); ++o) {
    ((group.outputs[o].depends & varied) == 0 ? uniform : other) |= uint64_t{1} << o;
  }
  if (group.elements == 1 && (uniform == 0) != (other == 0) && (other == 0 || call.copies() == 1)) {
    const BlockProgram& program = ProgramFor(group, uniform | other);
    if (program.registers.size() <= kMostScalars) return RunOneElement(group, program, other == 0, call);
  }
  if (uniform == 0) return Run(group, ProgramFor(group, other), false, call).Execute();
  if (other == 0) return Run(group, ProgramFor(group, uniform), true, call).Execute();
  // The first run must leave the inputs of the second one alone.
  OpCall keeping = call.WithoutLastUses();
  RETURN_IF_ERROR(Run(group, ProgramFor(group, uniform), true, keeping).Execute());
  return Run(group, ProgramFor(group, other), false, call).Execute();
}

const Group* GroupOf(const Step& step) {
  return step.kernel == ExecuteGroup ? static_cast<const Group*>(step.cache.get()) : nullptr;
}

absl::Status ExecuteGroup(OpCall& call) { return RunGroup(call.Kept<Group>(), call); }

}  // namespace toroid
