#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/wire_format_lite.h"
#include "hlo/base/status.h"
#include "hlo/io/module_proto.h"
#include "hlo/io/wire_fields.h"

namespace toroid {
namespace {

using google::protobuf::internal::WireFormatLite;

// Instructions of one computation by the low 32 bits of their ids: a vector, starting at the first id, for
// dense ids, and a map for the others.
class IdTable {
 public:
  // Empties the table for `n` instructions.
  void Prepare(int64_t n) {
    limit_ = 4 * n + 64;
    empty_ = true;
    table_.clear();
    sparse_.clear();
  }

  // False if the id is taken.
  bool Insert(int64_t id, Instruction* instruction) {
    const uint32_t key = static_cast<uint32_t>(id);
    if (empty_) base_ = key;
    empty_ = false;
    const int64_t slot = int64_t{key} - base_;
    if (slot < 0 || slot >= limit_) return sparse_.emplace(key, instruction).second;
    if (slot >= static_cast<int64_t>(table_.size())) table_.resize(slot + 1, nullptr);
    if (table_[slot] != nullptr) return false;
    table_[slot] = instruction;
    return true;
  }

  Instruction* Find(int64_t id) const {
    const uint32_t key = static_cast<uint32_t>(id);
    const int64_t slot = int64_t{key} - base_;
    if (slot >= 0 && slot < limit_)
      return slot < static_cast<int64_t>(table_.size()) ? table_[slot] : nullptr;
    const auto it = sparse_.find(key);
    return it == sparse_.end() ? nullptr : it->second;
  }

 private:
  int64_t limit_ = 0;
  uint32_t base_ = 0;
  bool empty_ = true;
  std::vector<Instruction*> table_;
  absl::flat_hash_map<uint32_t, Instruction*> sparse_;
};

// Messages of one kind, by their bytes, each parsed once, so that instructions share metadata, shapes and
// attributes.
template <typename Message>
class Interned {
 public:
  // Larger messages rarely repeat.
  static constexpr size_t kMaxBytes = 1 << 10;

  // Null if the bytes are damaged.
  const Message* Get(absl::string_view bytes, Module* module) {
    if (bytes.size() > kMaxBytes) return Parse(bytes, module);
    const auto it = messages_.find(bytes);
    if (it != messages_.end()) return it->second;
    const Message* message = Parse(bytes, module);
    messages_.emplace(bytes, message);
    return message;
  }

 private:
  static const Message* Parse(absl::string_view bytes, Module* module) {
    auto* message = module->New<Message>();
    return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ? message : nullptr;
  }

  absl::flat_hash_map<std::string, const Message*> messages_;
};

// Checks the value of a `string` field, which proto3 requires to be UTF-8.
bool IsUtf8(absl::string_view value) {
  return WireFormatLite::VerifyUtf8String(value.data(), static_cast<int>(value.size()), WireFormatLite::PARSE,
                                          "string");
}

// Appends the elements of a repeated int64, packed or not. False if the field is of another type.
bool AppendIds(const WireFields& field, std::vector<int64_t>* ids) {
  if (field.type() == kWireVarint) {
    ids->push_back(static_cast<int64_t>(field.value()));
    return true;
  }
  if (field.type() != kWireBytes) return false;
  absl::string_view rest = field.payload();
  while (!rest.empty()) {
    uint64_t id;
    if (!TakeVarint(&rest, &id)) return false;
    ids->push_back(static_cast<int64_t>(id));
  }
  return true;
}

absl::Status Damaged() {
  return absl::InvalidArgumentError("damaged HloModuleProto, or a string in it is not UTF-8");
}

// The fields of one HloInstructionProto that have members in the IR, and the bytes of all others. Two
// occurrences of a message field are concatenated, which is how protobuf merges them.
struct InstructionFields {
  absl::string_view name, opcode, opcode_field;
  int64_t id = 0;
  std::vector<int64_t> operands, control_predecessors, called;
  WirePieces shape, sharding, metadata, frontend_attributes, others;
  bool has_sharding, has_metadata, has_frontend_attributes;

  absl::Status Read(absl::string_view bytes) {
    using Proto = xla::HloInstructionProto;
    name = opcode = opcode_field = {};
    id = 0;
    for (auto* ids : {&operands, &control_predecessors, &called}) ids->clear();
    for (WirePieces* pieces : {&shape, &sharding, &metadata, &frontend_attributes, &others}) pieces->Clear();
    has_sharding = has_metadata = has_frontend_attributes = false;
    WireFields field(bytes);
    while (field.Next()) {
      const bool is_bytes = field.type() == kWireBytes;
      bool known = is_bytes;
      switch (field.number()) {
        case Proto::kNameFieldNumber:
          if (is_bytes) name = field.payload();
          break;
        case Proto::kOpcodeFieldNumber:
          if (is_bytes) opcode = field.payload(), opcode_field = field.raw();
          break;
        case Proto::kShapeFieldNumber:
          if (is_bytes) shape.Add(field.payload());
          break;
        case Proto::kMetadataFieldNumber:
          if (is_bytes) metadata.Add(field.payload()), has_metadata = true;
          break;
        case Proto::kShardingFieldNumber:
          if (is_bytes) sharding.Add(field.payload()), has_sharding = true;
          break;
        case Proto::kFrontendAttributesFieldNumber:
          if (is_bytes) frontend_attributes.Add(field.payload()), has_frontend_attributes = true;
          break;
        case Proto::kIdFieldNumber:
          known = field.type() == kWireVarint;
          if (known) id = static_cast<int64_t>(field.value());
          break;
        case Proto::kOperandIdsFieldNumber:
          known = AppendIds(field, &operands);
          break;
        case Proto::kControlPredecessorIdsFieldNumber:
          known = AppendIds(field, &control_predecessors);
          break;
        case Proto::kCalledComputationIdsFieldNumber:
          known = AppendIds(field, &called);
          break;
        case Proto::kPermutePatternFieldNumber:
          known = true;  // No file has this value.
          break;
        default:
          known = false;
      }
      if (!known) others.Add(field.raw());
    }
    return field.ok() && IsUtf8(name) && IsUtf8(opcode) ? absl::OkStatus() : Damaged();
  }
};

class Reader {
 public:
  explicit Reader(Module* module) : module_(module) {}

  absl::Status Read(absl::string_view bytes) {
    using Proto = xla::HloModuleProto;
    WirePieces others;
    int64_t entry_id = 0;
    WireFields field(bytes);
    while (field.Next()) {
      if (field.Is(Proto::kNameFieldNumber, kWireBytes)) {
        if (!IsUtf8(field.payload())) return Damaged();
        module_->set_name(std::string(field.payload()));
      } else if (field.Is(Proto::kEntryComputationIdFieldNumber, kWireVarint)) {
        entry_id = static_cast<int64_t>(field.value());
      } else if (field.Is(Proto::kComputationsFieldNumber, kWireBytes)) {
        RETURN_IF_ERROR(ReadComputation(field.payload()));
      } else if (!field.Is(Proto::kEntryComputationNameFieldNumber, kWireBytes)) {
        others.Add(field.raw());
      }
    }
    if (!field.ok() || !module_->mutable_proto()->ParseFromArray(others.bytes().data(),
                                                                 static_cast<int>(others.bytes().size()))) {
      return Damaged();
    }
    const auto entry = by_id_.find(entry_id);
    if (entry == by_id_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the entry computation id ", entry_id, " names no computation"));
    }
    module_->set_entry(entry->second);
    return absl::OkStatus();
  }

 private:
  absl::Status ErrorAt(const Computation& computation, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(computation.name(), "/", fields_.name, ": ", what));
  }

  absl::Status ReadComputation(absl::string_view bytes) {
    using Proto = xla::HloComputationProto;
    WirePieces others;
    absl::string_view name, thread;
    int64_t id = 0, root_id = 0;
    bool is_fusion = false;
    instructions_.clear();
    WireFields field(bytes);
    while (field.Next()) {
      if (field.Is(Proto::kInstructionsFieldNumber, kWireBytes)) {
        instructions_.push_back(field.payload());
      } else if (field.Is(Proto::kNameFieldNumber, kWireBytes)) {
        name = field.payload();
      } else if (field.Is(Proto::kIdFieldNumber, kWireVarint)) {
        id = static_cast<int64_t>(field.value());
      } else if (field.Is(Proto::kRootIdFieldNumber, kWireVarint)) {
        root_id = static_cast<int64_t>(field.value());
      } else if (field.Is(Proto::kIsFusionComputationFieldNumber, kWireVarint)) {
        is_fusion = field.value() != 0;
      } else if (field.Is(Proto::kExecutionThreadFieldNumber, kWireBytes)) {
        thread = field.payload();
      } else {
        others.Add(field.raw());
      }
    }
    if (!field.ok() || !IsUtf8(name) || !IsUtf8(thread)) return Damaged();
    Computation* computation = module_->AddComputation(std::string(name));
    computation->set_id(id);
    computation->set_is_fusion(is_fusion);
    computation->set_execution_thread(std::string(thread));
    ids_.Prepare(static_cast<int64_t>(instructions_.size()));
    for (const absl::string_view instruction : instructions_) {
      RETURN_IF_ERROR(fields_.Read(instruction));
      RETURN_IF_ERROR(AddInstruction(computation));
    }
    Instruction* root = ids_.Find(root_id);
    if (root == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(computation->name(), ": the root id ", root_id, " names no instruction"));
    }
    computation->set_root(root);
    RETURN_IF_ERROR(computation->CollectParameters());
    if (!by_id_.emplace(computation->id(), computation).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(computation->name(), ": the computation id ", computation->id(), " occurs twice"));
    }
    auto* proto = module_->New<Proto>();
    if (!proto->ParseFromArray(others.bytes().data(), static_cast<int>(others.bytes().size())))
      return Damaged();
    computation->set_proto(proto);
    return absl::OkStatus();
  }

  // Adds the instruction in fields_.
  absl::Status AddInstruction(Computation* computation) {
    const InstructionFields& f = fields_;
    std::optional<Opcode> opcode = OpcodeFromName(f.opcode);
    std::optional<absl::string_view> retired_comparison;
    if (!opcode) {
      retired_comparison = RetiredComparisonDirection(f.opcode);
      if (retired_comparison) {
        opcode = Opcode::kCompare;
      } else {
        fields_.others.Add(f.opcode_field);  // Unknown opcode: kept verbatim.
      }
    }

    ASSIGN_OR_RETURN(const Shape* shape, ShapeOf(*computation));
    operands_.clear();
    for (const int64_t id : f.operands) {
      Instruction* operand = ids_.Find(id);
      if (operand == nullptr) {
        return ErrorAt(*computation, absl::StrCat("operand id ", id, " names no earlier instruction"));
      }
      operands_.push_back(operand);
    }
    Instruction* instruction = computation->Add(opcode.value_or(Opcode::kUnknown), *shape, operands_);
    if (!ids_.Insert(f.id, instruction)) {
      return ErrorAt(*computation, absl::StrCat("instruction id ", f.id, " occurs twice"));
    }
    instruction->set_id(f.id);
    for (const int64_t id : f.control_predecessors) {
      Instruction* predecessor = ids_.Find(id);
      if (predecessor == nullptr || predecessor == instruction) {
        return ErrorAt(*computation,
                       absl::StrCat("control predecessor id ", id, " names no earlier instruction"));
      }
      instruction->AddControlPredecessor(predecessor);
    }
    called_.clear();
    for (const int64_t id : f.called) {
      const auto it = by_id_.find(id);
      if (it == by_id_.end()) {
        return ErrorAt(*computation, absl::StrCat("called computation id ", id, " names no earlier one"));
      }
      called_.push_back(it->second);
    }
    instruction->set_called(called_);
    instruction->set_name(std::string(f.name));

    if (f.has_sharding) instruction->set_sharding(shardings_.Get(f.sharding.bytes(), module_));
    if (f.has_metadata) instruction->set_metadata(metadata_.Get(f.metadata.bytes(), module_));
    if (f.has_frontend_attributes) {
      instruction->set_frontend_attributes(frontend_attributes_.Get(f.frontend_attributes.bytes(), module_));
    }
    const xla::HloInstructionProto* attrs = attrs_.Get(f.others.bytes(), module_);
    if (attrs == nullptr || (f.has_sharding && instruction->sharding() == nullptr) ||
        (f.has_metadata && instruction->metadata() == nullptr) ||
        (f.has_frontend_attributes && instruction->frontend_attributes() == nullptr)) {
      return Damaged();
    }
    instruction->set_attrs(attrs);
    if (retired_comparison) {
      instruction->MutableAttrs()->set_comparison_direction(std::string(*retired_comparison));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<const Shape*> ShapeOf(const Computation& computation) {
    const absl::string_view bytes = fields_.shape.bytes();
    const auto it = shapes_.find(bytes);
    if (it != shapes_.end()) return it->second.get();
    shape_proto_.Clear();
    if (!shape_proto_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Damaged();
    absl::StatusOr<Shape> shape = Shape::FromProto(shape_proto_);
    if (!shape.ok()) return ErrorAt(computation, shape.status().message());
    return shapes_.emplace(bytes, std::make_unique<Shape>(*std::move(shape))).first->second.get();
  }

  Module* module_;
  absl::flat_hash_map<int64_t, Computation*> by_id_;
  Interned<xla::OpSharding> shardings_;
  Interned<xla::OpMetadata> metadata_;
  Interned<xla::FrontendAttributes> frontend_attributes_;
  Interned<xla::HloInstructionProto> attrs_;
  absl::flat_hash_map<std::string, std::unique_ptr<Shape>> shapes_;
  // State of the computation and the instruction being read.
  IdTable ids_;
  std::vector<absl::string_view> instructions_;
  InstructionFields fields_;
  std::vector<Instruction*> operands_;
  std::vector<Computation*> called_;
  xla::ShapeProto shape_proto_;
};

}  // namespace

absl::Status ReadModuleProto(absl::string_view bytes, Module* module) { return Reader(module).Read(bytes); }

absl::StatusOr<std::unique_ptr<Module>> ReadModuleProto(absl::string_view bytes) {
  auto module = std::make_unique<Module>("");
  RETURN_IF_ERROR(ReadModuleProto(bytes, module.get()));
  return module;
}

}  // namespace toroid
