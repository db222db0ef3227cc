// `hlo-partition --why=NAME`: why a value is cut as it is, or why it is not.
//
//   h f32[64,128] is cut [{"data"}, {"model"}] (model.py:12)
//     {"data"} in dimension 0: the module asks for it at x (model.py:3)
//       through dot.3 (model.py:9), tanh.5 (model.py:12)
//     {"model"} in dimension 1: the module asks for it at params['w']
//       through dot.3 (model.py:9), tanh.5 (model.py:12)
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// A value between the annotation and the asked value.
struct WhyHop {
  std::string name;    // The op that handed the axis on, by the author's name; "control flow".
  std::string source;  // The author's line; "" if unknown.
};

// Why one axis, or several together, cut a dimension.
struct WhyCut {
  int dim = 0;
  std::string axes;  // {"data"}
  enum class Begin { kAsked, kCheapest, kSearched } begin = Begin::kAsked;
  std::string name,
      source;  // Where it begins: the annotated value, or the op whose cheapest assignment takes the axis.
  std::vector<WhyHop> hops;  // From there to the value: at most kMostHops of those that say most.
  int left_out = 0;          // Ops on the way that are not among `hops`.
};

// Why an axis of a neighbour does not cut the value.
struct WhyNot {
  std::string axes, neighbour, through, reason, source;
};

struct WhyAnswer {
  std::string name, shape, sharding, source;
  std::vector<WhyCut> cuts;
  std::vector<WhyNot> not_cut;
  std::string
      not_obeyed;  // "asked for [{}, {"x"}]: every device makes all of it"; "" if the program follows the sharding.
};

// The ops of a way that are shown besides the annotation and the value.
inline constexpr int kMostHops = 3;

// The answers for all values that `name` means: the name of an instruction, an author's name as in --explain, parameter(K),
// output{K}, or a glob on op_name.
// Errors: kNotFound if it means none, with names that are near; kFailedPrecondition if the module was not partitioned here.
absl::StatusOr<std::vector<WhyAnswer>> Why(const Partitioned& partitioned, absl::string_view name);

// The lines above, for at most `most` answers.
std::string WhyText(const std::vector<WhyAnswer>& answers, size_t most = 5);

}  // namespace toroid
