#include "runtime/collectives/fold.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "runtime/kernels/reducer.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/plan/scalar_body.h"

namespace toroid {
namespace {

constexpr int64_t kGrain = 4 << 10;

}  // namespace

Fold::Fold(OpCall& call, int i) : call_(call), type_(call.operand_shape(i).element_type()) {
  n_ = call.operand_shape(i).NumElements();
  width_ = ByteWidth(type_);
  const std::optional<SimpleBody> body = ClassifyBody(*call.instruction().called(0));
  if (body.has_value() && body->opcode != Opcode::kParameter) {
    opcode_ = body->opcode;
    loop_ = FindBinaryLoop(opcode_, ComputeType(type_));
  }
  narrow_ = loop_ != nullptr && IsNarrowFloat(type_);
}

absl::Status Fold::Add(absl::Span<const char* const> rows, int64_t begin, int64_t end, bool first,
                       char* partial) {
  if (rows.empty() || begin == end) return absl::OkStatus();
  if (loop_ == nullptr) return AddByBody(rows, begin, end, first, partial);
  ParallelFor(end - begin, kGrain, [&](int64_t from, int64_t to) {
    size_t next = 0;
    if (!narrow_) {
      char* out = partial + from * width_;
      const int64_t offset = (begin + from) * width_;
      if (first) std::memcpy(out, rows[next++] + offset, (to - from) * width_);
      for (; next < rows.size(); ++next) loop_(out, rows[next] + offset, out, to - from, Repeat::kNone);
      return;
    }
    float row[kConvertBlock];
    for (int64_t at = from; at < to; at += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, to - at);
      float* sum = reinterpret_cast<float*>(partial) + at;
      next = 0;
      if (first) NarrowToFloat(type_, rows[next++] + (begin + at) * width_, sum, count);
      for (; next < rows.size(); ++next) {
        NarrowToFloat(type_, rows[next] + (begin + at) * width_, row, count);
        loop_(sum, row, sum, count, Repeat::kNone);
      }
    }
  });
  return absl::OkStatus();
}

absl::Status Fold::AddByBody(absl::Span<const char* const> rows, int64_t begin, int64_t end, bool first,
                             char* partial) {
  const int64_t bytes = (end - begin) * width_;
  std::vector<MeshBuffer> sum(1), next(1);
  const auto load = [&](const char* data, MeshBuffer* buffer) -> absl::Status {
    RETURN_IF_ERROR(call_.New(bytes, /*uniform=*/true, buffer));
    buffer->set_uniform(false);
    std::memcpy(buffer->mutable_data(), data, bytes);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(load(first ? rows[0] + begin * width_ : partial, &sum[0]));
  for (size_t i = first ? 1 : 0; i < rows.size(); ++i) {
    RETURN_IF_ERROR(load(rows[i] + begin * width_, &next[0]));
    RETURN_IF_ERROR(CombineSlices(call_.called(0), absl::MakeSpan(sum), absl::MakeSpan(next), end - begin,
                                  call_.mesh(), &sum));
  }
  std::memcpy(partial, sum[0].data(), bytes);
  return absl::OkStatus();
}

void Fold::Round(char* partial) const {
  if (!narrow_) return;
  float block[kConvertBlock];
  for (int64_t at = 0; at < n_; at += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, n_ - at);
    std::memcpy(block, partial + at * sizeof(float), count * sizeof(float));
    FloatToNarrow(type_, block, partial + at * width_, count);
  }
}

absl::Status Fold::Total(absl::Span<const char* const> rows, int64_t elements, char* total) {
  if (!narrow_) return Add(rows, 0, elements, /*first=*/true, total);
  ParallelFor(elements, kGrain, [&](int64_t begin, int64_t end) {
    float sum[kConvertBlock], row[kConvertBlock];
    for (int64_t at = begin; at < end; at += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, end - at);
      NarrowToFloat(type_, rows[0] + at * width_, sum, count);
      for (size_t i = 1; i < rows.size(); ++i) {
        NarrowToFloat(type_, rows[i] + at * width_, row, count);
        loop_(sum, row, sum, count, Repeat::kNone);
      }
      FloatToNarrow(type_, sum, total + at * width_, count);
    }
  });
  return absl::OkStatus();
}

}  // namespace toroid
