// A value on a mesh: its per-device shape and its storage.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "runtime/mesh/mesh_buffer.h"

namespace toroid {

// Cheap to copy: storage is shared. Belongs to one thread at a time.
class MeshValue {
 public:
  MeshValue() = default;
  // `buffer` holds an array, or a tuple of them, of shape `shape` on each of `num_devices` devices.
  MeshValue(Shape shape, int64_t num_devices, MeshBuffer buffer)
      : shape_(std::move(shape)), num_devices_(num_devices), buffer_(std::move(buffer)) {}

  // The same value on every device, stored once.
  // Errors: kResourceExhausted.
  static absl::StatusOr<MeshValue> Uniform(const Literal& literal, int64_t num_devices);
  // One value per device, all of one shape.
  // Errors: kInvalidArgument for different shapes or no device, kResourceExhausted.
  static absl::StatusOr<MeshValue> PerDevice(absl::Span<const Literal> values);

  // The value on one device.
  const Shape& shape() const { return shape_; }
  int64_t num_devices() const { return num_devices_; }
  // Every array of the value is uniform: stored once for all devices.
  bool uniform() const;
  const MeshBuffer& buffer() const { return buffer_; }
  MeshBuffer& mutable_buffer() { return buffer_; }

  // The value on one device, as a mesh value.
  Literal ToLiteral(int64_t device) const;
  // Element i of a tuple.
  MeshValue element(int i) const;

 private:
  Shape shape_;
  int64_t num_devices_ = 1;
  MeshBuffer buffer_;
};

}  // namespace toroid
