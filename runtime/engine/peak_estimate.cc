#include "runtime/engine/peak_estimate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/replica_groups.h"
#include "runtime/engine/kernel_table.h"
#include "runtime/engine/storage_model.h"
#include "runtime/groups/run_group.h"
#include "runtime/kernels/movement.h"
#include "runtime/moves/run_move.h"

namespace toroid {
namespace {

using Handle = StorageModel::Handle;
using Handles = absl::InlinedVector<Handle, 8>;

// Trips of a loop: enough for a state whose elements change places. Those that find what an earlier one left cost little.
constexpr int kTrips = 4;

// Calls of one plan told apart by the form of their arguments; further ones count nothing.
constexpr size_t kMostForms = 16;

// What a computation does to the storages of its arguments.
struct Effect {
  int64_t more = 0;  // Bytes at the peak beyond those on entry.
  const Instruction* place = nullptr;
  StorageModel model;  // At the end.
  Handle result = StorageModel::kEmpty;
};

class Estimator {
 public:
  explicit Estimator(int64_t copies) : copies_(copies) {}

  PeakEstimate Estimate(const Plan& plan, const std::vector<bool>& uniform_arguments) {
    StorageModel model;
    Handles arguments;
    for (size_t i = 0; i < plan.parameters.size(); ++i) {
      const bool uniform = i >= uniform_arguments.size() || uniform_arguments[i];
      arguments.push_back(NewValue(plan.values[plan.parameters[i]]->shape(), uniform, model));
    }
    for (size_t i = 0; i < plan.parameters.size(); ++i) {
      if (plan.parameter_used[i]) continue;
      model.Drop(arguments[i]);
      arguments[i] = StorageModel::kEmpty;
    }
    model.Note(0, nullptr);
    Run(plan, std::move(arguments), model);
    return {SaturatingAdd(model.peak_bytes(), constant_bytes_), model.peak_place()};
  }

 private:
  // One activation of a plan.
  struct Activation {
    const Plan& plan;
    StorageModel& model;
    std::vector<Handle> slots;

    Handle at(const Step& step, int i) const { return slots[step.operands[i]]; }
    static bool IsLastUse(const Step& step, int i) { return i < 64 && ((step.last_uses >> i) & 1); }
    // As OpCall::TakeOperand.
    Handle Take(const Step& step, int i) {
      Handle& slot = slots[step.operands[i]];
      return IsLastUse(step, i) ? std::exchange(slot, StorageModel::kEmpty) : model.Share(slot);
    }
    // As OpCall::ReuseOperand, for an array of `bytes`.
    bool MayReuse(const Step& step, int i, bool uniform, int64_t bytes) const {
      const Handle value = at(step, i);
      return IsLastUse(step, i) && value != StorageModel::kEmpty && !model.is_tuple(value) &&
             model.unique(value) && model.uniform(value) == uniform && model.bytes(value) == bytes;
    }
    bool IsUniform(const Step& step, int i) const {
      const Handle value = at(step, i);
      return value == StorageModel::kEmpty || model.is_tuple(value) || model.uniform(value);
    }
    bool AllUniform(const Step& step) const {
      for (int i = 0; i < static_cast<int>(step.operands.size()); ++i) {
        if (!IsUniform(step, i)) return false;
      }
      return true;
    }
  };

  int64_t Rows(int64_t bytes, bool uniform) const {
    return uniform ? bytes : SaturatingMultiply(bytes, copies_);
  }

  Handle NewValue(const Shape& shape, bool uniform, StorageModel& model) const {
    if (!shape.IsTuple()) return model.Array(Rows(shape.ByteSize(), uniform), uniform);
    Handles elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(NewValue(element, uniform, model));
    return model.Tuple(elements);
  }

  // Constants stay from before the run until after it.
  void AddConstants(const Plan& plan, Activation& activation) {
    for (const int slot : plan.constant_slots) {
      const MeshBuffer& constant = plan.constants[slot];
      activation.slots[slot] = NewConstant(constant, activation.model);
    }
    if (!seen_.emplace(&plan, true).second) return;
    for (const int slot : plan.constant_slots)
      constant_bytes_ = SaturatingAdd(constant_bytes_, plan.values[slot]->shape().ByteSize());
  }

  // Counted in constant_bytes_, and never unique.
  static Handle NewConstant(const MeshBuffer& constant, StorageModel& model) {
    Handle handle;
    if (!constant.is_tuple()) {
      handle = model.Array(0, /*uniform=*/true);
    } else {
      Handles elements;
      for (const MeshBuffer& element : constant.elements()) elements.push_back(NewConstant(element, model));
      handle = model.Tuple(elements);
    }
    return model.Share(handle);
  }

  // Runs a plan on arguments, which it takes over.
  Handle Run(const Plan& plan, Handles arguments, StorageModel& model) {
    Activation run{plan, model, std::vector<Handle>(plan.values.size(), StorageModel::kEmpty)};
    AddConstants(plan, run);
    for (size_t i = 0; i < plan.parameters.size(); ++i) {
      if (plan.parameter_used[i]) {
        run.slots[plan.parameters[i]] = arguments[i];
      } else {
        model.Drop(arguments[i]);
      }
    }
    for (const Step& step : plan.steps) {
      RunStep(step, run);
      for (const int slot : step.frees) model.Drop(std::exchange(run.slots[slot], StorageModel::kEmpty));
    }
    Handle& root = run.slots[plan.root];
    return plan.root_is_constant ? model.Share(root) : std::exchange(root, StorageModel::kEmpty);
  }

  void RunStep(const Step& step, Activation& run) {
    if (const Group* group = GroupOf(step)) return RunGroup(step, *group, run);
    Handle result;
    if (const Move* move = MoveOf(step)) {
      result = move->is_operand ? run.Take(step, 0) : New(step, run);
    } else {
      result = RunOp(step, run);
    }
    run.slots[step.result] = result;
  }

  void RunGroup(const Step& step, const Group& group, Activation& run) {
    uint64_t varied = 0;  // Inputs that are not uniform.
    for (int i = 0; i < group.num_inputs; ++i) {
      if (!run.IsUniform(step, i)) varied |= uint64_t{1} << i;
    }
    uint64_t uniform = 0, other = 0;
    for (size_t o = 0; o < group.outputs.size(); ++o) {
      ((group.outputs[o].depends & varied) == 0 ? uniform : other) |= uint64_t{1} << o;
    }
    if (uniform != 0) MakeOutputs(step, group, uniform, /*uniform=*/true, /*may_take=*/other == 0, run);
    if (other != 0) MakeOutputs(step, group, other, /*uniform=*/false, /*may_take=*/true, run);
  }

  void MakeOutputs(const Step& step, const Group& group, uint64_t outputs, bool uniform, bool may_take,
                   Activation& run) {
    const BlockProgram& program = ProgramFor(group, outputs);
    for (const int o : program.outputs) {
      const int64_t bytes = Rows(group.outputs[o].bytes, uniform);
      Handle result = StorageModel::kEmpty;
      for (const BlockProgram::InPlace& pair : program.in_place) {
        const int input = group.nodes[pair.node].input;
        if (!may_take || pair.output != o || !run.MayReuse(step, input, uniform, bytes)) continue;
        result = run.Take(step, input);
        break;
      }
      if (result == StorageModel::kEmpty) result = run.model.Array(bytes, uniform);
      run.slots[o == 0 ? step.result : step.more_results[o - 1]] = result;
    }
    run.model.Note(SumBytes(group, program, uniform ? 1 : copies_), step.instruction);
  }

  // A result that shares no storage with operands, and what its kernel takes beside it.
  Handle New(const Step& step, Activation& run) {
    const Handle result = NewValue(step.instruction->shape(), run.AllUniform(step), run.model);
    NoteScratch(step, run);
    return result;
  }

  void NoteScratch(const Step& step, Activation& run) const {
    int64_t scratch = 0;
    if (step.instructions == 1 && MoveOf(step) == nullptr) {
      absl::InlinedVector<int64_t, 4> rows;
      for (int i = 0; i < static_cast<int>(step.operands.size()); ++i)
        rows.push_back(run.IsUniform(step, i) ? 1 : copies_);
      scratch = ScratchBytes(*step.instruction, rows);
    }
    run.model.Note(scratch, step.instruction);
  }

  // Values of this shape that another instruction has stored already, or that need not be stored.
  Handle Unstored(const Shape& shape, StorageModel& model) const {
    if (!shape.IsTuple()) return model.Array(0, /*uniform=*/true);
    Handles elements;
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(Unstored(element, model));
    return model.Tuple(elements);
  }

  Handle RunOp(const Step& step, Activation& run) {
    const Instruction& instruction = *step.instruction;
    switch (instruction.opcode()) {
      case Opcode::kReshape:
      case Opcode::kBitcast:
      case Opcode::kCopy:
      case Opcode::kOptimizationBarrier:
      case Opcode::kDomain:
      case Opcode::kAddDependency:
      case Opcode::kSetDimensionSize:
      case Opcode::kAllReduceDone:
      case Opcode::kAsyncUpdate:
        return run.Take(step, 0);
      case Opcode::kBitcastConvert:
      case Opcode::kBroadcast:
      case Opcode::kTranspose:
      case Opcode::kConcatenate:
      case Opcode::kSlice:
        return HandsOnOperand(instruction) ? run.Take(step, 0) : New(step, run);
      case Opcode::kSelect:
        return instruction.operand(0)->shape().rank() == 0 && run.IsUniform(step, 0)
                   ? run.Take(step, 1)
                   : InPlaceOfAny(step, run);
      case Opcode::kTuple: {
        Handles elements;
        for (size_t i = 0; i < step.operands.size(); ++i)
          elements.push_back(run.Take(step, static_cast<int>(i)));
        return run.model.Tuple(elements);
      }
      case Opcode::kGetTupleElement:
        return Element(step, static_cast<int>(instruction.tuple_index()), run);
      case Opcode::kCopyStart: {
        const Handle value = run.at(step, 0);
        return run.model.Tuple({run.model.Share(value), run.model.Share(value), run.model.Array(0, true)});
      }
      case Opcode::kCopyDone:
        return run.model.Share(run.model.element(run.at(step, 0), 0));
      case Opcode::kAllGatherDone:
      case Opcode::kCollectivePermuteDone:
      case Opcode::kAsyncDone:
        return run.model.Share(run.model.element(run.at(step, 0), 1));
      case Opcode::kDynamicUpdateSlice:
        return InPlaceOf(step, 0, run);
      case Opcode::kScatter:
        return Scatter(step, run);
      case Opcode::kPartitionId:
      case Opcode::kReplicaId:
        return NewValue(instruction.shape(), copies_ == 1, run.model);
      default:
        break;
    }
    if (HasTrait(instruction.opcode(), kRunsBody) || instruction.opcode() == Opcode::kFusion)
      return RunBodies(step, run);
    if (IsCollective(instruction.opcode())) return Exchange(step, run);
    if (IsElementwise(instruction.opcode())) return InPlaceOfAny(step, run);
    if (HasTrait(instruction.opcode(), kTakesAnyBuffer) || instruction.opcode() == Opcode::kCustomCall)
      return Unstored(instruction.shape(), run.model);
    return New(step, run);
  }

  Handle Element(const Step& step, int index, Activation& run) const {
    const Handle tuple = run.at(step, 0);
    return step.takes_element && run.model.unique(tuple) ? run.model.TakeElement(tuple, index)
                                                         : run.model.Share(run.model.element(tuple, index));
  }

  // The result in the storage of operand i, if it may be there.
  Handle InPlaceOf(const Step& step, int i, Activation& run) {
    const bool uniform = run.AllUniform(step);
    if (!run.MayReuse(step, i, uniform, Rows(step.bytes, uniform))) return New(step, run);
    const Handle result = run.Take(step, i);
    NoteScratch(step, run);
    return result;
  }

  Handle InPlaceOfAny(const Step& step, Activation& run) {
    if (step.instruction->shape().IsTuple()) return Unstored(step.instruction->shape(), run.model);
    const bool uniform = run.AllUniform(step);
    for (int i = 0; i < static_cast<int>(step.operands.size()); ++i) {
      if (run.MayReuse(step, i, uniform, Rows(step.bytes, uniform))) return InPlaceOf(step, i, run);
    }
    return New(step, run);
  }

  Handle Scatter(const Step& step, Activation& run) {
    const Shape& shape = step.instruction->shape();
    const bool uniform = run.AllUniform(step);
    const int arrays = shape.IsTuple() ? static_cast<int>(shape.tuple_shapes().size()) : 1;
    Handles results;
    for (int i = 0; i < arrays; ++i) {
      const int64_t bytes = Rows(step.instruction->operand(i)->shape().ByteSize(), uniform);
      results.push_back(run.MayReuse(step, i, uniform, bytes) ? run.Take(step, i)
                                                              : run.model.Array(bytes, uniform));
    }
    NoteScratch(step, run);
    return shape.IsTuple() ? run.model.Tuple(results) : results[0];
  }

  // A collective's results: a tuple of (operands, results) if it is the start of one that has a type for its end.
  Handle Exchange(const Step& step, Activation& run) {
    const Instruction& instruction = *step.instruction;
    const Opcode opcode = instruction.opcode();
    const bool one_group =
        DeviceGroupSize(instruction, /*num_replicas=*/1, copies_).value_or(copies_) >= copies_;
    const bool starts = opcode == Opcode::kAllGatherStart || opcode == Opcode::kCollectivePermuteStart;
    const Shape& shape = starts ? instruction.shape().tuple_shape(1) : instruction.shape();
    Handles operands, results;
    for (int i = 0; i < static_cast<int>(step.operands.size()); ++i) {
      const Shape& one =
          shape.IsTuple() && i < static_cast<int>(shape.tuple_shapes().size()) ? shape.tuple_shape(i) : shape;
      const bool uniform = run.IsUniform(step, i);
      operands.push_back(run.at(step, i));
      switch (opcode) {
        case Opcode::kAllReduce:
        case Opcode::kAllReduceStart:
        case Opcode::kAllGather:
        case Opcode::kAllGatherStart:
          results.push_back(NewValue(one, one_group || uniform, run.model));
          break;
        case Opcode::kReduceScatter:
        case Opcode::kAllToAll:
          results.push_back(NewValue(one, copies_ == 1, run.model));
          break;
        case Opcode::kCollectivePermute:
        case Opcode::kCollectivePermuteStart:
        case Opcode::kCollectiveBroadcast:
          results.push_back(uniform ? run.model.Share(operands[i])
                                    : NewValue(one, /*uniform=*/false, run.model));
          break;
        default:
          for (const Handle result : results) run.model.Drop(result);
          return Unstored(instruction.shape(), run.model);
      }
    }
    run.model.Note(0, &instruction);
    const Handle result = shape.IsTuple() ? run.model.Tuple(results) : results[0];
    if (!starts) return result;
    Handles state;
    for (const Handle operand : operands) run.model.Share(operand);
    state.push_back(instruction.shape().tuple_shape(0).IsTuple() ? run.model.Tuple(operands) : operands[0]);
    state.push_back(result);
    while (state.size() < instruction.shape().tuple_shapes().size())
      state.push_back(run.model.Array(0, /*uniform=*/true));
    return run.model.Tuple(state);
  }

  // What a computation does to its arguments; null: too many forms of them are known.
  const Effect* EffectOf(const Plan& plan, absl::Span<const Handle> arguments, const StorageModel& model,
                         StorageModel::Cut* cut) {
    *cut = model.CutOut(arguments);
    auto& known = known_[&plan];
    const auto it = known.find(cut->form);
    if (it != known.end()) return it->second.get();
    if (known.size() >= kMostForms) return nullptr;
    auto effect = std::make_unique<Effect>();
    effect->model = StorageModel(model, *cut);
    const int64_t before = effect->model.live_bytes();
    effect->result = Run(plan, {cut->places.begin(), cut->places.end()}, effect->model);
    effect->more = effect->model.peak_bytes() - before;
    effect->place = effect->model.peak_place();
    return (known_[&plan][cut->form] = std::move(effect)).get();
  }

  // Runs a computation on arguments, which it takes over.
  Handle Call(const Plan& plan, Handles arguments, Activation& run) {
    StorageModel::Cut cut;
    const Effect* effect = EffectOf(plan, arguments, run.model, &cut);
    Handle result;
    if (effect != nullptr) {
      if (effect->place != nullptr) run.model.Note(effect->more, effect->place);
      result = run.model.PutBack(effect->model, effect->result, cut.order);
    } else {
      result = Unstored(plan.values[plan.root]->shape(), run.model);
    }
    for (const Handle argument : arguments) run.model.Drop(argument);
    return result;
  }

  Handle RunBodies(const Step& step, Activation& run) {
    switch (step.instruction->opcode()) {
      case Opcode::kWhile: {
        Handle state = run.Take(step, 0);
        const auto check = [&] { run.model.Drop(Call(*step.called[1], {run.model.Share(state)}, run)); };
        check();
        for (int trip = 0; trip < kTrips; ++trip) {
          state = Call(*step.called[0], {state}, run);
          check();
        }
        return state;
      }
      case Opcode::kConditional: {
        int least = 0;
        int64_t least_bytes = INT64_MAX;
        for (int b = 0; b < static_cast<int>(step.called.size()); ++b) {
          const Handle argument = run.at(step, b + 1);
          StorageModel::Cut cut;
          const Effect* effect = EffectOf(*step.called[b], {argument}, run.model, &cut);
          const int64_t bytes = effect != nullptr ? effect->more : 0;
          if (bytes < least_bytes) least = b;
          least_bytes = std::min(least_bytes, bytes);
        }
        return Call(*step.called[least], {run.Take(step, least + 1)}, run);
      }
      default: {  // A call, or the start of an asynchronous one.
        Handles arguments;
        for (int i = 0; i < static_cast<int>(step.operands.size()); ++i)
          arguments.push_back(run.Take(step, i));
        if (step.instruction->opcode() != Opcode::kAsyncStart) return Call(*step.called[0], arguments, run);
        for (const Handle argument : arguments) run.model.Share(argument);
        const Handle operands = run.model.Tuple(arguments);
        Handles state = {operands, Call(*step.called[0], arguments, run)};
        while (state.size() < step.instruction->shape().tuple_shapes().size())
          state.push_back(run.model.Array(0, /*uniform=*/true));
        return run.model.Tuple(state);
      }
    }
  }

  const int64_t copies_;
  int64_t constant_bytes_ = 0;
  std::unordered_map<const Plan*, bool> seen_;  // Plans whose constants are counted.
  std::unordered_map<const Plan*, std::map<std::string, std::unique_ptr<Effect>>> known_;
};

}  // namespace

PeakEstimate EstimatePeak(const Plan& plan, const std::vector<bool>& uniform_arguments, int64_t copies) {
  return Estimator(copies).Estimate(plan, uniform_arguments);
}

}  // namespace toroid
