// The attributes of each opcode in HLO text: one table from text key to proto field.
//
// The attribute bits of hlo/opcode.inc say which opcodes have a row. A new attribute is a bit there and a row
// in attribute_table.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/io/text_scanner.h"
#include "hlo/ir/module.h"

namespace toroid {

// Reads the attributes of one instruction.
class AttributeParser {
 public:
  // read_computation() reads a computation's name, or its body in braces.
  AttributeParser(Opcode opcode, TextScanner* scanner, xla::HloInstructionProto* attrs,
                  std::function<absl::StatusOr<Computation*>()> read_computation);

  // Reads the value of `key`. False, with nothing read, if the opcode has no such attribute.
  absl::StatusOr<bool> Parse(absl::string_view key);

  // Fills in the defaults of absent attributes.
  // Errors: kInvalidArgument if a required attribute is missing.
  absl::Status Finish();

  // Called computations in wire order, after Finish().
  const std::vector<Computation*>& called() const { return called_; }

  xla::HloInstructionProto* attrs() { return attrs_; }

 private:
  absl::Status SetCalled(int slot);

  Opcode opcode_;
  TextScanner* scanner_;
  xla::HloInstructionProto* attrs_;
  std::function<absl::StatusOr<Computation*>()> read_computation_;
  std::vector<Computation*> called_;
  std::vector<const void*> seen_;  // Rows of the table.
};

using ComputationName = std::function<std::string(const Computation&)>;

// Calls visit(key, value) for each attribute to print, in the order of printing.
using AttributeVisitor = absl::FunctionRef<void(absl::string_view key, const std::string& value)>;
void VisitAttributes(const Instruction& instruction, const ComputationName& name_of, AttributeVisitor visit);

// Appends ", key=value" for each attribute to print.
void AppendAttributes(const Instruction& instruction, const ComputationName& name_of, std::string* out);

}  // namespace toroid
