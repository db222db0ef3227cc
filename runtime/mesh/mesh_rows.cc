#include "runtime/mesh/mesh_rows.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

absl::Status Allocate(int64_t row_bytes, int64_t rows, bool uniform, MeshBuffer* buffer) {
  *buffer = MeshBuffer::Array(row_bytes * rows, uniform);
  if (buffer->empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("out of memory (", rows, " rows of ", row_bytes, " bytes)"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status GatherRows(const MeshBuffer& buffer, int64_t copies, absl::Span<const int64_t> positions,
                        MeshBuffer* result) {
  if (buffer.is_tuple()) {
    const int size = static_cast<int>(buffer.elements().size());
    *result = MeshBuffer::Tuple(size);
    for (int i = 0; i < size; ++i) {
      RETURN_IF_ERROR(GatherRows(buffer.element(i), copies, positions, &result->mutable_element(i)));
    }
    return absl::OkStatus();
  }
  if (buffer.uniform()) {
    *result = buffer;
    return absl::OkStatus();
  }
  const int64_t row_bytes = copies == 0 ? 0 : buffer.bytes() / copies;
  RETURN_IF_ERROR(Allocate(row_bytes, positions.size(), false, result));
  for (size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(result->mutable_data() + i * row_bytes, buffer.data() + positions[i] * row_bytes, row_bytes);
  }
  if (buffer.sizes() != nullptr) {
    MeshBuffer sizes;
    RETURN_IF_ERROR(GatherRows(*buffer.sizes(), copies, positions, &sizes));
    result->set_sizes(std::move(sizes));
  }
  return absl::OkStatus();
}

absl::Status MergeRows(const MeshBuffer& source, absl::Span<const int64_t> positions, int64_t copies,
                       MeshBuffer* target, Uniformity uniformity) {
  const bool keep = uniformity == Uniformity::kKept;
  if (positions.empty() && keep) return absl::OkStatus();
  if (source.is_tuple()) {
    const int size = static_cast<int>(source.elements().size());
    if (target->empty() || !target->unique()) {
      MeshBuffer tuple = MeshBuffer::Tuple(size);
      for (int i = 0; i < size && !target->empty(); ++i) tuple.mutable_element(i) = target->element(i);
      *target = std::move(tuple);
    }
    for (int i = 0; i < size; ++i) {
      RETURN_IF_ERROR(
          MergeRows(source.element(i), positions, copies, &target->mutable_element(i), uniformity));
    }
    return absl::OkStatus();
  }
  if (positions.empty()) {
    // No row is merged on this rank; rows that other sources fill are kept.
    if (!target->empty()) return SpreadRows(copies, target);
    if (copies > 0) return absl::OkStatus();
    RETURN_IF_ERROR(Allocate(0, 0, false, target));
    if (source.sizes() != nullptr) target->set_sizes(MeshBuffer::Array(0, /*uniform=*/false));
    return absl::OkStatus();
  }
  if (keep && static_cast<int64_t>(positions.size()) == copies && source.uniform()) {
    *target = source;
    return absl::OkStatus();
  }
  const int64_t row_bytes =
      source.uniform() ? source.bytes() : source.bytes() / static_cast<int64_t>(positions.size());
  if (target->empty()) {
    RETURN_IF_ERROR(Allocate(row_bytes, copies, false, target));
    std::memset(target->mutable_data(), 0, target->bytes());
  } else if (keep && target->uniform() && source.uniform() && source.sizes() == nullptr &&
             target->sizes() == nullptr && std::memcmp(target->data(), source.data(), row_bytes) == 0) {
    return absl::OkStatus();
  } else {
    if (!target->unique()) {
      MeshBuffer copy;
      RETURN_IF_ERROR(Allocate(row_bytes, target->uniform() ? 1 : copies, target->uniform(), &copy));
      std::memcpy(copy.mutable_data(), target->data(), copy.bytes());
      if (target->sizes() != nullptr) copy.set_sizes(*target->sizes());
      *target = std::move(copy);
    }
    RETURN_IF_ERROR(SpreadRows(copies, target));
  }
  // An array with dynamic dimensions has its sizes for all rows, or for none.
  if (source.sizes() != nullptr) {
    MeshBuffer sizes;
    if (target->sizes() != nullptr) sizes = *target->sizes();
    RETURN_IF_ERROR(MergeRows(*source.sizes(), positions, copies, &sizes, uniformity));
    target->set_sizes(std::move(sizes));
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(target->mutable_data() + positions[i] * row_bytes,
                source.data() + (source.uniform() ? 0 : i * row_bytes), row_bytes);
  }
  return absl::OkStatus();
}

absl::Status SpreadRows(int64_t copies, MeshBuffer* buffer) {
  if (buffer->is_tuple()) {
    const int size = static_cast<int>(buffer->elements().size());
    MeshBuffer tuple = MeshBuffer::Tuple(size);
    for (int i = 0; i < size; ++i) {
      tuple.mutable_element(i) = buffer->element(i);
      RETURN_IF_ERROR(SpreadRows(copies, &tuple.mutable_element(i)));
    }
    *buffer = std::move(tuple);
    return absl::OkStatus();
  }
  if (!buffer->uniform()) return absl::OkStatus();
  const int64_t row_bytes = buffer->bytes();
  MeshBuffer spread;
  RETURN_IF_ERROR(Allocate(row_bytes, copies, false, &spread));
  for (int64_t row = 0; row < copies; ++row) {
    std::memcpy(spread.mutable_data() + row * row_bytes, buffer->data(), row_bytes);
  }
  if (buffer->sizes() != nullptr) spread.set_sizes(*buffer->sizes());
  *buffer = std::move(spread);
  return absl::OkStatus();
}

absl::Status MarkRows(bool uniform, MeshBuffer* buffer) {
  if (buffer->uniform() == uniform) return absl::OkStatus();
  if (!buffer->unique()) {
    MeshBuffer copy;
    RETURN_IF_ERROR(Allocate(buffer->bytes(), 1, uniform, &copy));
    std::memcpy(copy.mutable_data(), buffer->data(), buffer->bytes());
    *buffer = std::move(copy);
  }
  buffer->set_uniform(uniform);
  return absl::OkStatus();
}

}  // namespace toroid
