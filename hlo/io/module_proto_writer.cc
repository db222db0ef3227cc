#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "hlo/base/unique_names.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/io/module_proto.h"
#include "hlo/ir/schedule.h"

namespace toroid {
namespace {

// Wire encoding of the field kinds that the writer emits itself.
class Wire {
 public:
  static void Varint(uint64_t value, std::string* out) {
    char buffer[10];
    out->append(buffer, PutVarint(value, buffer));
  }
  // Writes to `at`, which has room; returns the place of the next byte.
  static char* PutVarint(uint64_t value, char* at) {
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
    *at++ = static_cast<char>(value);
    return at;
  }
  static char* PutInt(int field, int64_t value, char* at) {
    return value == 0
               ? at
               : PutVarint(static_cast<uint64_t>(value), PutVarint(static_cast<uint64_t>(field) << 3, at));
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
  // Deterministic: equal messages give equal bytes, with map entries in the order of their keys.
  static void Fields(const google::protobuf::MessageLite& message, std::string* out) {
    const size_t size = message.ByteSizeLong();
    if (size == 0) return;
    google::protobuf::io::StringOutputStream stream(out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeWithCachedSizes(&coded);
  }
  static void SubMessage(int field, const google::protobuf::MessageLite& message, std::string* out) {
    Tag(field, 2, out);
    Varint(message.ByteSizeLong(), out);
    Fields(message, out);
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
    UniqueNames names;
    for (const auto& computation : module_.computations()) {
      computation_names_.push_back(
          names.Add(computation->name().empty() ? "computation" : computation->name()));
    }
    Wire::String(xla::HloModuleProto::kNameFieldNumber, module_.name(), out_);
    Wire::String(xla::HloModuleProto::kEntryComputationNameFieldNumber,
                 computation_names_[module_.entry()->index()], out_);
    Wire::Int(xla::HloModuleProto::kEntryComputationIdFieldNumber, IdOf(module_.entry()), out_);
    for (const auto& computation : module_.computations()) WriteComputation(*computation);
    if (!module_.proto().has_host_program_shape()) {
      Wire::SubMessage(xla::HloModuleProto::kHostProgramShapeFieldNumber, ProgramShapeOf(*module_.entry()),
                       out_);
    }
    if (IsScheduled(module_) && !(keep_ids_ && module_.proto().has_schedule())) {
      xla::HloModuleProto others = module_.proto();
      others.clear_schedule();
      Wire::Fields(others, out_);
      WriteSchedule();
    } else {
      Wire::Fields(module_.proto(), out_);
    }
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

  // Writes the schedule in the ids of the output. Fusion bodies have no order of their own.
  void WriteSchedule() {
    xla::HloModuleProto with_schedule;
    auto& sequences = *with_schedule.mutable_schedule()->mutable_sequences();
    for (const auto& computation : module_.computations()) {
      if (computation->is_fusion()) continue;
      auto& ids = *sequences[IdOf(computation.get())].mutable_instruction_ids();
      for (const Instruction* instruction : ExecutionOrder(*computation)) ids.Add(IdOf(instruction));
    }
    Wire::Fields(with_schedule, out_);
  }

  // Devices [begin, end) of an identity assignment, whose ids all take the same number of bytes.
  struct Alike {
    int64_t begin, end;
    std::string head;  // Bytes before the ids of each: two one-byte tags and two sizes.
    size_t ids_size;
  };

  // There are few runs: a size changes only where an id of some replica passes a power of 128.
  std::vector<Alike> DevicesAlike(int64_t replicas, int64_t partitions) {
    std::vector<Alike> runs;
    for (int64_t p = 0; p < partitions; p = runs.back().end) {
      Alike run = {p, partitions, "", 0};
      for (int64_t r = 0; r < replicas; ++r) {
        const int size = Wire::VarintSize(r * partitions + p);
        run.ids_size += size;
        if (size < 9) run.end = std::min(run.end, (int64_t{1} << 7 * size) - r * partitions);
      }
      Wire::Tag(xla::DeviceAssignmentProto::kComputationDevicesFieldNumber, 2, &run.head);
      Wire::Varint(1 + Wire::VarintSize(run.ids_size) + run.ids_size, &run.head);
      Wire::Tag(xla::DeviceAssignmentProto::ComputationDevice::kReplicaDeviceIdsFieldNumber, 2, &run.head);
      Wire::Varint(run.ids_size, &run.head);
      runs.push_back(std::move(run));
    }
    return runs;
  }

  // Writes the entries of one run. The entries of 128 devices equal those of the 128 devices before, with one
  // added to the second byte of each id, unless that byte overflows. So a vector addition replaces the
  // encoding of 128 numbers.
  void WriteEntries(const Alike& run) {
    constexpr int64_t kBlock = 128;
    constexpr size_t kVector = 64;  // Bytes of one vector addition.
    const size_t head_size = run.head.size(), entry_size = head_size + run.ids_size;
    std::array<uint8_t, 16 * kBlock> block, step{};  // An entry has at most 2 (1 + 1) + 9 bytes.
    for (int64_t i = 0; i < kBlock; ++i) step[i * entry_size + head_size + 1] = 1;
    for (int64_t p = run.begin; p < run.end; p += kBlock) {
      if (p == run.begin || p % (kBlock * kBlock) == 0) {
        char* at = reinterpret_cast<char*>(block.data());
        for (int64_t i = 0; i < kBlock; ++i)
          at = Wire::PutVarint(p + i, std::copy(run.head.begin(), run.head.end(), at));
      } else {
        for (size_t i = 0; i < entry_size * kBlock; i += kVector) {
          for (size_t k = i; k < i + kVector; ++k) block[k] += step[k];
        }
      }
      out_->append(reinterpret_cast<const char*>(block.data()), std::min(kBlock, run.end - p) * entry_size);
    }
  }

  // Writes a second occurrence of the field, which readers merge with the counts in the first. It is the only
  // part of every partitioned program that has an entry for each device.
  void WriteIdentityAssignment() {
    const int64_t replicas = module_.proto().device_assignment().replica_count();
    const int64_t partitions = module_.proto().device_assignment().computation_count();
    const std::vector<Alike> runs = DevicesAlike(replicas, partitions);
    size_t size = 0;
    for (const Alike& run : runs) size += (run.end - run.begin) * (run.head.size() + run.ids_size);
    Wire::Tag(xla::HloModuleProto::kDeviceAssignmentFieldNumber, 2, out_);
    Wire::Varint(size, out_);
    out_->reserve(out_->size() + size);
    for (const Alike& run : runs) {
      if (replicas == 1) {
        WriteEntries(run);
        continue;
      }
      for (int64_t p = run.begin; p < run.end; ++p) {
        out_->append(run.head);
        for (int64_t r = 0; r < replicas; ++r) Wire::Varint(r * partitions + p, out_);
      }
    }
  }

  void WriteComputation(const Computation& computation) {
    using Proto = xla::HloComputationProto;
    body_.clear();
    Wire::String(Proto::kNameFieldNumber, computation_names_[computation.index()], &body_);
    for (const auto& instruction : computation.instructions()) {
      WriteInstruction(*instruction);
      Wire::Bytes(Proto::kInstructionsFieldNumber, instruction_, &body_);
    }
    Wire::Int(Proto::kIdFieldNumber, IdOf(&computation), &body_);
    Wire::Int(Proto::kRootIdFieldNumber, IdOf(computation.root()), &body_);
    Wire::Int(Proto::kIsFusionComputationFieldNumber, computation.is_fusion(), &body_);
    Wire::String(Proto::kExecutionThreadFieldNumber, computation.execution_thread(), &body_);
    if (computation.proto() != nullptr && computation.proto()->has_program_shape()) {
      Wire::Fields(*computation.proto(), &body_);
    } else {
      Wire::SubMessage(Proto::kProgramShapeFieldNumber, ProgramShapeOf(computation), &body_);
      if (computation.proto() != nullptr) Wire::Fields(*computation.proto(), &body_);
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
    AppendShared(Proto::kShardingFieldNumber, instruction.sharding());
    AppendShared(Proto::kMetadataFieldNumber, instruction.metadata());
    AppendShared(Proto::kFrontendAttributesFieldNumber, instruction.frontend_attributes());
    if (instruction.attrs().has_permute_pattern()) {
      WriteWithPairs(instruction.attrs());
    } else if (&instruction.attrs() != &Proto::default_instance()) {
      AppendShared(kInline, &instruction.attrs());
    }
  }

  // Writes a permute's attributes with its pattern replaced by pairs (SpellOutPairs).
  void WriteWithPairs(const xla::HloInstructionProto& attrs) {
    xla::HloInstructionProto others = attrs;
    others.clear_permute_pattern();
    Wire::Fields(others, &instruction_);
    const size_t begin = instruction_.size();
    instruction_.resize(begin + static_cast<size_t>(NumPairs(attrs)) * kLongestPair);
    char* at = &instruction_[begin];
    ForEachPair(attrs.permute_pattern(), [&](int64_t source, int64_t target) {
      at = Wire::PutVarint(xla::HloInstructionProto::kSourceTargetPairsFieldNumber << 3 | 2, at);
      char* const size = at++;
      at = Wire::PutInt(xla::SourceTarget::kSourceFieldNumber, source, at);
      at = Wire::PutInt(xla::SourceTarget::kTargetFieldNumber, target, at);
      *size = static_cast<char>(at - size - 1);
    });
    instruction_.resize(at - instruction_.data());
  }
  static constexpr size_t kLongestPair = 2 + 1 + 2 * (1 + 10);

  static constexpr int kInline = 0;  // Instead of a field number: writes the message's fields without a tag.

  // Appends a message that instructions may share; it is encoded once. Appends nothing for null.
  template <typename Message>
  void AppendShared(int field, const Message* message) {
    if (message == nullptr) return;
    const auto [it, is_new] = encoded_.try_emplace(message);
    if (is_new) {
      std::string bytes;
      if (field == kInline) {
        Wire::Fields(*message, &bytes);
      } else {
        Wire::SubMessage(field, *message, &bytes);
      }
      if (bytes.size() > kLargest) {
        encoded_.erase(it);
        instruction_ += bytes;
        return;
      }
      it->second = std::move(bytes);
    }
    instruction_ += it->second;
  }

  void WriteShape(const Shape& shape) {
    using Proto = xla::HloInstructionProto;
    shape_.Clear();
    shape.ToProto(&shape_);
    Wire::SubMessage(Proto::kShapeFieldNumber, shape_, &instruction_);
  }

  // Readers need names that are unique in the module: a missing or repeated one gets a suffix.
  std::string UniqueName(const Instruction& instruction) {
    return names_.Add(instruction.name().empty() ? instruction.opcode_name()
                                                 : absl::string_view(instruction.name()));
  }

  static constexpr size_t kLargest = 1 << 10;  // Bytes of the largest message kept encoded.

  const Module& module_;
  std::string* out_;
  absl::flat_hash_map<const void*, std::string> encoded_;
  bool keep_ids_;
  std::string body_;
  std::string instruction_;
  xla::ShapeProto shape_;
  UniqueNames names_;  // Names of the instructions.
  std::vector<std::string> computation_names_;
};

}  // namespace

void AppendModuleProto(const Module& module, std::string* bytes) { Writer(module, bytes).Write(); }

}  // namespace toroid
