// Names as the rows of --explain show them, which can mean several values.
//
//   sharding_constraint.2..5       sharding_constraint.2, .3, .4 and .5
//   sub.* for output{*}            globs, of the op and of the output it is for
//   dot.8 of params['w']           the op, and the parameter that it needs whole
//   model.py:25                    what this line makes
//   params['la…['w']               a name that was too long for its column
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace toroid {

class ShownName {
 public:
  explicit ShownName(absl::string_view shown);

  // Whether the name means one value: it has no wildcards, no range and nothing that was cut.
  bool IsPlain() const;
  // Whether a value of this name is meant.
  bool Means(absl::string_view name) const;
  // Whether the row is of all that a line makes, and the line is this one: "FILE:LINE", or the end of FILE.
  bool MeansLine(absl::string_view source) const;

 private:
  std::string glob_;  // With * in the place of a range.
  bool has_wildcard_ = false;
  // The range, and the texts around it.
  std::optional<std::pair<int64_t, int64_t>> range_;
  std::string before_, after_;
};

}  // namespace toroid
