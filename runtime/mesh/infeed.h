// What infeeds of a run take, in order.
#ifndef TOROID_RUNTIME_MESH_INFEED_H_
#define TOROID_RUNTIME_MESH_INFEED_H_

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
  // Value number i. Where it comes from may not name its element type: then it is read as `type`, else it is what it
  // is. Errors: kInvalidArgument if it cannot be read so.
  virtual absl::StatusOr<Literal> Value(int64_t i, PrimitiveType type) const = 0;
};

// Values that have their types.
class LiteralInfeed : public Infeed {
 public:
  explicit LiteralInfeed(std::vector<Literal> values) : values_(std::move(values)) {}
  int64_t size() const override { return static_cast<int64_t>(values_.size()); }
  absl::StatusOr<Literal> Value(int64_t i, PrimitiveType) const override { return values_[i]; }

 private:
  const std::vector<Literal> values_;
};

}  // namespace toroid

#endif  // TOROID_RUNTIME_MESH_INFEED_H_
