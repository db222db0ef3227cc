// The reading half of hlo_text.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/io/attribute_text.h"
#include "hlo/io/text_scanner.h"
#include "hlo/ir/module.h"

namespace toroid {

class HloTextParser {
 public:
  // Warnings go to `warnings` unless it is null.
  explicit HloTextParser(absl::string_view text, std::vector<std::string>* warnings = nullptr)
      : scanner_(text), warnings_(warnings) {}

  // Requires: called once.
  absl::StatusOr<std::unique_ptr<Module>> Parse();

 private:
  // A computation being read.
  struct Scope {
    Computation* computation = nullptr;
    absl::flat_hash_map<std::string, Instruction*> by_name;
    // Unknown operands with a shape become parameters.
    bool implicit_parameters = false;
  };
  // The part of an instruction before its operands.
  struct Head {
    std::string name;
    bool has_shape = false;
    Shape shape;
    absl::string_view opcode;
    size_t begin = 0;
  };
  static constexpr size_t kMaxWarnings = 20;

  // Shapes of a signature, which are compared with the body at the end of the computation.
  struct Signature {
    bool given = false;
    size_t begin = 0;
    std::vector<Shape> parameters;
    Shape result;
  };

  absl::Status ParseHeader();
  bool AtComputation();
  absl::Status ParseTopLevelComputation();
  absl::StatusOr<Signature> ParseSignature();
  void CheckSignature(const Signature& signature, const Computation& computation);
  // Everything between the braces, braces included.
  absl::Status ParseBody(Scope* scope);
  absl::Status ParseLooseInstructions();
  absl::Status Finish(Scope* scope);
  absl::Status FinishModule();
  void CheckEntryLayout();
  void WarnAt(size_t position, absl::string_view what);

  absl::StatusOr<Instruction*> ParseInstruction(Scope* scope);
  // Reads an instruction of a known opcode from the opening parenthesis of its operands on.
  absl::StatusOr<Instruction*> ParseKnown(const Head& head, Opcode opcode, Scope* scope);
  // Reads the number of a parameter or the value of a constant; returns the opcode. A single value for a
  // large array becomes a broadcast of a scalar operand.
  absl::StatusOr<Opcode> ParseLeaf(const Head& head, Opcode opcode, xla::HloInstructionProto* attrs,
                                   std::vector<Instruction*>* operands, Scope* scope);
  absl::StatusOr<Instruction*> ParseAsync(const Head& head, Opcode wrapped, Opcode async, Scope* scope);
  absl::Status ParseAttributes(AttributeParser* attributes, Instruction* instruction, Scope* scope);
  absl::StatusOr<bool> ParseCommonAttribute(absl::string_view key, xla::HloInstructionProto* attrs,
                                            Instruction* instruction, Scope* scope);
  absl::Status InferMissingShape(const Head& head, Instruction* instruction);

  absl::StatusOr<std::vector<Instruction*>> ParseOperands(Scope* scope);
  absl::StatusOr<Instruction*> ParseOperand(Scope* scope);
  absl::StatusOr<Instruction*> ParseNestedInstruction(const Head& head, Scope* scope);
  absl::StatusOr<Instruction*> TupleElement(Instruction* tuple, Scope* scope);
  absl::StatusOr<Computation*> ParseComputationReference();

  TextScanner scanner_;
  std::vector<std::string>* warnings_;
  std::unique_ptr<Module> module_;
  absl::flat_hash_map<std::string, Computation*> by_name_;
  std::vector<Computation*> finished_;  // Callees first.
  std::vector<Computation*> unnamed_;
  Computation* entry_ = nullptr;
};

}  // namespace toroid
