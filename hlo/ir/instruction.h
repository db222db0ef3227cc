// One operation of a computation.
//
// Properties of every instruction (opcode, shape, operands, called computations, name, sharding, metadata)
// are members. Attributes of particular opcodes (window, dot dimension numbers, literal, ...) stay in the
// message they were read from, attrs(): nothing is translated, and unknown fields survive to the output.
// attrs() is immutable, and many instructions may share it, also those of modules derived from this one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/shape.h"
#include "hlo/opcode.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

class Computation;
class Module;

class Instruction {
 public:
  Opcode opcode() const { return opcode_; }
  // Wire name of the opcode, even if the table lacks it.
  absl::string_view opcode_name() const;
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  const Shape& shape() const { return shape_; }
  Shape& mutable_shape() { return shape_; }

  int num_operands() const { return static_cast<int>(operands_.size()); }
  Instruction* operand(int64_t i) const { return operands_[i]; }
  absl::Span<Instruction* const> operands() const { return operands_; }
  void set_operand(int64_t i, Instruction* operand) { operands_[i] = operand; }
  void set_operands(absl::Span<Instruction* const> operands) {
    operands_.assign(operands.begin(), operands.end());
  }

  // Computations this instruction refers to, in wire order: while has [body, condition], conditional its
  // branches, select-and-scatter [select, scatter].
  absl::Span<Computation* const> called() const { return called_; }
  Computation* called(int64_t i) const { return called_[i]; }
  void set_called(absl::Span<Computation* const> called) { called_.assign(called.begin(), called.end()); }

  absl::Span<Instruction* const> control_predecessors() const { return control_predecessors_; }
  void AddControlPredecessor(Instruction* instruction) { control_predecessors_.push_back(instruction); }
  void clear_control_predecessors() { control_predecessors_.clear(); }

  // "computation/name", for error messages; the opcode replaces a missing name.
  std::string Path() const;

  // Position in the computation's list. Indices are dense, so that passes keep side tables in vectors.
  int index() const { return index_; }
  Computation* computation() const { return computation_; }
  Module* module() const;

  // Attributes of particular opcodes. Fields that have a member here are empty in it.
  const xla::HloInstructionProto& attrs() const { return *attrs_; }
  void set_attrs(const xla::HloInstructionProto* attrs) { attrs_ = attrs; }
  // A copy of attrs() that belongs to this instruction alone.
  xla::HloInstructionProto* MutableAttrs();

  // Null if there is none.
  const xla::OpSharding* sharding() const { return sharding_; }
  // Sets a sharding that the module itself states.
  void set_sharding(const xla::OpSharding* sharding) {
    sharding_ = sharding;
    sharding_is_given_ = false;
  }
  // True if the sharding comes from outside of the module, for example from a command line. It then counts in
  // either dialect, whereas other ordinary shardings are ignored in a Shardy module. Files do not keep it.
  bool sharding_is_given() const { return sharding_is_given_; }
  void GiveSharding(const xla::OpSharding* sharding) {
    sharding_ = sharding;
    sharding_is_given_ = true;
  }
  // Takes over the sharding of another instruction, and whether it was given.
  void TakeSharding(const Instruction& from) {
    sharding_ = from.sharding_;
    sharding_is_given_ = from.sharding_is_given_;
  }
  // Null if there is none.
  const xla::OpMetadata* metadata() const { return metadata_; }
  void set_metadata(const xla::OpMetadata* metadata) { metadata_ = metadata; }
  // Null if there are none.
  const xla::FrontendAttributes* frontend_attributes() const { return frontend_attributes_; }
  void set_frontend_attributes(const xla::FrontendAttributes* attributes) {
    frontend_attributes_ = attributes;
  }
  // Value of a frontend attribute; null if absent.
  const std::string* FrontendAttribute(const std::string& key) const;

  // Id in the file it was read from; -1 for a new instruction, which makes writers renumber all.
  int64_t id() const { return id_; }
  void set_id(int64_t id) { id_ = id; }

  // Why a pass inserted it: index into Module::causes(); 0 for none.
  int cause() const { return cause_; }
  void set_cause(int cause) { cause_ = cause; }

  // Short cuts to common attributes.
  absl::Span<const int64_t> dimensions() const {
    return {attrs_->dimensions().data(), static_cast<size_t>(attrs_->dimensions_size())};
  }
  int64_t dimension() const { return attrs_->dimensions(0); }
  int64_t parameter_number() const { return attrs_->parameter_number(); }
  int64_t tuple_index() const { return attrs_->tuple_index(); }
  absl::string_view custom_call_target() const { return attrs_->custom_call_target(); }
  // The backend config, which is stored in place, or as a payload here or in the module.
  absl::string_view backend_config() const;

 private:
  friend class Computation;

  Opcode opcode_ = Opcode::kUnknown;
  bool sharding_is_given_ = false;
  int32_t cause_ = 0;
  int32_t index_ = -1;
  int64_t id_ = -1;
  Computation* computation_ = nullptr;
  const xla::HloInstructionProto* attrs_ = nullptr;
  const xla::OpSharding* sharding_ = nullptr;
  const xla::OpMetadata* metadata_ = nullptr;
  const xla::FrontendAttributes* frontend_attributes_ = nullptr;
  absl::InlinedVector<Instruction*, 2> operands_;
  absl::InlinedVector<Computation*, 1> called_;
  std::vector<Instruction*> control_predecessors_;
  std::string name_;
  Shape shape_;
};

// A copy of a message list as dims.
template <typename Repeated>
Dims ToDims(const Repeated& values) {
  return Dims(values.begin(), values.end());
}

}  // namespace toroid
