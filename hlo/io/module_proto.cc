#include "hlo/io/module_proto.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// ---- Reading
// --------------------------------------------------------------------------------------------------

// Instructions of one computation by the low 32 bits of their ids: a plain vector where ids are dense.
class IdTable {
 public:
  void Prepare(const google::protobuf::RepeatedPtrField<xla::HloInstructionProto>& instructions) {
    uint32_t low = UINT32_MAX, high = 0;
    for (const auto& instruction : instructions) {
      const uint32_t id = static_cast<uint32_t>(instruction.id());
      low = std::min(low, id);
      high = std::max(high, id);
    }
    const int64_t n = instructions.size();
    dense_ = n > 0 && int64_t{high} - low < 4 * n + 64;
    base_ = low;
    sparse_.clear();
    table_.assign(dense_ ? high - low + 1 : 0, nullptr);
  }

  // False if the id is taken.
  bool Insert(int64_t id, Instruction* instruction) {
    const uint32_t key = static_cast<uint32_t>(id);
    if (!dense_) return sparse_.emplace(key, instruction).second;
    Instruction*& slot = table_[key - base_];
    if (slot != nullptr) return false;
    slot = instruction;
    return true;
  }

  Instruction* Find(int64_t id) const {
    const uint32_t key = static_cast<uint32_t>(id);
    if (!dense_) {
      const auto it = sparse_.find(key);
      return it == sparse_.end() ? nullptr : it->second;
    }
    return key - base_ < table_.size() ? table_[key - base_] : nullptr;
  }

 private:
  bool dense_ = false;
  uint32_t base_ = 0;
  std::vector<Instruction*> table_;
  absl::flat_hash_map<uint32_t, Instruction*> sparse_;
};

absl::Status ErrorAt(const Computation& computation, absl::string_view instruction, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(computation.name(), "/", instruction, ": ", what));
}

std::optional<Opcode> RetiredComparison(absl::string_view opcode, xla::HloInstructionProto* proto) {
  const std::optional<absl::string_view> direction = RetiredComparisonDirection(opcode);
  if (!direction) return std::nullopt;
  proto->set_comparison_direction(std::string(*direction));
  return Opcode::kCompare;
}

class Reader {
 public:
  explicit Reader(Module* module) : module_(module) {}

  absl::Status Read(xla::HloModuleProto* proto) {
    module_->set_name(std::move(*proto->mutable_name()));
    by_id_.reserve(proto->computations_size());
    for (xla::HloComputationProto& computation : *proto->mutable_computations()) {
      RETURN_IF_ERROR(ReadComputation(&computation));
    }
    const auto entry = by_id_.find(proto->entry_computation_id());
    if (entry == by_id_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the entry computation id ", proto->entry_computation_id(), " names no computation"));
    }
    module_->set_entry(entry->second);
    proto->clear_name();
    proto->clear_entry_computation_id();
    proto->clear_entry_computation_name();
    // The instruction messages stay on the arena as attributes; only the list is taken out.
    while (proto->computations_size() > 0) proto->mutable_computations()->UnsafeArenaReleaseLast();
    module_->mutable_proto()->Swap(proto);
    return absl::OkStatus();
  }

 private:
  absl::Status ReadComputation(xla::HloComputationProto* proto) {
    Computation* computation = module_->AddComputation(std::move(*proto->mutable_name()));
    computation->set_id(proto->id());
    computation->set_is_fusion(proto->is_fusion_computation());
    computation->set_execution_thread(proto->execution_thread());
    ids_.Prepare(proto->instructions());
    for (xla::HloInstructionProto& instruction : *proto->mutable_instructions()) {
      RETURN_IF_ERROR(ReadInstruction(&instruction, computation));
    }
    Instruction* root = ids_.Find(proto->root_id());
    if (root == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(computation->name(), ": the root id ", proto->root_id(), " names no instruction"));
    }
    computation->set_root(root);
    RETURN_IF_ERROR(computation->CollectParameters());
    if (!by_id_.emplace(computation->id(), computation).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(computation->name(), ": the computation id ", computation->id(), " occurs twice"));
    }
    proto->clear_name();
    proto->clear_id();
    proto->clear_is_fusion_computation();
    proto->clear_execution_thread();
    proto->clear_root_id();
    while (proto->instructions_size() > 0) proto->mutable_instructions()->UnsafeArenaReleaseLast();
    computation->set_proto(proto);
    return absl::OkStatus();
  }

  absl::Status ReadInstruction(xla::HloInstructionProto* proto, Computation* computation) {
    const std::string& name = proto->name();
    std::optional<Opcode> opcode = OpcodeFromName(proto->opcode());
    if (!opcode) opcode = RetiredComparison(proto->opcode(), proto);

    absl::StatusOr<Shape> shape = Shape::FromProto(proto->shape());
    if (!shape.ok()) return ErrorAt(*computation, name, shape.status().message());
    operands_.clear();
    for (const int64_t id : proto->operand_ids()) {
      Instruction* operand = ids_.Find(id);
      if (operand == nullptr) {
        return ErrorAt(*computation, name, absl::StrCat("operand id ", id, " names no earlier instruction"));
      }
      operands_.push_back(operand);
    }
    Instruction* instruction = computation->Add(opcode.value_or(Opcode::kUnknown), *shape, operands_);
    if (!ids_.Insert(proto->id(), instruction)) {
      return ErrorAt(*computation, name, absl::StrCat("instruction id ", proto->id(), " occurs twice"));
    }
    instruction->set_id(proto->id());
    for (const int64_t id : proto->control_predecessor_ids()) {
      Instruction* predecessor = ids_.Find(id);
      if (predecessor == nullptr || predecessor == instruction) {
        return ErrorAt(*computation, name,
                       absl::StrCat("control predecessor id ", id, " names no earlier instruction"));
      }
      instruction->AddControlPredecessor(predecessor);
    }
    if (proto->called_computation_ids_size() > 0) {
      called_.clear();
      for (const int64_t id : proto->called_computation_ids()) {
        const auto it = by_id_.find(id);
        if (it == by_id_.end()) {
          return ErrorAt(*computation, name,
                         absl::StrCat("called computation id ", id, " names no earlier one"));
        }
        called_.push_back(it->second);
      }
      instruction->set_called(called_);
    }
    if (proto->has_sharding()) instruction->set_sharding(proto->unsafe_arena_release_sharding());
    if (proto->has_metadata()) instruction->set_metadata(proto->unsafe_arena_release_metadata());
    if (proto->has_frontend_attributes()) {
      instruction->set_frontend_attributes(proto->unsafe_arena_release_frontend_attributes());
    }
    instruction->set_name(std::move(*proto->mutable_name()));
    proto->clear_name();
    if (opcode) proto->clear_opcode();
    proto->clear_shape();
    proto->clear_id();
    proto->clear_operand_ids();
    proto->clear_control_predecessor_ids();
    proto->clear_called_computation_ids();
    instruction->set_attrs(proto);
    return absl::OkStatus();
  }

  Module* module_;
  absl::flat_hash_map<int64_t, Computation*> by_id_;
  IdTable ids_;  // Of the computation being read.
  std::vector<Instruction*> operands_;
  std::vector<Computation*> called_;
};

// ---- Writing
// --------------------------------------------------------------------------------------------------

// Wire encoding of the few field kinds the writer emits itself.
class Wire {
 public:
  static void Varint(uint64_t value, std::string* out) {
    char buffer[10];
    int n = 0;
    while (value >= 0x80) {
      buffer[n++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    buffer[n++] = static_cast<char>(value);
    out->append(buffer, n);
  }
  static int VarintSize(uint64_t value) {
    return google::protobuf::io::CodedOutputStream::VarintSize64(value);
  }
  static void Tag(int field, int type, std::string* out) {
    Varint(static_cast<uint64_t>(field) << 3 | type, out);
  }
  static void Int(int field, int64_t value, std::string* out) {
    if (value == 0) return;
    Tag(field, 0, out);
    Varint(static_cast<uint64_t>(value), out);
  }
  static void Bytes(int field, absl::string_view value, std::string* out) {
    Tag(field, 2, out);
    Varint(value.size(), out);
    out->append(value.data(), value.size());
  }
  static void String(int field, absl::string_view value, std::string* out) {
    if (!value.empty()) Bytes(field, value, out);
  }
  template <typename Message>
  static void SubMessage(int field, const Message& message, std::string* out) {
    Tag(field, 2, out);
    Varint(message.ByteSizeLong(), out);
    message.AppendPartialToString(out);
  }
  // A packed list of ids, given by a callback that maps each element to its id.
  template <typename Range, typename IdOf>
  static void PackedIds(int field, const Range& range, const IdOf& id_of, std::string* out) {
    if (range.empty()) return;
    size_t size = 0;
    for (const auto* element : range) size += VarintSize(id_of(element));
    Tag(field, 2, out);
    Varint(size, out);
    for (const auto* element : range) Varint(id_of(element), out);
  }
};

class Writer {
 public:
  Writer(const Module& module, std::string* out) : module_(module), out_(out) {
    keep_ids_ = true;
    for (const auto& computation : module.computations()) {
      keep_ids_ &= computation->id() >= 0;
      for (const auto& instruction : computation->instructions()) keep_ids_ &= instruction->id() >= 0;
    }
  }

  void Write() {
    Wire::String(xla::HloModuleProto::kNameFieldNumber, module_.name(), out_);
    Wire::String(xla::HloModuleProto::kEntryComputationNameFieldNumber, module_.entry()->name(), out_);
    Wire::Int(xla::HloModuleProto::kEntryComputationIdFieldNumber, IdOf(module_.entry()), out_);
    for (const auto& computation : module_.computations()) WriteComputation(*computation);
    if (!module_.proto().has_host_program_shape()) {
      Wire::SubMessage(xla::HloModuleProto::kHostProgramShapeFieldNumber, ProgramShapeOf(*module_.entry()),
                       out_);
    }
    module_.proto().AppendPartialToString(out_);
    if (module_.config().identity_device_assignment) WriteIdentityAssignment();
  }

 private:
  int64_t IdOf(const Computation* computation) const {
    return keep_ids_ ? computation->id() : computation->index() + 1;
  }
  int64_t IdOf(const Instruction* instruction) const {
    return keep_ids_ ? instruction->id() : IdOf(instruction->computation()) << 32 | instruction->index();
  }

  static xla::ProgramShapeProto ProgramShapeOf(const Computation& computation) {
    xla::ProgramShapeProto program_shape;
    for (const Instruction* parameter : computation.parameters()) {
      parameter->shape().ToProto(program_shape.add_parameters());
      program_shape.add_parameter_names(parameter->name());
    }
    computation.root()->shape().ToProto(program_shape.mutable_result());
    return program_shape;
  }

  // A second occurrence of the field, which readers merge with the counts of the first.
  void WriteIdentityAssignment() {
    body_.clear();
    for (int64_t device = 0; device < module_.config().num_partitions; ++device) {
      const int id_size = Wire::VarintSize(device);
      Wire::Tag(xla::DeviceAssignmentProto::kComputationDevicesFieldNumber, 2, &body_);
      Wire::Varint(2 + id_size, &body_);
      Wire::Tag(xla::DeviceAssignmentProto::ComputationDevice::kReplicaDeviceIdsFieldNumber, 2, &body_);
      Wire::Varint(id_size, &body_);
      Wire::Varint(device, &body_);
    }
    Wire::Bytes(xla::HloModuleProto::kDeviceAssignmentFieldNumber, body_, out_);
  }

  void WriteComputation(const Computation& computation) {
    using Proto = xla::HloComputationProto;
    body_.clear();
    Wire::String(Proto::kNameFieldNumber, computation.name(), &body_);
    for (const auto& instruction : computation.instructions()) {
      WriteInstruction(*instruction);
      Wire::Bytes(Proto::kInstructionsFieldNumber, instruction_, &body_);
    }
    Wire::Int(Proto::kIdFieldNumber, IdOf(&computation), &body_);
    Wire::Int(Proto::kRootIdFieldNumber, IdOf(computation.root()), &body_);
    Wire::Int(Proto::kIsFusionComputationFieldNumber, computation.is_fusion(), &body_);
    Wire::String(Proto::kExecutionThreadFieldNumber, computation.execution_thread(), &body_);
    if (computation.proto() != nullptr && computation.proto()->has_program_shape()) {
      computation.proto()->AppendPartialToString(&body_);
    } else {
      Wire::SubMessage(Proto::kProgramShapeFieldNumber, ProgramShapeOf(computation), &body_);
      if (computation.proto() != nullptr) computation.proto()->AppendPartialToString(&body_);
    }
    Wire::Bytes(xla::HloModuleProto::kComputationsFieldNumber, body_, out_);
  }

  void WriteInstruction(const Instruction& instruction) {
    using Proto = xla::HloInstructionProto;
    std::string* out = &instruction_;
    out->clear();
    Wire::String(Proto::kNameFieldNumber, UniqueName(instruction), out);
    if (instruction.opcode() != Opcode::kUnknown) {
      Wire::Bytes(Proto::kOpcodeFieldNumber, instruction.opcode_name(), out);
    }
    WriteShape(instruction.shape());
    const auto id_of = [this](const auto* element) { return IdOf(element); };
    Wire::Int(Proto::kIdFieldNumber, IdOf(&instruction), out);
    Wire::PackedIds(Proto::kOperandIdsFieldNumber, instruction.operands(), id_of, out);
    Wire::PackedIds(Proto::kControlPredecessorIdsFieldNumber, instruction.control_predecessors(), id_of, out);
    Wire::PackedIds(Proto::kCalledComputationIdsFieldNumber, instruction.called(), id_of, out);
    if (instruction.sharding() != nullptr) {
      Wire::SubMessage(Proto::kShardingFieldNumber, *instruction.sharding(), out);
    }
    if (instruction.metadata() != nullptr) {
      Wire::SubMessage(Proto::kMetadataFieldNumber, *instruction.metadata(), out);
    }
    if (instruction.frontend_attributes() != nullptr) {
      Wire::SubMessage(Proto::kFrontendAttributesFieldNumber, *instruction.frontend_attributes(), out);
    }
    if (&instruction.attrs() != &Proto::default_instance()) instruction.attrs().AppendPartialToString(out);
  }

  // The common case, an array in row-major layout, is emitted without building a message.
  void WriteShape(const Shape& shape) {
    using Proto = xla::HloInstructionProto;
    shape_.Clear();
    shape.ToProto(&shape_);
    Wire::SubMessage(Proto::kShapeFieldNumber, shape_, &instruction_);
  }

  // Names as they are, unless ids were renumbered: then a missing or repeated one gets a suffix.
  absl::string_view UniqueName(const Instruction& instruction) {
    if (keep_ids_) return instruction.name();
    if (!instruction.name().empty() && names_.insert(instruction.name()).second) return instruction.name();
    const absl::string_view base =
        instruction.name().empty() ? instruction.opcode_name() : absl::string_view(instruction.name());
    do {
      scratch_name_ = absl::StrCat(base, ".t", ++next_suffix_);
    } while (!names_.insert(scratch_name_).second);
    return scratch_name_;
  }

  const Module& module_;
  std::string* out_;
  bool keep_ids_;
  std::string body_;
  std::string instruction_;
  xla::ShapeProto shape_;
  absl::flat_hash_set<std::string> names_;
  std::string scratch_name_;
  int64_t next_suffix_ = 0;
};

}  // namespace

absl::Status BuildModule(xla::HloModuleProto* proto, Module* module) { return Reader(module).Read(proto); }

absl::StatusOr<std::unique_ptr<Module>> ReadModuleProto(absl::string_view bytes) {
  auto module = std::make_unique<Module>("");
  auto* proto = module->New<xla::HloModuleProto>();
  if (!proto->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("not an HloModuleProto");
  }
  RETURN_IF_ERROR(BuildModule(proto, module.get()));
  return module;
}

void AppendModuleProto(const Module& module, std::string* bytes) { Writer(module, bytes).Write(); }

}  // namespace toroid
