#include "hlo/ir/module.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace toroid {

absl::string_view Instruction::opcode_name() const {
  return opcode_ == Opcode::kUnknown ? absl::string_view(attrs_->opcode()) : OpcodeName(opcode_);
}

std::string Instruction::Path() const {
  return absl::StrCat(computation_->name(), "/", name_.empty() ? opcode_name() : absl::string_view(name_));
}

Module* Instruction::module() const { return computation_->module(); }

xla::HloInstructionProto* Instruction::MutableAttrs() {
  xla::HloInstructionProto* attrs = module()->New(*attrs_);
  attrs_ = attrs;
  return attrs;
}

const std::string* Instruction::FrontendAttribute(const std::string& key) const {
  if (frontend_attributes_ == nullptr) return nullptr;
  const auto it = frontend_attributes_->map().find(key);
  return it == frontend_attributes_->map().end() ? nullptr : &it->second;
}

Instruction* Computation::Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                              std::string name) {
  auto instruction = std::make_unique<Instruction>();
  instruction->opcode_ = opcode;
  instruction->shape_ = shape;
  instruction->operands_.assign(operands.begin(), operands.end());
  instruction->name_ = std::move(name);
  instruction->computation_ = this;
  instruction->index_ = size();
  instruction->attrs_ = &xla::HloInstructionProto::default_instance();
  instructions_.push_back(std::move(instruction));
  return instructions_.back().get();
}

Instruction* Computation::Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                              xla::HloInstructionProto** attrs, std::string name) {
  Instruction* instruction = Add(opcode, shape, operands, std::move(name));
  *attrs = module_->New<xla::HloInstructionProto>();
  instruction->attrs_ = *attrs;
  return instruction;
}

Instruction* Computation::AddParameter(const Shape& shape, std::string name) {
  xla::HloInstructionProto* attrs;
  Instruction* instruction = Add(Opcode::kParameter, shape, {}, &attrs, std::move(name));
  attrs->set_parameter_number(num_parameters());
  parameters_.push_back(instruction);
  return instruction;
}

Instruction* Computation::AddConstant(const Literal& value, std::string name) {
  xla::HloInstructionProto* attrs;
  Instruction* instruction = Add(Opcode::kConstant, value.shape(), {}, &attrs, std::move(name));
  value.ToProto(attrs->mutable_literal());
  return instruction;
}

Instruction* Computation::AddClone(const Instruction& instruction, const Shape& shape,
                                   absl::Span<Instruction* const> operands) {
  Instruction* clone = Add(instruction.opcode(), shape, operands);
  clone->attrs_ = instruction.attrs_;
  clone->metadata_ = instruction.metadata_;
  clone->frontend_attributes_ = instruction.frontend_attributes_;
  clone->called_ = instruction.called_;
  return clone;
}

void Computation::Keep(const std::vector<bool>& keep) {
  size_t kept = 0;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    if (!keep[i]) continue;
    if (kept != i) instructions_[kept] = std::move(instructions_[i]);
    instructions_[kept]->index_ = static_cast<int>(kept);
    ++kept;
  }
  instructions_.resize(kept);
}

void Computation::Reorder(absl::Span<Instruction* const> order) {
  std::vector<std::unique_ptr<Instruction>> sorted;
  sorted.reserve(order.size());
  for (const Instruction* instruction : order)
    sorted.push_back(std::move(instructions_[instruction->index()]));
  instructions_ = std::move(sorted);
  for (int i = 0; i < size(); ++i) instructions_[i]->index_ = i;
}

absl::Status Computation::CollectParameters() {
  parameters_.clear();
  for (const auto& instruction : instructions_) {
    if (instruction->opcode() != Opcode::kParameter) continue;
    const int64_t number = instruction->parameter_number();
    if (number < 0 || number >= size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, "/", instruction->name(), ": parameter number ", number, " leaves a gap"));
    }
    if (number >= num_parameters()) parameters_.resize(number + 1, nullptr);
    if (parameters_[number] != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, "/", instruction->name(), ": parameter number ", number, " occurs twice"));
    }
    parameters_[number] = instruction.get();
  }
  for (int i = 0; i < num_parameters(); ++i) {
    if (parameters_[i] == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(name_, ": there is no parameter number ", i));
    }
  }
  return absl::OkStatus();
}

Module::Module(std::string name) : name_(std::move(name)) {
  google::protobuf::ArenaOptions options;
  options.start_block_size = 64 << 10;
  options.max_block_size = 1 << 20;
  arenas_.push_back(std::make_shared<google::protobuf::Arena>(options));
  proto_ = New<xla::HloModuleProto>();
}

Module::Module(std::string name, const Module& source) : name_(std::move(name)), arenas_(source.arenas_) {
  google::protobuf::ArenaOptions options;
  options.start_block_size = 64 << 10;
  options.max_block_size = 1 << 20;
  arenas_.push_back(std::make_shared<google::protobuf::Arena>(options));
  proto_ = New<xla::HloModuleProto>();
}

Computation* Module::AddComputation(std::string name) {
  computations_.push_back(std::make_unique<Computation>(this, std::move(name)));
  computations_.back()->index_ = num_computations() - 1;
  return computations_.back().get();
}

void Module::RemoveUnreachableComputations() {
  std::vector<bool> reached(computations_.size(), false);
  std::vector<Computation*> post_order;
  // Callees first: a computation follows all its callees.
  std::function<void(Computation*)> visit = [&](Computation* computation) {
    if (reached[computation->index_]) return;
    reached[computation->index_] = true;
    for (const auto& instruction : computation->instructions()) {
      for (Computation* callee : instruction->called()) visit(callee);
    }
    post_order.push_back(computation);
  };
  visit(entry_);
  ReorderComputations(post_order);
}

void Module::ReorderComputations(absl::Span<Computation* const> order) {
  std::vector<std::unique_ptr<Computation>> kept;
  for (Computation* computation : order) kept.push_back(std::move(computations_[computation->index_]));
  computations_ = std::move(kept);
  for (int i = 0; i < num_computations(); ++i) computations_[i]->index_ = i;
}

int64_t Module::NumInstructions() const {
  int64_t n = 0;
  for (const auto& computation : computations_) n += computation->size();
  return n;
}

int Module::AddCause(std::string text) {
  causes_.push_back(std::move(text));
  return static_cast<int>(causes_.size()) - 1;
}

UserMap::UserMap(const Computation& computation) : begin_(computation.size() + 1, 0) {
  for (const auto& instruction : computation.instructions()) {
    for (const Instruction* operand : instruction->operands()) ++begin_[operand->index() + 1];
  }
  for (int i = 0; i < computation.size(); ++i) begin_[i + 1] += begin_[i];
  users_.resize(begin_.back());
  std::vector<int> next(begin_.begin(), begin_.end() - 1);
  for (const auto& instruction : computation.instructions()) {
    for (const Instruction* operand : instruction->operands())
      users_[next[operand->index()]++] = instruction.get();
  }
}

absl::string_view Instruction::backend_config() const {
  if (!attrs_->backend_config().empty()) return attrs_->backend_config();
  const xla::Payload& payload = attrs_->backend_config_payload();
  if (!payload.has_id()) return payload.value();
  const auto& payloads = computation_->module()->proto().payloads();
  if (payload.id() < 0 || payload.id() >= payloads.size()) return "";
  return payloads[static_cast<int>(payload.id())];
}

}  // namespace toroid
