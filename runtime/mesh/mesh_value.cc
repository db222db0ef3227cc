#include "runtime/mesh/mesh_value.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/mesh/literal_buffer.h"
#include "runtime/mesh/mesh_rows.h"

namespace toroid {
namespace {

bool IsUniform(const MeshBuffer& buffer) {
  if (!buffer.is_tuple()) return buffer.uniform();
  for (const MeshBuffer& element : buffer.elements()) {
    if (!IsUniform(element)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<MeshValue> MeshValue::Uniform(const Literal& literal, int64_t num_devices) {
  MeshBuffer buffer;
  RETURN_IF_ERROR(BufferFromLiteral(literal, &buffer));
  return MeshValue(literal.shape(), num_devices, std::move(buffer));
}

absl::StatusOr<MeshValue> MeshValue::PerDevice(absl::Span<const Literal> values) {
  if (values.empty()) return absl::InvalidArgumentError("a value on no devices");
  const int64_t devices = static_cast<int64_t>(values.size());
  MeshBuffer all;
  for (int64_t device = 0; device < devices; ++device) {
    if (!values[device].shape().Compatible(values[0].shape())) {
      return absl::InvalidArgumentError(absl::StrCat("device ", device, " holds ",
                                                     values[device].shape().ToString(), ", device 0 ",
                                                     values[0].shape().ToString()));
    }
    MeshBuffer one;
    RETURN_IF_ERROR(BufferFromLiteral(values[device], &one));
    RETURN_IF_ERROR(MergeRows(one, {device}, devices, &all));
  }
  return MeshValue(values[0].shape(), devices, std::move(all));
}

bool MeshValue::uniform() const { return IsUniform(buffer_); }

Literal MeshValue::ToLiteral(int64_t device) const {
  return LiteralFromBuffer(buffer_, shape_, device, num_devices_);
}

MeshValue MeshValue::element(int i) const {
  return MeshValue(shape_.tuple_shape(i), num_devices_, buffer_.element(i));
}

}  // namespace toroid
