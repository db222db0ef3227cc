// A module of MLIR text as a tree: operations with operands, attributes and regions, whatever their dialect.
//
// The pretty form of an operation and its generic form give the same tree:
//   %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
//   %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
// Texts are views of the source, which outlives the tree.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/ir/shape.h"

namespace toroid {

struct MlirType {
  enum class Kind : uint8_t { kNone, kTensor, kScalar, kToken, kTuple, kFunction };
  Kind kind = Kind::kNone;
  // A dimension has neither size nor bound; `shape` then has 0 in its place.
  bool has_unknown_size = false;
  // Of tensors, scalars (rank 0), tokens and tuples.
  Shape shape;
  // Of functions.
  std::vector<MlirType> inputs, results;
};

struct MlirAttribute {
  enum class Kind : uint8_t {
    kUnit,
    kBool,        // integer
    kInteger,     // integer; also those of an array<i64: ..>
    kFloat,       // body: the number
    kString,      // string
    kSymbol,      // string, without @
    kType,        // type
    kArray,       // elements
    kDictionary,  // fields
    kDense,       // type; body: what stands in dense<..>
    kDialect,     // body: what stands in #dialect.name<..>, or a bare word
  };
  using Field = std::pair<absl::string_view, MlirAttribute>;

  // Null if the dictionary has no such field.
  const MlirAttribute* Find(absl::string_view key) const;
  // Adds a field, or replaces it.
  void Set(absl::string_view key, MlirAttribute value);

  Kind kind = Kind::kUnit;
  int64_t integer = 0;
  std::string string;
  absl::string_view text;  // The whole attribute as MLIR spells it.
  absl::string_view body;
  MlirType type;
  std::vector<MlirAttribute> elements;
  std::vector<Field> fields;
};

// Where an operation comes from.
struct MlirLocation {
  enum class Kind : uint8_t {
    kUnknown,
    kName,      // name, and children[0] if there is one
    kFile,      // name: the file
    kCallSite,  // children: callee, caller
    kFused,     // children
    kAlias,     // #loc7: children[0], once it is known
  };
  Kind kind = Kind::kUnknown;
  std::string name;
  int line = 0, column = 0, end_line = 0, end_column = 0;
  std::vector<const MlirLocation*> children;
};

struct MlirOperation;

struct MlirValue {
  MlirType type;
  const MlirOperation* owner = nullptr;  // Null for an argument of a region.
  int number = 0;                        // Among the results or arguments.
  const MlirLocation* location = nullptr;
};

// A region of one block.
struct MlirRegion {
  std::vector<MlirValue> arguments;
  std::vector<std::unique_ptr<MlirOperation>> operations;
};

struct MlirOperation {
  std::string name;     // "stablehlo.add"
  size_t position = 0;  // In the source.
  std::vector<const MlirValue*> operands;
  std::vector<MlirValue> results;
  MlirAttribute attributes;  // A dictionary: properties and further attributes.
  std::vector<std::unique_ptr<MlirRegion>> regions;
  const MlirLocation* location = nullptr;
};

struct MlirModule {
  // The operation builtin.module, with one region.
  std::unique_ptr<MlirOperation> operation;
  std::deque<MlirLocation> locations;
  std::deque<std::string> texts;  // Those that the source does not spell.
};

}  // namespace toroid
