// Attributes of custom calls, transfers and modules, and what every operation may carry.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "hlo/stablehlo/write/op_attributes.h"

namespace toroid {

// The name of a function or module: bare, or in quotes.
std::string SymbolText(absl::string_view name);

// mhlo.num_partitions = 8 : i32, ...
std::string ModuleAttributes(const Module& module);

// The sharding and the frontend attributes. `leaf`: of one value of a tuple; -1: of all.
std::string Annotations(const Instruction& instruction, int64_t leaf = -1);

// `called`: the functions that it calls, as @name.
std::string CustomCallAttributes(const Instruction& call, absl::Span<const std::string> called);

// infeed, outfeed, send, recv.
absl::StatusOr<StableHloOp> TransferOf(const Instruction& transfer);

}  // namespace toroid
