#include "hlo/passes/inline_calls_pass.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/unique_names.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/io/module_meshes.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/literal.h"
#include "hlo/passes/row_major_bitcast.h"
#include "hlo/passes/scalar_starts.h"
#include "hlo/passes/synchronous_op.h"

namespace toroid {
namespace {

constexpr int64_t kMaxInstructions = 16 << 20;
// Limits of composed metadata: number of messages, and characters of each name.
constexpr int64_t kMostComposed = 1 << 18;
constexpr size_t kMostCharacters = 512;

bool IsInlined(const Instruction& i) {
  return (i.opcode() == Opcode::kCall || i.opcode() == Opcode::kFusion ||
          i.opcode() == Opcode::kAsyncStart) &&
         i.called().size() == 1;
}

// True if the instruction gets its own copies of its callees. Other callees, such as reducers, are shared.
bool OwnsCallees(const Instruction& i) {
  return i.opcode() == Opcode::kWhile || i.opcode() == Opcode::kConditional;
}

// Number of instructions that inlining `module` visits; saturates at INT64_MAX. Callees are before their
// callers (M5), so that one walk up and one walk down count what may take exponential time to copy.
int64_t InlinedInstructions(const Module& module) {
  const auto add = [](int64_t a, int64_t b) { return CheckedAdd(a, b).value_or(INT64_MAX); };
  const auto& computations = module.computations();
  std::vector<int64_t> size(computations.size(), 0);
  for (size_t c = 0; c < computations.size(); ++c) {
    size[c] = computations[c]->size();
    for (const auto& i : computations[c]->instructions()) {
      if (!IsInlined(*i) && !OwnsCallees(*i)) continue;
      for (const Computation* callee : i->called()) size[c] = add(size[c], size[callee->index()]);
    }
  }
  std::vector<bool> reached(computations.size(), false), shared(computations.size(), false);
  reached[module.entry()->index()] = true;
  int64_t total = size[module.entry()->index()];
  for (size_t c = computations.size(); c-- > 0;) {
    if (!reached[c]) continue;
    if (shared[c]) total = add(total, size[c]);
    for (const auto& i : computations[c]->instructions()) {
      for (const Computation* callee : i->called()) {
        reached[callee->index()] = true;
        if (!IsInlined(*i) && !OwnsCallees(*i)) shared[callee->index()] = true;
      }
    }
  }
  return total;
}

class Inliner {
 public:
  Inliner(const Module& source, Module* target)
      : source_(source), target_(target), shardy_(SdyMeshesText(source) != nullptr) {}

  absl::Status Run() {
    shared_.assign(source_.num_computations(), nullptr);
    ASSIGN_OR_RETURN(Computation * entry, Copy(*source_.entry(), nullptr));
    target_->set_entry(entry);
    target_->RemoveUnreachableComputations();  // Sorts callees before their callers.
    return bitcasts_.Finish(target_);
  }

 private:
  // The destination of copied instructions.
  struct Place {
    bool inlined = false;  // In place of a call: `arguments` replace the parameters.
    absl::Span<Instruction* const> arguments = {};
    const xla::OpMetadata* outer = nullptr;  // The metadata of the enclosing call; null for none.
    Computation* to = nullptr;
  };

  // `outer`: see Place.
  absl::StatusOr<Computation*> Copy(const Computation& computation, const xla::OpMetadata* outer) {
    Computation* copy = target_->AddComputation(names_.Add(computation.name()));
    copy->set_is_fusion(computation.is_fusion());
    copy->set_execution_thread(computation.execution_thread());
    ASSIGN_OR_RETURN(Instruction * root, Append(computation, {.outer = outer, .to = copy}));
    copy->set_root(root);
    RETURN_IF_ERROR(copy->CollectParameters());
    return copy;
  }

  // Sets the callees of `copy`: own copies of bodies, conditions and branches, shared copies of reducers and
  // the like.
  absl::Status CopyCalled(const Instruction& instruction, const xla::OpMetadata* outer, Instruction* copy) {
    const bool own = OwnsCallees(instruction);
    std::vector<Computation*> called;
    for (const Computation* callee : instruction.called()) {
      Computation* known = own ? nullptr : shared_[callee->index()];
      if (known == nullptr) {
        ASSIGN_OR_RETURN(known, Copy(*callee, own ? outer : nullptr));
        if (!own) shared_[callee->index()] = known;
      }
      called.push_back(known);
    }
    copy->set_called(called);
    return absl::OkStatus();
  }

  // Appends copies of all instructions and returns the copy of the root.
  absl::StatusOr<Instruction*> Append(const Computation& from, const Place& place) {
    const std::vector<bool> paired = PairedStarts(from);
    ASSIGN_OR_RETURN(
        const std::vector<Instruction*> copies,
        CloneInstructions(from, [&](const Instruction& instruction, std::vector<Instruction*>* operands) {
          return CopyOne(instruction, paired, place, operands);
        }));
    return copies[from.root()->index()];
  }

  // The copy of an instruction, or the value that replaces it, over the copied `operands`.
  absl::StatusOr<Instruction*> CopyOne(const Instruction& instruction, const std::vector<bool>& paired,
                                       const Place& place, std::vector<Instruction*>* operands) {
    const bool is_pair = paired[instruction.index()];
    if (place.inlined && instruction.opcode() == Opcode::kParameter) return Argument(instruction, place);
    // The start has become the op itself.
    if (IsUpdateOrDone(instruction) && paired[instruction.operand(0)->index()]) return operands->front();
    if (is_pair && instruction.opcode() != Opcode::kAsyncStart) {
      return CopySynchronous(instruction, place, *operands);
    }
    if (IsInlined(instruction) && (is_pair || instruction.opcode() != Opcode::kAsyncStart)) {
      ASSIGN_OR_RETURN(
          Instruction * root,
          Append(*instruction.called(0), {.inlined = true,
                                          .arguments = *operands,
                                          .outer = InlinedMetadata(place.outer, instruction.metadata()),
                                          .to = place.to}));
      // The shardings of an async-start are those of its whole state, not of the result alone.
      return is_pair ? root : KeepSharding(instruction, root, place.to);
    }
    if (instruction.shape().IsTuple() && instruction.opcode() == Opcode::kConstant) {
      ASSIGN_OR_RETURN(const Literal value, LiteralOf(instruction));
      return Constants(value, place.to);
    }
    if (IsAnnotatedTuple(instruction, *operands)) {
      return instruction.sharding() == nullptr ? operands->front()
                                               : KeepSharding(instruction, operands->front(), place.to);
    }
    return CopyPlain(instruction, place, operands);
  }

  // The argument that the call passes for a parameter.
  absl::StatusOr<Instruction*> Argument(const Instruction& parameter, const Place& place) {
    const int64_t number = parameter.parameter_number();
    if (number >= static_cast<int64_t>(place.arguments.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat(parameter.Path(), ": the call passes only ", place.arguments.size(), " arguments"));
    }
    return KeepSharding(parameter, place.arguments[number], place.to);
  }

  // Appends the op that a start carries out.
  absl::StatusOr<Instruction*> CopySynchronous(const Instruction& start, const Place& place,
                                               absl::Span<Instruction* const> operands) {
    Instruction* copy = AppendSynchronousOp(start, operands, place.to);
    copy->set_name(start.name());
    copy->TakeSharding(start);
    if (!start.called().empty()) RETURN_IF_ERROR(CopyCalled(start, place.outer, copy));
    return copy;
  }

  absl::StatusOr<Instruction*> CopyPlain(const Instruction& instruction, const Place& place,
                                         std::vector<Instruction*>* operands) {
    Instruction* copy;
    if (instruction.opcode() == Opcode::kBitcast) {
      copy = bitcasts_.Append(instruction, operands->front(), place.to);
    } else {
      if (HasVectorOfStarts(instruction))
        RETURN_IF_ERROR(AppendScalarStarts(instruction, place.to, operands));
      copy = place.to->AddClone(instruction, instruction.shape(), *operands);
    }
    copy->set_name(instruction.name());
    copy->TakeSharding(instruction);
    copy->set_metadata(InlinedMetadata(place.outer, copy->metadata()));
    if (!instruction.called().empty()) RETURN_IF_ERROR(CopyCalled(instruction, place.outer, copy));
    return copy;
  }

  // A Sharding annotation of a whole tuple.
  static bool IsAnnotatedTuple(const Instruction& instruction, absl::Span<Instruction* const> operands) {
    return instruction.shape().IsTuple() && IsCallTo(instruction, "Sharding") && operands.size() == 1 &&
           operands[0]->shape().Compatible(instruction.shape());
  }

  // The metadata of an inlined instruction. Its source line is its own, or else the call's. Its op_name is
  // appended to the call's if the call's name is one of JAX, which names instructions relative to the call.
  const xla::OpMetadata* InlinedMetadata(const xla::OpMetadata* call, const xla::OpMetadata* own) {
    if (call == nullptr || own == nullptr) return own == nullptr ? call : own;
    const bool lacks_source = own->stack_frame_id() == 0 && own->source_file().empty() &&
                              (call->stack_frame_id() != 0 || !call->source_file().empty()) &&
                              call->source_file().size() <= kMostCharacters;
    const std::string& outer = call->op_name();
    const bool is_relative = absl::StartsWith(outer, "jit(") && !own->op_name().empty() &&
                             !absl::StartsWith(own->op_name(), outer.substr(0, outer.find('/')) + "/") &&
                             outer.size() + own->op_name().size() <= kMostCharacters;
    if ((!lacks_source && !is_relative) || composed_ >= kMostComposed) return own;
    if (own->ByteSizeLong() > 2 * kMostCharacters) return own;
    ++composed_;
    auto* both = target_->New<xla::OpMetadata>(*own);
    if (lacks_source) {
      both->set_stack_frame_id(call->stack_frame_id());
      both->set_source_file(call->source_file());
      both->set_source_line(call->source_line());
    }
    if (is_relative) both->set_op_name(absl::StrCat(outer, "/", own->op_name()));
    return both;
  }

  // A tuple of constants, one per array.
  static Instruction* Constants(const Literal& value, Computation* to) {
    if (!value.shape().IsTuple()) return to->AddConstant(value);
    std::vector<Instruction*> elements;
    for (const Literal& element : value.elements()) elements.push_back(Constants(element, to));
    return to->Add(Opcode::kTuple, value.shape(), elements);
  }

  // `value`, which replaces the call or parameter `gone`, annotated with the shardings of `gone`.
  absl::StatusOr<Instruction*> KeepSharding(const Instruction& gone, Instruction* value, Computation* to) {
    const bool named = gone.FrontendAttribute("xla.sdy.sharding") != nullptr || gone.sharding_is_given();
    // In a Shardy module ordinary shardings are ignored.
    if (shardy_ ? !named : gone.sharding() == nullptr) return value;
    size_t leaf = 0;
    InstructionBuilder b(to);
    Instruction* annotated = Annotated(gone, gone.sharding(), value, &leaf, b);
    RETURN_IF_ERROR(Annotate(b.status(), gone.Path()));
    return annotated;
  }

  Instruction* Annotated(const Instruction& gone, const xla::OpSharding* sharding, Instruction* value,
                         size_t* leaf, InstructionBuilder& b) {
    if (value->shape().IsTuple()) {
      std::vector<Instruction*> elements;
      for (size_t i = 0; i < value->shape().tuple_shapes().size(); ++i) {
        elements.push_back(Annotated(gone, sharding, b.GetTupleElement(value, i), leaf, b));
      }
      return b.Op(Opcode::kTuple, value->shape(), elements);
    }
    // One sharding for all leaves, or one for each.
    const size_t at = (*leaf)++;
    if (sharding != nullptr && sharding->type() == xla::OpSharding::TUPLE) {
      if (at >= static_cast<size_t>(sharding->tuple_shardings_size())) return value;
      sharding = &sharding->tuple_shardings(static_cast<int>(at));
    }
    if (!value->shape().IsArray()) return value;
    Instruction* call = b.CustomCall("Sharding", value->shape(), {value});
    call->set_name(gone.name());
    if (gone.sharding_is_given()) {
      call->GiveSharding(sharding);
    } else {
      call->set_sharding(sharding);
    }
    call->set_metadata(gone.metadata());
    if (!gone.shape().IsTuple()) call->set_frontend_attributes(gone.frontend_attributes());
    return call;
  }

  const Module& source_;
  Module* target_;
  const bool shardy_;
  int64_t composed_ = 0;              // Messages made by InlinedMetadata().
  std::vector<Computation*> shared_;  // By computation of the source.
  UniqueNames names_;                 // Names of the copied computations.
  RowMajorBitcasts bitcasts_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> InlineCalls(const Module& module) {
  if (InlinedInstructions(module) > kMaxInstructions) {
    return absl::ResourceExhaustedError(
        "calls inline to more than 16 million instructions; use fewer levels of calls");
  }
  auto target = std::make_unique<Module>(module.name(), module);
  *target->mutable_proto() = module.proto();
  target->config() = module.config();
  Inliner inliner(module, target.get());
  RETURN_IF_ERROR(inliner.Run());
  return target;
}

}  // namespace toroid
