// BUILD: copts = ["-O3"]
#include "runtime/kernels/select.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/binary.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/mesh_rows.h"

namespace toroid {
namespace {

constexpr int64_t kGrain = 16 << 10;

// Elements are only moved, so any type of the same width serves.
struct Wide16 {
  uint64_t words[2];
};

// Contiguous elements, or, with stride 0, one element used for all.
template <typename T>
struct Elements {
  const T* data;
  int64_t stride;
};

template <typename T>
void Loop(Elements<bool> predicates, Elements<void> on_true, Elements<void> on_false, void* out, int64_t n) {
  const auto [pred, pred_stride] = predicates;
  const int64_t true_stride = on_true.stride, false_stride = on_false.stride;
  const T* t = static_cast<const T*>(on_true.data);
  const T* f = static_cast<const T*>(on_false.data);
  T* z = static_cast<T*>(out);
  if (pred_stride == 1 && true_stride == 1 && false_stride == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T a = t[i], b = f[i];
      z[i] = pred[i] ? a : b;
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) z[i] = pred[i * pred_stride] ? t[i * true_stride] : f[i * false_stride];
  }
}

using SelectLoop = void (*)(Elements<bool>, Elements<void>, Elements<void>, void*, int64_t);

SelectLoop LoopOfWidth(int64_t width) {
  switch (width) {
    case 1:
      return Loop<uint8_t>;
    case 2:
      return Loop<uint16_t>;
    case 4:
      return Loop<uint32_t>;
    case 8:
      return Loop<uint64_t>;
    default:
      return Loop<Wide16>;
  }
}

// A uniform scalar predicate: the result is the chosen operand.
absl::Status SelectWhole(OpCall& call, bool pred) {
  call.result() = call.TakeOperand(pred ? 1 : 2);
  return absl::OkStatus();
}

// A tuple, chosen by a predicate that differs between devices.
absl::Status SelectTuple(OpCall& call, const bool* pred) {
  MeshBuffer result = call.operand(2);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < call.copies(); ++row) {
    if (pred[row]) rows.push_back(row);
  }
  MeshBuffer chosen;
  RETURN_IF_ERROR(GatherRows(call.operand(1), call.copies(), rows, &chosen));
  RETURN_IF_ERROR(MergeRows(chosen, rows, call.copies(), &result, KeepUniform(call.mesh())));
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteSelect(OpCall& call) {
  const bool* pred = reinterpret_cast<const bool*>(call.data(0));
  const bool scalar_pred = call.operand_shape(0).rank() == 0;
  if (scalar_pred && call.uniform(0)) return SelectWhole(call, *pred);
  if (!call.shape().IsArray()) return SelectTuple(call, pred);

  const char* on_true = call.data(1);
  const char* on_false = call.data(2);
  const int64_t n = call.result_elements(), width = ByteWidth(call.shape().element_type());
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  const bool pred_uniform = call.uniform(0), true_uniform = call.uniform(1), false_uniform = call.uniform(2);
  const SelectLoop loop = LoopOfWidth(width);
  if (!call.ReuseOperand(1, uniform)) {
    if (!call.ReuseOperand(2, uniform)) RETURN_IF_ERROR(call.NewResult(uniform));
  }
  char* out = call.result().mutable_data();
  if (rows == 1 || (!pred_uniform && !true_uniform && !false_uniform && (!scalar_pred || n == 1))) {
    ParallelFor(rows * n, kGrain, [&](int64_t begin, int64_t end) {
      const int64_t pred_stride = scalar_pred && n != 1 ? 0 : 1;
      loop({pred + begin * pred_stride, pred_stride}, {on_true + begin * width, 1},
           {on_false + begin * width, 1}, out + begin * width, end - begin);
    });
  } else if (n == 1) {
    loop({pred, pred_uniform ? 0 : 1}, {on_true, true_uniform ? 0 : 1}, {on_false, false_uniform ? 0 : 1},
         out, rows);
  } else {
    const int64_t pred_row = pred_uniform ? 0 : scalar_pred ? 1 : n;
    const int64_t true_row = true_uniform ? 0 : n * width, false_row = false_uniform ? 0 : n * width;
    ParallelFor(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    loop({pred + row * pred_row, scalar_pred ? 0 : 1}, {on_true + row * true_row, 1},
                         {on_false + row * false_row, 1}, out + row * n * width, n);
                  }
                });
  }
  return absl::OkStatus();
}

absl::Status ExecuteClamp(OpCall& call) {
  const PrimitiveType type = call.shape().element_type();
  const bool narrow = IsNarrowFloat(type);
  const BinaryLoop max_loop = FindBinaryLoop(Opcode::kMaximum, ComputeType(type));
  const BinaryLoop min_loop = FindBinaryLoop(Opcode::kMinimum, ComputeType(type));
  if (max_loop == nullptr)
    return absl::UnimplementedError(absl::StrCat("clamp is not defined on ", TypeName(type)));
  const char* low = call.data(0);
  const char* x = call.data(1);
  const char* high = call.data(2);
  const int64_t n = call.result_elements(), width = ByteWidth(type);
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  const bool scalar_low = call.operand_shape(0).rank() == 0 && n != 1;
  const bool scalar_high = call.operand_shape(2).rank() == 0 && n != 1;
  const int64_t low_row = call.uniform(0) ? 0 : scalar_low ? width : n * width;
  const int64_t high_row = call.uniform(2) ? 0 : scalar_high ? width : n * width;
  const int64_t x_row = call.uniform(1) ? 0 : n * width;
  if (!call.ReuseOperand(1, uniform)) RETURN_IF_ERROR(call.NewResult(uniform));
  char* out = call.result().mutable_data();
  const Repeat repeat_low = scalar_low ? Repeat::kSecond : Repeat::kNone;
  const Repeat repeat_high = scalar_high ? Repeat::kSecond : Repeat::kNone;

  // Elements [begin, end) of one row.
  const auto piece = [&](int64_t row, int64_t begin, int64_t end) {
    const char* low_at = low + row * low_row + (scalar_low ? 0 : begin * width);
    const char* high_at = high + row * high_row + (scalar_high ? 0 : begin * width);
    const char* x_at = x + row * x_row + begin * width;
    char* out_at = out + (row * n + begin) * width;
    if (!narrow) {
      max_loop(x_at, low_at, out_at, end - begin, repeat_low);
      min_loop(out_at, high_at, out_at, end - begin, repeat_high);
      return;
    }
    float values[kConvertBlock], bounds[kConvertBlock];
    for (int64_t i = 0; i < end - begin; i += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, end - begin - i);
      NarrowToFloat(type, x_at + i * width, values, count);
      NarrowToFloat(type, scalar_low ? low_at : low_at + i * width, bounds, scalar_low ? 1 : count);
      max_loop(values, bounds, values, count, repeat_low);
      NarrowToFloat(type, scalar_high ? high_at : high_at + i * width, bounds, scalar_high ? 1 : count);
      min_loop(values, bounds, values, count, repeat_high);
      FloatToNarrow(type, values, out_at + i * width, count);
    }
  };
  if (rows == 1) {
    ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) { piece(0, begin, end); });
  } else {
    ParallelFor(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) piece(row, 0, n);
                });
  }
  return absl::OkStatus();
}

}  // namespace toroid
