// Converts regions of MLIR to computations of HLO.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/base/unique_names.h"
#include "hlo/ir/module.h"
#include "hlo/stablehlo/mlir_tree.h"
#include "hlo/stablehlo/op_conversion.h"
#include "hlo/stablehlo/op_metadata.h"

namespace toroid {

// What the bodies of one module share.
struct ConversionState {
  ConversionState(absl::string_view source, Module* hlo) : text(source), module(hlo), metadata(hlo) {}

  absl::Status ErrorAt(const MlirOperation& op, absl::string_view what) const;
  // A name made of `base`: base.1, base.2, ...
  std::string Name(absl::string_view base);
  Computation* AddComputation(absl::string_view name);
  // The attributes of an instruction from those of an operation or an argument: shardings and frontend
  // attributes. `is_value`: Shardy's sharding is that of one value, not of the results of an operation.
  absl::Status Annotate(const MlirAttribute& attributes, Instruction* instruction) const;

  absl::string_view text;
  Module* module;
  OpMetadataTable metadata;
  // Functions that have been converted, by name.
  absl::flat_hash_map<std::string, Computation*> functions;
  absl::flat_hash_map<std::string, int> used_names;
  UniqueNames names;
};

class BodyConverter {
 public:
  BodyConverter(ConversionState* state, Computation* computation)
      : state_(*state), computation_(computation) {}

  ConversionState& state() { return state_; }
  Computation* computation() const { return computation_; }

  // Converts the operations. Returns the values that the last one hands on, a return of any dialect.
  absl::StatusOr<std::vector<Instruction*>> Convert(const MlirRegion& region);

  absl::StatusOr<Instruction*> ValueOf(const MlirOperation& user, const MlirValue& value);
  void Bind(const MlirValue* value, Instruction* instruction) { values_[value] = instruction; }
  // The results are elements of the tuple.
  void BindTuple(const MlirOperation* op, Instruction* tuple) { tuples_[op] = tuple; }
  // True if a value is known here.
  bool Knows(const MlirValue& value) const;

  Instruction* Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                   const MlirLocation* location);
  // Adds a parameter for the value, or for each of the values of a tuple.
  void AddParameter(const MlirValue& value);
  void AddTupleParameter(absl::Span<const MlirValue* const> values);
  // The root: the one value, or a tuple of all.
  void SetRoot(absl::Span<Instruction* const> values);

 private:
  absl::Status ConvertOperation(const MlirOperation& op);

  ConversionState& state_;
  Computation* computation_;
  absl::flat_hash_map<const MlirValue*, Instruction*> values_;
  absl::flat_hash_map<const MlirOperation*, Instruction*> tuples_;
};

// The values from outside that operations of the region use, each once, in order of use.
std::vector<const MlirValue*> CapturedValues(const MlirRegion& region);

// The shape of a value; an error for types that HLO has no values of.
absl::StatusOr<Shape> ShapeOf(const ConversionState& state, const MlirOperation& op, const MlirType& type);

// The converter of an operation; null if there is none.
const OpRow* FindOpRow(absl::string_view name);

}  // namespace toroid
