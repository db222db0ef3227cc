#include "hlo/passes/inline_calls_pass.h"

#include <vector>

#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr int64_t kMaxInstructions = 16 << 20;

class Inliner {
 public:
  Inliner(const Module& source, Module* target) : source_(source), target_(target) {}

  absl::Status Run() {
    // Computations that only calls enter are not copied on their own.
    std::vector<bool> needed(source_.num_computations(), false);
    needed[source_.entry()->index()] = true;
    for (const auto& computation : source_.computations()) {
      for (const auto& instruction : computation->instructions()) {
        if (instruction->opcode() == Opcode::kCall) continue;
        for (const Computation* callee : instruction->called()) needed[callee->index()] = true;
      }
    }
    copies_.assign(source_.num_computations(), nullptr);
    for (const auto& computation : source_.computations()) {
      if (!needed[computation->index()]) continue;
      Computation* copy = target_->AddComputation(computation->name());
      copies_[computation->index()] = copy;
      copy->set_is_fusion(computation->is_fusion());
      copy->set_execution_thread(computation->execution_thread());
      RETURN_IF_ERROR(Append(*computation, {}, nullptr, copy));
      RETURN_IF_ERROR(copy->CollectParameters());
    }
    target_->set_entry(copies_[source_.entry()->index()]);
    return absl::OkStatus();
  }

 private:
  // Appends copies of all instructions; for an inlined callee the parameters are `arguments`.
  absl::Status Append(const Computation& from, absl::Span<Instruction* const> arguments, const Instruction* call,
                      Computation* to) {
    std::vector<Instruction*> map(from.size());
    std::vector<Instruction*> operands;
    for (const auto& instruction : from.instructions()) {
      if (++count_ > kMaxInstructions) {
        return absl::ResourceExhaustedError("calls inline to more than 16 million instructions");
      }
      Instruction*& copy = map[instruction->index()];
      if (call != nullptr && instruction->opcode() == Opcode::kParameter) {
        const int64_t number = instruction->parameter_number();
        if (number >= static_cast<int64_t>(arguments.size())) {
          return absl::InvalidArgumentError(absl::StrCat(from.name(), "/", instruction->name(),
                                                         ": the call passes only ", arguments.size(),
                                                         " arguments"));
        }
        copy = arguments[number];
        continue;
      }
      operands.clear();
      for (const Instruction* operand : instruction->operands()) operands.push_back(map[operand->index()]);
      if (instruction->opcode() == Opcode::kCall && instruction->called().size() == 1) {
        const std::vector<Instruction*> passed = operands;
        RETURN_IF_ERROR(Append(*instruction->called(0), passed, instruction.get(), to));
        copy = inlined_root_;
        continue;
      }
      copy = to->AddClone(*instruction, instruction->shape(), operands);
      copy->set_name(instruction->name());
      copy->set_sharding(instruction->sharding());
      if (call != nullptr && copy->metadata() == nullptr) copy->set_metadata(call->metadata());
      if (!instruction->called().empty()) {
        called_.clear();
        for (const Computation* callee : instruction->called()) called_.push_back(copies_[callee->index()]);
        copy->set_called(called_);
      }
    }
    if (call == nullptr) {
      to->set_root(map[from.root()->index()]);
    } else {
      inlined_root_ = map[from.root()->index()];
    }
    return absl::OkStatus();
  }

  const Module& source_;
  Module* target_;
  std::vector<Computation*> copies_;
  std::vector<Computation*> called_;
  Instruction* inlined_root_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> InlineCalls(const Module& module) {
  auto target = std::make_unique<Module>(module.name(), module);
  *target->mutable_proto() = module.proto();
  target->config() = module.config();
  RETURN_IF_ERROR(Inliner(module, target.get()).Run());
  return target;
}

}  // namespace toroid
