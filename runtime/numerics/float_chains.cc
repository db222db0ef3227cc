#include "runtime/numerics/float_chains.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "hlo/opcode.h"

namespace toroid {
namespace {

bool IsBf16(const Shape& shape) { return shape.IsArray() && shape.element_type() == xla::BF16; }

bool AnyBf16(const Shape& shape) {
  return IsBf16(shape) || std::any_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(), AnyBf16);
}

Shape Widened(const Shape& shape) {
  Shape wide = shape;
  wide.set_element_type(xla::F32);
  return wide;
}

// Every op but the parameters is elementwise on bf16, or a constant of it.
bool IsElementwiseReducer(const Computation& reducer) {
  return std::all_of(reducer.instructions().begin(), reducer.instructions().end(),
                     [](const auto& instruction) {
                       const Opcode opcode = instruction->opcode();
                       return IsBf16(instruction->shape()) && instruction->called().empty() &&
                              (opcode == Opcode::kParameter ||
                               (IsElementwise(opcode) && opcode != Opcode::kStochasticConvert));
                     });
}

class ChainKeeper {
 public:
  ChainKeeper(const Module& source, Module* target) : source_(source), target_(target) {}

  absl::Status Run() {
    for (const auto& computation : source_.computations()) RETURN_IF_ERROR(AddComputation(*computation));
    target_->set_entry(computations_[source_.entry()]);
    return absl::OkStatus();
  }

 private:
  // What stands for an instruction of the source: of its own type, and in f32 if it is bf16 and in a chain.
  struct Made {
    Instruction* declared = nullptr;
    Instruction* wide = nullptr;
  };

  absl::Status AddComputation(const Computation& source) {
    Computation* wide_reducer = nullptr;
    if (IsElementwiseReducer(source)) {
      ASSIGN_OR_RETURN(wide_reducer, AddWideReducer(source));
    }
    wide_reducers_[&source] = wide_reducer;
    into_ = target_->AddComputation(source.name());
    into_->set_is_fusion(source.is_fusion());
    into_->set_execution_thread(source.execution_thread());
    made_.assign(source.size(), Made());
    for (const auto& instruction : source.instructions()) {
      Made& made = made_[instruction->index()];
      if (ComputesWide(*instruction)) {
        AddWide(*instruction, &made);
      } else {
        std::vector<Instruction*> operands;
        for (const Instruction* operand : instruction->operands()) operands.push_back(Declared(*operand));
        made.declared = into_->AddClone(*instruction, instruction->shape(), operands);
        Describe(*instruction, made.declared);
        for (const Instruction* before : instruction->control_predecessors()) {
          made.declared->AddControlPredecessor(Declared(*before));
        }
      }
    }
    into_->set_root(Declared(*source.root()));
    computations_[&source] = into_;
    return into_->CollectParameters();
  }

  absl::StatusOr<Computation*> AddWideReducer(const Computation& source) {
    Computation* reducer = target_->AddComputation(source.name() + ".f32");
    ASSIGN_OR_RETURN(
        const std::vector<Instruction*> made,
        CloneInstructions(source, [&](const Instruction& instruction, std::vector<Instruction*>* operands) {
          Instruction* wide = reducer->AddClone(instruction, Widened(instruction.shape()), *operands);
          wide->set_name(instruction.name());
          return wide;
        }));
    reducer->set_root(made[source.root()->index()]);
    RETURN_IF_ERROR(reducer->CollectParameters());
    return reducer;
  }

  // The op runs in f32 where it is on bf16.
  bool ComputesWide(const Instruction& instruction) {
    const bool reads = std::any_of(instruction.operands().begin(), instruction.operands().end(),
                                   [](const Instruction* operand) { return IsBf16(operand->shape()); });
    if (!instruction.shape().IsArray() || (!reads && !IsBf16(instruction.shape()))) return false;
    switch (instruction.opcode()) {
      case Opcode::kStochasticConvert:
      case Opcode::kReducePrecision:
      case Opcode::kCopy:
      case Opcode::kOptimizationBarrier:
      case Opcode::kDomain:
        return false;
      case Opcode::kDot:
      case Opcode::kConvolution:
        return IsBf16(instruction.shape());
      case Opcode::kReduce:
        return instruction.num_operands() == 2 && wide_reducers_[instruction.called(0)] != nullptr;
      default:
        return IsElementwise(instruction.opcode());
    }
  }

  void AddWide(const Instruction& source, Made* made) {
    const bool narrow = IsBf16(source.shape());
    std::vector<Instruction*> operands;
    for (const Instruction* operand : source.operands()) {
      operands.push_back(IsBf16(operand->shape()) ? Wide(*operand) : Declared(*operand));
    }
    const PrimitiveType operand_type = operands[0]->shape().element_type();
    // What is converted between the two is in f32 already.
    if (source.opcode() == Opcode::kConvert && operand_type == xla::F32 &&
        (narrow || source.shape().element_type() == xla::F32)) {
      (narrow ? made->wide : made->declared) = operands[0];
      return;
    }
    Instruction* clone = into_->AddClone(source, narrow ? Widened(source.shape()) : source.shape(), operands);
    Describe(source, clone);
    if (source.opcode() == Opcode::kReduce) clone->set_called({wide_reducers_[source.called(0)]});
    (narrow ? made->wide : made->declared) = clone;
  }

  Instruction* Declared(const Instruction& source) {
    Made& made = made_[source.index()];
    if (made.declared == nullptr) made.declared = into_->Add(Opcode::kConvert, source.shape(), {made.wide});
    return made.declared;
  }
  Instruction* Wide(const Instruction& source) {
    Made& made = made_[source.index()];
    if (made.wide == nullptr) {
      made.wide = into_->Add(Opcode::kConvert, Widened(source.shape()), {made.declared});
    }
    return made.wide;
  }

  void Describe(const Instruction& source, Instruction* clone) {
    clone->set_name(source.name());
    clone->set_sharding(source.sharding());
    ReplaceCalled(clone, [this](const Computation* callee) { return computations_[callee]; });
  }

  const Module& source_;
  Module* const target_;
  Computation* into_ = nullptr;
  std::vector<Made> made_;
  absl::flat_hash_map<const Computation*, Computation*> computations_;
  absl::flat_hash_map<const Computation*, Computation*> wide_reducers_;
};

}  // namespace

bool HasBf16(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (AnyBf16(instruction->shape())) return true;
    }
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Module>> KeepChainsInF32(const Module& module) {
  auto kept = std::make_unique<Module>(module.name(), module);
  kept->config() = module.config();
  *kept->mutable_proto() = module.proto();
  RETURN_IF_ERROR(ChainKeeper(module, kept.get()).Run());
  return kept;
}

}  // namespace toroid
