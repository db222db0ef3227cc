#include "runtime/kernels/binary.h"

#include <algorithm>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/stochastic_convert.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/float_loops.h"
#include "runtime/loops/int_loops.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kGrain = 16 << 10;

struct BinaryCache : KernelCache {
  explicit BinaryCache(const OpCall& call)
      : type(call.operand_shape(0).element_type()),
        width(ByteWidth(type)),
        result_width(ByteWidth(call.shape().element_type())),
        narrow(IsNarrowFloat(type)),
        loop(call.opcode() == Opcode::kStochasticConvert
                 ? FindStochasticConvertLoop(type, call.shape().element_type())
                 : FindBinaryLoop(call.opcode(), ComputeType(type))) {}
  PrimitiveType type;
  int64_t width, result_width;
  bool narrow;
  BinaryLoop loop;
};

// One contiguous piece of narrow floats, computed in float.
void NarrowPiece(PrimitiveType type, BinaryLoop loop, const char* a, const char* b, char* out, int64_t n,
                 Repeat repeat) {
  alignas(64) float x[kConvertBlock];
  alignas(64) float y[kConvertBlock];
  const int64_t width = ByteWidth(type);
  if (repeat == Repeat::kFirst) NarrowToFloat(type, a, x, 1);
  if (repeat == Repeat::kSecond) NarrowToFloat(type, b, y, 1);
  for (int64_t i = 0; i < n; i += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, n - i);
    if (repeat != Repeat::kFirst) NarrowToFloat(type, a + i * width, x, count);
    if (repeat != Repeat::kSecond) NarrowToFloat(type, b + i * width, y, count);
    float* z = repeat == Repeat::kFirst ? y : x;
    loop(x, y, z, count, repeat);
    FloatToNarrow(type, z, out + i * width, count);
  }
}

using Piece = absl::FunctionRef<void(const char* a, const char* b, char* out, int64_t n, Repeat repeat)>;

void ForEachPiece(const RowsOfTwo& of, Piece piece) {
  const auto [a, a_rows, b, b_rows, out, n, width, out_width] = of;
  const int64_t rows = std::max(a_rows, b_rows);
  Repeat repeat = Repeat::kNone;
  if (a_rows != b_rows && n == 1) repeat = a_rows < b_rows ? Repeat::kFirst : Repeat::kSecond;
  if (a_rows == b_rows || n == 1) {
    ParallelFor(rows * n, kGrain, [&](int64_t begin, int64_t end) {
      piece(repeat == Repeat::kFirst ? a : a + begin * width,
            repeat == Repeat::kSecond ? b : b + begin * width, out + begin * out_width, end - begin, repeat);
    });
    return;
  }
  const int64_t a_stride = a_rows == 1 ? 0 : n * width, b_stride = b_rows == 1 ? 0 : n * width;
  ParallelFor(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      piece(a + row * a_stride, b + row * b_stride, out + row * n * out_width, n, Repeat::kNone);
    }
  });
}

bool Or(bool a, bool b) { return a | b; }
bool And(bool a, bool b) { return a & b; }
bool Xor(bool a, bool b) { return a != b; }

BinaryLoop FindPredLoop(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kOr:
      return LoopOfTwo<bool, bool, Or>;
    case Opcode::kMultiply:
    case Opcode::kMinimum:
    case Opcode::kAnd:
      return LoopOfTwo<bool, bool, And>;
    case Opcode::kXor:
      return LoopOfTwo<bool, bool, Xor>;
    default:
      return nullptr;
  }
}

}  // namespace

BinaryLoop FindBinaryLoop(Opcode opcode, PrimitiveType type) {
  if (type == xla::PRED) return FindPredLoop(opcode);
  return IsInt(type) ? FindIntLoop(opcode, type) : FindFloatLoop(opcode, type);
}

void ForEachRow(const RowsOfTwo& rows, BinaryLoop loop) {
  ForEachPiece(rows, [&](const char* x, const char* y, char* z, int64_t count, Repeat repeat) {
    loop(x, y, z, count, repeat);
  });
}

absl::Status ExecuteBinary(OpCall& call) {
  const BinaryCache& cache = call.Cache<BinaryCache>();
  if (cache.loop == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(call.instruction().opcode_name(), " is not defined on ", TypeName(cache.type)));
  }
  // Data pointers are taken before the result reuses an operand's storage.
  RowsOfTwo rows = {call.data(0), call.rows(0),           call.data(1), call.rows(1),
                    nullptr,      call.result_elements(), cache.width,  cache.result_width};
  const bool uniform = call.AllUniform();
  if (cache.width == cache.result_width) {
    RETURN_IF_ERROR(call.ReuseOrNewResult(2, uniform));
  } else {
    RETURN_IF_ERROR(call.NewResult(uniform));
  }
  rows.out = call.result().mutable_data();
  if (uniform && rows.n == 1 && !cache.narrow) {
    cache.loop(rows.a, rows.b, rows.out, 1, Repeat::kNone);
  } else if (cache.narrow && call.opcode() != Opcode::kStochasticConvert) {
    ForEachPiece(rows, [&](const char* x, const char* y, char* z, int64_t count, Repeat repeat) {
      NarrowPiece(cache.type, cache.loop, x, y, z, count, repeat);
    });
  } else {
    ForEachRow(rows, cache.loop);
  }
  return absl::OkStatus();
}

}  // namespace toroid
