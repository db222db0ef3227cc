// Attributes as MLIR spells them, and those of two families of operations.
// BUILD: srcs += "contraction_attributes.cc", "collective_attributes.cc"
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/stablehlo/write/dense_text.h"

namespace toroid {

// The attributes of an operation, as they stand between <{ and }>.
using Text = absl::StatusOr<std::string>;

// array<i64: 1, 2>
template <typename Values>
std::string Array(const Values& values) {
  return absl::StrCat("array<i64", std::begin(values) == std::end(values) ? "" : ": ",
                      absl::StrJoin(values, ", "), ">");
}

template <typename Values>
std::string List(const Values& values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

inline std::string Integer(absl::string_view key, int64_t value, absl::string_view type = "i64") {
  return absl::StrCat(key, " = ", value, " : ", type);
}

inline std::string Flag(absl::string_view key, bool value) {
  return absl::StrCat(key, " = ", value ? "true" : "false");
}

// #stablehlo<comparison_direction LT>
inline std::string Keyword(absl::string_view key, absl::string_view kind, absl::string_view word) {
  return absl::StrCat(key, " = #stablehlo<", kind, " ", word, ">");
}

template <typename... Parts>
std::string Join(const Parts&... parts) {
  const std::vector<std::string> all = {parts...};
  std::vector<std::string> some;
  absl::c_copy_if(all, std::back_inserter(some), [](const std::string& part) { return !part.empty(); });
  return absl::StrJoin(some, ", ");
}

inline std::vector<int64_t> OfWindow(const WindowView& window, int64_t WindowDim::*field) {
  std::vector<int64_t> values;
  for (const WindowDim& dim : window.dimensions()) values.push_back(dim.*field);
  return values;
}

inline std::string Padding(const WindowView& window) {
  std::vector<std::vector<int64_t>> rows;
  for (const WindowDim& dim : window.dimensions()) rows.push_back({dim.padding_low, dim.padding_high});
  return absl::StrCat("padding = ", DenseRows(rows, 2));
}

Text DotText(const Instruction& op);
Text ConvolutionText(const Instruction& op);

Text AllGatherText(const Instruction& op);
Text AllReduceText(const Instruction& op);
Text AllToAllText(const Instruction& op);
Text CollectiveBroadcastText(const Instruction& op);
Text PermuteText(const Instruction& op);
Text ReduceScatterText(const Instruction& op);

}  // namespace toroid
