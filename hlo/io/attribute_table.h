// The table of instruction attributes in HLO text: the proto field of each key.
//
// The attribute bits of hlo/opcode.inc say which opcodes have a row. A new attribute is a bit there and a row
// in attribute_table.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/io/text_scanner.h"
#include "hlo/ir/module.h"

namespace toroid {

// The spelling of a value. All forms except kCallee, kCallees, kSpecial and kIgnored are stored in the field
// at `path`.
enum class AttributeForm {
  kInt,
  kBool,
  kFloat,
  kIntList,    // {1,2}; a single value also as 1
  kBoolList,   // {true,false}
  kOneInt,     // 1, stored as a list of one
  kWord,       // string field, no quotes
  kQuoted,     // string or bytes field, in quotes
  kEnum,       // name of the enumerator
  kLowerEnum,  // the same in lower case
  kCallee,     // a computation: number `slot` of the callees
  kCallees,    // {a, b}
  kSpecial,    // parse() and print()
  kIgnored,    // read and dropped
};

enum class AttributeShown {
  kAlways,
  kIfSet,  // If it differs from the default of its field.
  kNever,
};

struct AttributeRow {
  absl::string_view key;
  uint64_t attributes;
  AttributeForm form;
  AttributeShown shown = AttributeShown::kIfSet;
  bool required = false;
  absl::string_view path = "";
  int slot = 0;
  absl::Status (*parse)(TextScanner*, xla::HloInstructionProto*) = nullptr;
  // Text of the value; nullopt if there is nothing to print.
  std::optional<std::string> (*print)(const Instruction&) = nullptr;
};

// All rows, in the order of printing.
absl::Span<const AttributeRow> AttributeTable();

// The attribute bits of a row that every opcode carries.
inline constexpr uint64_t kAnyOpcode = ~uint64_t{0};

}  // namespace toroid
