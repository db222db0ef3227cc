// The values that the infeed ops of a run take, in order.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/literal.h"

namespace toroid {

class Infeed {
 public:
  virtual ~Infeed() = default;
  virtual int64_t size() const = 0;
  // Value number i. A source that does not name element types is read as `type`; any other gives the type it
  // names. Errors: kInvalidArgument if the value cannot be read as `type`.
  virtual absl::StatusOr<Literal> Value(int64_t i, PrimitiveType type) const = 0;
};

// A list of values that have their types.
class LiteralInfeed : public Infeed {
 public:
  explicit LiteralInfeed(std::vector<Literal> values) : values_(std::move(values)) {}
  int64_t size() const override { return static_cast<int64_t>(values_.size()); }
  absl::StatusOr<Literal> Value(int64_t i, PrimitiveType) const override { return values_[i]; }

 private:
  const std::vector<Literal> values_;
};

}  // namespace toroid
