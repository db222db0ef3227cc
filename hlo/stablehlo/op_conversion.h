// What the conversion of one operation needs: its operands in HLO, its attributes, its regions as computations.
//
//   absl::Status ConvertTranspose(OpConversion& op) {
//     xla::HloInstructionProto* attrs = op.NewAttrs();
//     RETURN_IF_ERROR(op.Integers("permutation", attrs->mutable_dimensions()));
//     return op.Finish(Opcode::kTranspose, attrs);
//   }
//
// Errors of every method: kInvalidArgument "LINE:COL: stablehlo.transpose: what is wrong".
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/repeated_field.h"
#include "hlo/ir/module.h"
#include "hlo/stablehlo/mlir_tree.h"

namespace toroid {

class BodyConverter;

class OpConversion {
 public:
  using IntegerField = google::protobuf::RepeatedField<int64_t>;

  // `opcode`: what the row of the table gives.
  OpConversion(const MlirOperation& op, Opcode opcode, BodyConverter* body)
      : op_(op), opcode_(opcode), body_(*body) {}
  // Finds the operands.
  absl::Status Start();

  const MlirOperation& op() const { return op_; }
  Opcode opcode() const { return opcode_; }
  BodyConverter& body() { return body_; }
  Module* module() const;
  absl::Status Error(absl::string_view what) const;

  int num_operands() const { return static_cast<int>(operands_.size()); }
  Instruction* operand(int i) const { return operands_[i]; }
  absl::Span<Instruction* const> operands() const { return operands_; }
  absl::Status CheckOperands(int count) const;
  // The operands' sizes of an op that is defined for arrays alone.
  absl::Status CheckArrays() const;

  // ---- Attributes
  const MlirAttribute* Find(absl::string_view key) const { return op_.attributes.Find(key); }
  bool Has(absl::string_view key) const { return Find(key) != nullptr; }
  // True for `true` and for an attribute without value.
  bool Flag(absl::string_view key) const;
  absl::StatusOr<int64_t> Integer(absl::string_view key) const;
  // Of an array, a dense<..> or a single integer.
  absl::StatusOr<std::vector<int64_t>> Integers(absl::string_view key) const;
  absl::Status Integers(absl::string_view key, IntegerField* out) const;
  // The same; as many times `otherwise` as asked for if there is no such attribute.
  absl::StatusOr<std::vector<int64_t>> IntegersOr(absl::string_view key, size_t count,
                                                  int64_t otherwise) const;
  absl::StatusOr<std::vector<int64_t>> IntegersOf(const MlirAttribute& attribute,
                                                  absl::string_view key) const;
  // Rows of a dense<..> of two dimensions.
  absl::StatusOr<std::vector<std::vector<int64_t>>> Rows(absl::string_view key) const;
  // The last word of an enumeration, HIGH of #stablehlo<precision HIGH>.
  absl::StatusOr<std::string> Keyword(absl::string_view key) const;
  static std::string KeywordOf(const MlirAttribute& attribute);
  absl::StatusOr<std::string> String(absl::string_view key) const;
  // The fields of a struct such as #stablehlo.gather<..>.
  absl::StatusOr<MlirAttribute> Struct(absl::string_view key) const;
  absl::Status IntegersOfField(const MlirAttribute& fields, absl::string_view key, IntegerField* out) const;
  absl::StatusOr<int64_t> IntegerOfField(const MlirAttribute& fields, absl::string_view key,
                                         int64_t otherwise) const;

  // ---- Results
  // That of the one result, or a tuple of all.
  absl::StatusOr<Shape> ResultShape() const;
  // Adds an instruction with the metadata of the operation.
  Instruction* Add(Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands,
                   const xla::HloInstructionProto* attrs = nullptr,
                   absl::Span<Computation* const> called = {});
  // `instruction` gives the result, or all of them as a tuple. Takes over shardings and frontend attributes.
  absl::Status Finish(Instruction* instruction);
  absl::Status Finish(Opcode opcode, const xla::HloInstructionProto* attrs = nullptr,
                      absl::Span<Computation* const> called = {});
  // The same, with one value for each result.
  absl::Status FinishEach(absl::Span<Instruction* const> values);
  xla::HloInstructionProto* NewAttrs() const { return module()->New<xla::HloInstructionProto>(); }

  // ---- Regions
  // A region that takes its arguments as parameters and uses no other values than constants.
  absl::StatusOr<Computation*> Region(size_t i, absl::string_view name);

 private:
  const MlirOperation& op_;
  const Opcode opcode_;
  BodyConverter& body_;
  std::vector<Instruction*> operands_;
};

using OpConverter = absl::Status (*)(OpConversion& op);

// A row of the table of operations. For rows without a converter Finish(opcode) is all there is to do.
struct OpRow {
  absl::string_view name;
  Opcode opcode = Opcode::kUnknown;
  OpConverter convert = nullptr;
};

}  // namespace toroid
