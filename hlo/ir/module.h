// Computations and modules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/arena.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/shape.h"

namespace toroid {

// A list of instructions with one root; operands are before their users.
class Computation {
 public:
  Computation(Module* module, std::string name) : module_(module), name_(std::move(name)) {}
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  Module* module() const { return module_; }
  int64_t id() const { return id_; }
  void set_id(int64_t id) { id_ = id; }
  // Position in the module's list.
  int index() const { return index_; }

  int size() const { return static_cast<int>(instructions_.size()); }
  Instruction* instruction(int64_t i) const { return instructions_[i].get(); }
  // In order; elements are std::unique_ptr<Instruction>.
  const std::vector<std::unique_ptr<Instruction>>& instructions() const { return instructions_; }

  Instruction* root() const { return root_; }
  void set_root(Instruction* root) { root_ = root; }
  // By parameter number.
  absl::Span<Instruction* const> parameters() const { return parameters_; }
  Instruction* parameter(int64_t i) const { return parameters_[i]; }
  int num_parameters() const { return static_cast<int>(parameters_.size()); }

  // Appends an instruction without attributes. An empty name is made up when the module is written.
  Instruction* Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands = {},
                   std::string name = "");
  // Appends an instruction with fresh attributes in *attrs for the caller to fill.
  Instruction* Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                   xla::HloInstructionProto** attrs, std::string name = "");
  // Appends a parameter with the next free number.
  Instruction* AddParameter(const Shape& shape, std::string name = "");
  // Appends a constant.
  Instruction* AddConstant(const Literal& value, std::string name = "");
  // Appends a copy of `instruction` (of this or another module sharing its arenas) over other operands: same
  // opcode, attributes, metadata and frontend attributes; no sharding, no control predecessors.
  Instruction* AddClone(const Instruction& instruction, const Shape& shape,
                        absl::Span<Instruction* const> operands);

  // Drops instructions for which keep[index] is false. Requires: no kept instruction uses them.
  void Keep(const std::vector<bool>& keep);
  // Puts the instructions in `order`, a permutation in which operands are before their users.
  void Reorder(absl::Span<Instruction* const> order);
  // Fills parameters() after parameter instructions were added by hand.
  // Errors: kInvalidArgument if numbers are not 0..n-1, each once.
  absl::Status CollectParameters();

  bool is_fusion() const { return is_fusion_; }
  void set_is_fusion(bool value) { is_fusion_ = value; }
  const std::string& execution_thread() const { return execution_thread_; }
  void set_execution_thread(std::string thread) { execution_thread_ = std::move(thread); }

  // Fields of the message it was read from that have no member here (parameter names of the program shape,
  // unknown fields); null for a new computation.
  const xla::HloComputationProto* proto() const { return proto_; }
  void set_proto(const xla::HloComputationProto* proto) { proto_ = proto; }

 private:
  friend class Module;

  Module* module_;
  std::string name_;
  int64_t id_ = -1;  // See Instruction::id().
  int index_ = -1;
  Instruction* root_ = nullptr;
  bool is_fusion_ = false;
  std::string execution_thread_;
  const xla::HloComputationProto* proto_ = nullptr;
  std::vector<std::unique_ptr<Instruction>> instructions_;
  std::vector<Instruction*> parameters_;
};

// Settings that HLO text keeps in its header and protos in a separate configuration.
struct ModuleConfig {
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  bool is_scheduled = false;
  bool alias_passthrough_params = false;
  // Device r * partitions + p runs partition p of replica r. The device assignment in proto() then holds only
  // the counts, so that no list grows with the number of devices; writers spell the list out.
  bool identity_device_assignment = false;
  std::vector<bool> allow_spmd_sharding_propagation_to_parameters;
  std::vector<bool> allow_spmd_sharding_propagation_to_output;
};

class Module {
 public:
  explicit Module(std::string name);
  // A module whose instructions may share attributes with those of `source`.
  Module(std::string name, const Module& source);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // Callees are before their callers.
  const std::vector<std::unique_ptr<Computation>>& computations() const { return computations_; }
  Computation* computation(int64_t i) const { return computations_[i].get(); }
  int num_computations() const { return static_cast<int>(computations_.size()); }
  Computation* AddComputation(std::string name);
  // Puts the computations in `order`, a permutation in which callees are before their callers.
  void ReorderComputations(absl::Span<Computation* const> order);
  // Drops computations that are not reachable from the entry, and sorts the others, callees first.
  void RemoveUnreachableComputations();

  Computation* entry() const { return entry_; }
  void set_entry(Computation* entry) { entry_ = entry; }

  ModuleConfig& config() { return config_; }
  const ModuleConfig& config() const { return config_; }

  // Module-level fields that have no member here: entry layout (host_program_shape), schedule, aliasing,
  // stack frames, spmd_* shardings, device assignment, frontend attributes, unknown fields. `computations`,
  // `name` and the entry references are empty in it.
  const xla::HloModuleProto& proto() const { return *proto_; }
  xla::HloModuleProto* mutable_proto() { return proto_; }

  // Number of instructions over all computations.
  int64_t NumInstructions() const;

  // Messages that live as long as this module and every module derived from it.
  google::protobuf::Arena* arena() { return arenas_.back().get(); }
  template <typename Message>
  Message* New() {
    return google::protobuf::Arena::CreateMessage<Message>(arena());
  }
  template <typename Message>
  Message* New(const Message& value) {
    Message* message = New<Message>();
    *message = value;
    return message;
  }

  // Why passes inserted instructions; entry 0 is empty.
  const std::vector<std::string>& causes() const { return causes_; }
  int AddCause(std::string text);

 private:
  std::string name_;
  std::vector<std::shared_ptr<google::protobuf::Arena>> arenas_;
  std::vector<std::unique_ptr<Computation>> computations_;
  Computation* entry_ = nullptr;
  ModuleConfig config_;
  xla::HloModuleProto* proto_;
  std::vector<std::string> causes_ = {""};
};

// Users of each instruction of one computation, by index; an instruction that uses a value twice is listed
// twice.
class UserMap {
 public:
  explicit UserMap(const Computation& computation);
  absl::Span<Instruction* const> users(const Instruction& instruction) const {
    const int i = instruction.index();
    return absl::MakeConstSpan(users_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }

 private:
  std::vector<int> begin_;
  std::vector<Instruction*> users_;
};

}  // namespace toroid
