#include "simulator/compiler/memory/rematerialization_pass.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/passes/dce_pass.h"
#include "simulator/compiler/memory/depth_first_order.h"
#include "simulator/compiler/memory/repeated_steps.h"
#include "simulator/memory/donated_arguments.h"
#include "simulator/memory/temporaries.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// A copy reads the same memory under another name.
bool IsCopiedName(const Instruction& name) {
  return name.opcode() == Opcode::kBitcast || name.opcode() == Opcode::kGetTupleElement ||
         name.opcode() == Opcode::kReshape;
}

bool IsKindThatRepeats(const Instruction& op) {
  if (!op.control_predecessors().empty()) return false;
  if (op.opcode() == Opcode::kFusion)
    return !op.called().empty() && !HasTrait(op.called(0)->root()->opcode(), kInPlace);
  return IsMatrixOp(op.opcode()) || op.opcode() == Opcode::kReduce || op.opcode() == Opcode::kCopy ||
         IsElementwise(op);
}

// An entry as steps: its instructions but for names and arguments.
class Steps {
 public:
  Steps(Computation* entry, const ArraySize& size)
      : entry_(*entry), n_(entry->size()), buffers_(*entry, &size), step_of_(n_, -1) {
    const std::vector<bool> is_result = ResultBuffers(*entry->module(), buffers_);
    for (int b = 0; b < buffers_.size(); ++b) {
      const bool is_given = buffers_[b].maker->opcode() == Opcode::kParameter ||
                            buffers_[b].maker->opcode() == Opcode::kConstant;
      program_.values.push_back({.bytes = is_given || is_result[b] ? 0 : buffers_[b].bytes, .origin = b});
    }
    std::vector<bool> is_named(
        n_, false);  // In a way that copies do not repeat, or others wait for it without reading it.
    for (int i = n_ - 1; i >= 0; --i) {
      const Instruction& op = *entry->instruction(i);
      for (const Instruction* before : op.control_predecessors()) is_named[before->index()] = true;
      if (!IsName(op)) continue;
      if (is_named[i] || (!IsCopiedName(op) && &op != entry->root())) {
        for (const Instruction* operand : op.operands()) is_named[operand->index()] = true;
      }
    }
    for (int i = 0; i < n_; ++i) {
      Instruction* op = entry->instruction(i);
      if (IsName(*op) || op->opcode() == Opcode::kParameter || op->opcode() == Opcode::kConstant) continue;
      const int s = step_of_[i] = static_cast<int>(ops_.size());
      ops_.push_back(op);
      Step step;
      step.may_repeat = IsKindThatRepeats(*op) && !is_named[i];
      for (const int b : buffers_.Of(*op)) {
        if (buffers_[b].maker != op) continue;
        step.makes.push_back(b);
        program_.values[b].maker = s;
      }
      program_.steps.push_back(std::move(step));
      for (const Instruction* operand : op->operands()) {
        for (const int b : buffers_.Of(*operand)) Read(s, b);
      }
    }
    for (const ReadBeforeWritten& pair : ReadersOfDonated(*entry, buffers_)) {
      if (step_of_[pair.writer] < 0) continue;
      program_.values[pair.buffer].is_overwritten = true;
      Read(step_of_[pair.writer], pair.buffer);
    }
  }

  StepProgram& program() { return program_; }

  // The program with its steps in that order.
  void Write(absl::Span<const int> order) {
    std::vector<Instruction*> made(program_.steps.size(), nullptr);  // By step.
    std::copy(ops_.begin(), ops_.end(), made.begin());
    std::vector<std::vector<Instruction*>> as_it_was;  // Operands, by step without repetitions.
    for (const Instruction* op : ops_) as_it_was.emplace_back(op->operands().begin(), op->operands().end());
    std::vector<Instruction*> now;
    std::vector<bool> is_put(n_, false);
    for (int i = 0; i < n_; ++i) {
      if (step_of_[i] < 0 && entry_.instruction(i)->num_operands() == 0)
        Put(entry_.instruction(i), &is_put, &now);
    }
    std::vector<absl::flat_hash_map<const Instruction*, Instruction*>> named(
        program_.steps.size());  // Copies of names, by step.
    for (const int s : order) {
      const Step& step = program_.steps[s];
      const int original = step.repeats >= 0 ? step.repeats : s;
      const Instruction& op = *ops_[original];
      std::vector<Instruction*> operands = as_it_was[original];
      for (Instruction*& operand : operands) operand = Current(operand, step, made, &named, &now);
      if (step.repeats < 0) {
        for (int k = 0; k < op.num_operands(); ++k) {
          if (made[s]->operand(k) != operands[k]) made[s]->set_operand(k, operands[k]);
        }
        Put(made[s], &is_put, &now);
        continue;
      }
      PutNames(operands, &is_put, &now);
      Instruction* copy = entry_.AddClone(op, op.shape(), operands);
      if (!op.called().empty()) copy->set_called(op.called());
      copy->set_cause(op.cause());
      copy->set_name(absl::StrCat(op.name(), kRematerializedSuffix));
      MarkDecided(Rule::kRematerialization, copy);
      made[s] = copy;
      now.push_back(copy);
    }
    // Steps that only moved, and names of what they made.
    for (int i = 0; i < n_; ++i) Put(entry_.instruction(i), &is_put, &now);
    entry_.Reorder(now);
  }

 private:
  // Makes nothing: another name of what its operands are.
  bool IsName(const Instruction& op) const {
    if (HasTrait(op.opcode(), kNoStorage)) return true;
    const auto own = buffers_.Of(op);
    return op.num_operands() > 0 && !own.empty() &&
           absl::c_none_of(own, [&](int b) { return buffers_[b].maker == &op; });
  }

  void Read(int step, int value) {
    std::vector<int>& reads = program_.steps[step].reads;
    if (absl::c_linear_search(reads, value)) return;
    reads.push_back(value);
    program_.values[value].readers.push_back(step);
  }

  // Behind the names that it reads.
  void Put(Instruction* op, std::vector<bool>* is_put, std::vector<Instruction*>* now) {
    if ((*is_put)[op->index()]) return;
    PutNames(op->operands(), is_put, now);
    (*is_put)[op->index()] = true;
    now->push_back(op);
  }
  // Names of names may be many.
  void PutNames(absl::Span<Instruction* const> operands, std::vector<bool>* is_put,
                std::vector<Instruction*>* now) {
    const auto is_missing = [&](const Instruction* op) {
      return op->index() < n_ && step_of_[op->index()] < 0 && !(*is_put)[op->index()];
    };
    std::vector<Instruction*> todo(operands.begin(), operands.end());
    while (!todo.empty()) {
      Instruction* op = todo.back();
      const size_t size = todo.size();
      if (is_missing(op)) absl::c_copy_if(op->operands(), std::back_inserter(todo), is_missing);
      if (todo.size() > size) continue;
      todo.pop_back();
      if (!is_missing(op)) continue;
      (*is_put)[op->index()] = true;
      now->push_back(op);
    }
  }

  // What an operand of the program as it was is for a step: the same, or a copy, with copies of the names on the way.
  Instruction* Current(Instruction* operand, const Step& step, absl::Span<Instruction* const> made,
                       std::vector<absl::flat_hash_map<const Instruction*, Instruction*>>* named,
                       std::vector<Instruction*>* now) {
    int maker = -1;
    for (const int b : buffers_.Of(*operand)) {
      for (const int v : step.reads) {
        if (program_.values[v].origin == b && v != b) maker = program_.values[v].maker;
      }
    }
    if (maker < 0) return operand;
    std::vector<Instruction*> names;  // From the operand to its maker.
    Instruction* at = operand;
    while (IsName(*at)) {
      names.push_back(at);
      at = at->operand(0);
    }
    Instruction* value = made[maker];
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      Instruction*& copy = (*named)[maker][*name];
      if (copy == nullptr) {
        copy = entry_.AddClone(**name, (*name)->shape(), absl::MakeConstSpan(&value, 1));
        copy->set_cause((*name)->cause());
        copy->set_name(absl::StrCat((*name)->name(), kRematerializedSuffix));
        MarkDecided(Rule::kRematerialization, copy);
        now->push_back(copy);
      }
      value = copy;
    }
    return value;
  }

  Computation& entry_;
  const int n_;
  const Buffers buffers_;
  std::vector<int> step_of_;       // By index.
  std::vector<Instruction*> ops_;  // By step, without repetitions.
  StepProgram program_;
};

}  // namespace

absl::StatusOr<bool> RematerializationPass::Run(std::unique_ptr<Module>* module) {
  const ArraySize size = PaddedSize(tiling_);
  const MemoryNeeds needs = ComputeMemoryNeeds(**module, &size);
  const int64_t most_temporary =
      std::max<int64_t>(most_bytes_ - SaturatingAdd(needs.arguments, needs.results), 0);
  Computation* entry = (*module)->entry();
  const int64_t alive = MostAlive(Steps(entry, size).program());
  if (alive <= most_temporary) return false;
  std::vector<Instruction*> given;
  for (const auto& op : entry->instructions()) given.push_back(op.get());
  entry->Reorder(DepthFirstOrder(*entry, Buffers(*entry, &size)));
  const auto most_alive = static_cast<double>(MostAlive(Steps(entry, size).program()));
  if (most_alive > Thresholds().depth_first_times() * static_cast<double>(alive) || !IsOn(Rule::kDepthFirst))
    entry->Reorder(given);
  if (!IsOn(Rule::kRematerialization)) return true;
  Steps steps(entry, size);
  const std::vector<int> order = RepeatSteps(most_temporary, least_bytes_, &steps.program());
  if (order.empty()) return true;
  steps.Write(order);
  EliminateDeadCode(module->get());
  return true;
}

}  // namespace toroid
