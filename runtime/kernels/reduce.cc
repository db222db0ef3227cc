#include "runtime/kernels/reduce.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "runtime/kernels/extreme_reduce.h"
#include "runtime/kernels/reducer.h"
#include "runtime/loops/binary_loops.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/reduce_loops.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/scalar_body.h"

namespace toroid {
namespace {

// Slices with fewer elements are folded as several runs side by side.
constexpr int64_t kWideSlice = 1024;
constexpr int64_t kLongReduction = 64;

struct ReduceCache : KernelCache {
  explicit ReduceCache(const OpCall& call) : operands(call.num_operands() / 2) {
    const Shape& shape = call.operand_shape(0);
    is_reduced.resize(shape.rank(), false);
    for (const int64_t d : call.instruction().dimensions()) is_reduced[d] = true;
    for (int d = 0; d < shape.rank(); ++d) (is_reduced[d] ? reduced : kept) *= shape.dim(d);
    type = shape.element_type();
    lines = FindLines(shape);
    if (operands == 2 && lines.has_value()) extremes = ExtremeReducerOf(*call.instruction().called(0));
    const std::optional<SimpleBody> body = ClassifyBody(*call.instruction().called(0));
    if (operands != 1 || !body.has_value()) return;
    line = FindLineReduction(body->opcode, ComputeType(type));
    loop = FindBinaryLoop(body->opcode, ComputeType(type));
  }

  // nullopt if a kept dimension lies between reduced ones.
  std::optional<ReducedLines> FindLines(const Shape& shape) const {
    ReducedLines found;
    bool begun = false, ended = false;
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) == 1) continue;
      if (is_reduced[d] && ended) return std::nullopt;
      begun |= is_reduced[d];
      ended |= begun && !is_reduced[d];
      (is_reduced[d] ? found.reduced : begun ? found.kept_inside : found.kept_outside) *= shape.dim(d);
    }
    return found;
  }

  int operands;
  PrimitiveType type;
  std::vector<bool> is_reduced;
  int64_t reduced = 1, kept = 1;  // Numbers of elements.
  std::optional<ReducedLines> lines;
  std::optional<ExtremeReducer> extremes;
  LineReduction line;
  BinaryLoop loop = nullptr;
};

absl::Status ReduceByLoop(OpCall& call, const ReduceCache& cache) {
  const Shape& shape = call.operand_shape(0);
  const bool narrow = IsNarrowFloat(cache.type), uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies(), row_elements = shape.NumElements();
  const int64_t width = narrow ? sizeof(float) : ByteWidth(cache.type);
  const char* x = call.data(0);
  MeshBuffer widened, sums;
  if (narrow) {
    RETURN_IF_ERROR(call.New(row_elements * width, call.uniform(0), &widened));
    float* out = reinterpret_cast<float*>(widened.mutable_data());
    ParallelFor(call.rows(0) * row_elements, 16 << 10, [&](int64_t begin, int64_t end) {
      NarrowToFloat(cache.type, x + begin * ByteWidth(cache.type), out + begin, end - begin);
    });
    x = widened.data();
    RETURN_IF_ERROR(call.New(cache.kept * width, uniform, &sums));
  }
  RETURN_IF_ERROR(call.NewResult(uniform));
  char* out = narrow ? sums.mutable_data() : call.result().mutable_data();
  for (int64_t row = 0; row < rows; ++row) {
    const char* init = call.data(1) + (call.uniform(1) ? 0 : row * ByteWidth(cache.type));
    float wide_init;
    if (narrow) {
      NarrowToFloat(cache.type, init, &wide_init, 1);
      init = reinterpret_cast<const char*>(&wide_init);
    }
    Fill(out + row * cache.kept * width, init, width, call.uniform(1) ? rows * cache.kept : cache.kept);
    if (call.uniform(1)) break;
  }
  ReduceNest nest;
  const bool shared = !uniform && call.uniform(0);  // One x, different inits.
  if (!shared) nest.Add(rows, true);
  for (int d = 0; d < shape.rank(); ++d) nest.Add(shape.dim(d), !cache.is_reduced[d]);
  for (int64_t row = 0; row < (shared ? rows : 1); ++row) {
    ReduceInto(nest, cache.line, cache.loop, width, x, out + row * cache.kept * width);
  }
  if (narrow) {
    FloatToNarrow(cache.type, reinterpret_cast<const float*>(out), call.result().mutable_data(),
                  rows * cache.kept);
  }
  return absl::OkStatus();
}

// n arrays laid out [rows][count][kept].
struct Slices {
  std::vector<MeshBuffer> arrays;
  std::vector<int64_t> widths;
  int64_t rows, count, kept;
};

// The slices r = first + c * step for c in [0, lines): arrays [rows][lines][kept].
absl::Status TakeSlices(OpCall& call, const Slices& slices, int64_t first, int64_t step, int64_t lines,
                        std::vector<MeshBuffer>* taken) {
  taken->resize(slices.arrays.size());
  for (size_t i = 0; i < slices.arrays.size(); ++i) {
    const int64_t width = slices.widths[i], line = slices.kept * width;
    RETURN_IF_ERROR(call.New(slices.rows * lines * line, /*uniform=*/true, &(*taken)[i]));
    (*taken)[i].set_uniform(false);
    StridedLoop loop;
    loop.width = width;
    loop.Add(slices.rows, slices.count * line, lines * line);
    loop.Add(lines, step * line, line);
    loop.Add(slices.kept, width, width);
    loop.Simplify();
    StridedCopy(loop, slices.arrays[i].data() + first * line, (*taken)[i].mutable_data());
  }
  return absl::OkStatus();
}

// Folds runs of neighbouring slices, all runs side by side, until few slices are left or they are wide.
absl::Status Shorten(OpCall& call, Slices& slices) {
  while (slices.count >= kLongReduction && slices.kept < kWideSlice) {
    const int64_t want = std::min(std::max<int64_t>(2, kWideSlice / slices.kept), slices.count / 8);
    const int64_t length = (slices.count + want - 1) / want;  // Slices per run.
    const int64_t runs = slices.count / length, left = slices.count - runs * length;
    std::vector<MeshBuffer> sums, next;
    RETURN_IF_ERROR(TakeSlices(call, slices, 0, length, runs, &sums));
    for (int64_t l = 1; l < length; ++l) {
      RETURN_IF_ERROR(TakeSlices(call, slices, l, length, runs, &next));
      RETURN_IF_ERROR(CombineSlices(call.called(0), absl::MakeSpan(sums), absl::MakeSpan(next),
                                    slices.rows * runs * slices.kept, call.mesh(), &sums));
    }
    // The sums of the runs, then the slices after the last run.
    for (size_t i = 0; i < slices.arrays.size(); ++i) {
      const int64_t line = slices.kept * slices.widths[i];
      MeshBuffer shorter;
      RETURN_IF_ERROR(call.New(slices.rows * (runs + left) * line, /*uniform=*/true, &shorter));
      for (int64_t row = 0; row < slices.rows; ++row) {
        char* out = shorter.mutable_data() + row * (runs + left) * line;
        std::memcpy(out, sums[i].data() + row * runs * line, runs * line);
        std::memcpy(out + runs * line, slices.arrays[i].data() + ((row + 1) * slices.count - left) * line,
                    left * line);
      }
      slices.arrays[i] = std::move(shorter);
    }
    slices.count = runs + left;
  }
  return absl::OkStatus();
}

// Brings operand i into the order [rows][reduced][kept].
absl::Status Arrange(OpCall& call, const ReduceCache& cache, int i, int64_t rows, Slices& slices) {
  const Shape& shape = call.operand_shape(i);
  const int64_t width = ByteWidth(shape.element_type());
  MeshBuffer array;
  RETURN_IF_ERROR(call.New(rows * shape.NumElements() * width, /*uniform=*/true, &array));
  const Dims strides = RowMajorStrides(shape.dims(), width);
  StridedLoop loop;
  loop.width = width;
  const int64_t row_bytes = shape.NumElements() * width;
  Dims target(shape.rank());
  int64_t stride = width;
  for (const bool reduced : {false, true}) {
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (cache.is_reduced[d] != reduced) continue;
      target[d] = stride;
      stride *= shape.dim(d);
    }
  }
  loop.Add(rows, call.uniform(i) ? 0 : row_bytes, row_bytes);
  for (int d = 0; d < shape.rank(); ++d) loop.Add(shape.dim(d), strides[d], target[d]);
  ParallelStridedCopy(std::move(loop), call.data(i), array.mutable_data());
  slices.arrays.push_back(std::move(array));
  slices.widths.push_back(width);
  return absl::OkStatus();
}

absl::Status ReduceBySlices(OpCall& call, const ReduceCache& cache) {
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies(), n = rows * cache.kept;
  Slices slices;
  slices.rows = rows;
  slices.count = cache.reduced;
  slices.kept = cache.kept;
  std::vector<MeshBuffer> results(cache.operands);
  for (int i = 0; i < cache.operands; ++i) {
    const int64_t width = ByteWidth(call.operand_shape(cache.operands + i).element_type());
    RETURN_IF_ERROR(call.New(cache.kept * width, uniform, &results[i]));
    results[i].set_uniform(false);
    for (int64_t row = 0; row < rows; ++row) {
      const char* init = call.data(cache.operands + i) + (call.uniform(cache.operands + i) ? 0 : row * width);
      Fill(results[i].mutable_data() + row * cache.kept * width, init, width, cache.kept);
    }
  }
  if (n > 0 && cache.reduced > 0) {
    for (int i = 0; i < cache.operands; ++i) RETURN_IF_ERROR(Arrange(call, cache, i, rows, slices));
    RETURN_IF_ERROR(Shorten(call, slices));
    std::vector<MeshBuffer> next;
    for (int64_t r = 0; r < slices.count; ++r) {
      RETURN_IF_ERROR(TakeSlices(call, slices, r, 1, 1, &next));
      RETURN_IF_ERROR(CombineSlices(call.called(0), absl::MakeSpan(results), absl::MakeSpan(next), n,
                                    call.mesh(), &results));
    }
  }
  for (MeshBuffer& result : results) RETURN_IF_ERROR(MarkRows(uniform, &result));
  if (!call.shape().IsTuple()) {
    call.result() = std::move(results[0]);
    return absl::OkStatus();
  }
  call.result() = MeshBuffer::Tuple(std::move(results));
  return absl::OkStatus();
}

}  // namespace

int64_t ReduceScratchBytes(const Instruction& reduce, absl::Span<const int64_t> rows) {
  const int arrays = reduce.num_operands() / 2;
  const std::optional<SimpleBody> body = ClassifyBody(*reduce.called(0));
  const PrimitiveType type = reduce.operand(0)->shape().element_type();
  const int64_t most_rows = *std::max_element(rows.begin(), rows.end());
  if (arrays == 1 && body.has_value() &&
      FindLineReduction(body->opcode, ComputeType(type)).along != nullptr) {
    if (!IsNarrowFloat(type)) return 0;  // Else the operand and the sums in f32.
    return SaturatingAdd(
        SaturatingMultiply(reduce.operand(0)->shape().NumElements() * sizeof(float), rows[0]),
        SaturatingMultiply(reduce.shape().NumElements() * sizeof(float), most_rows));
  }
  if (arrays == 2 && ExtremeReducerOf(*reduce.called(0)).has_value()) return 0;
  int64_t bytes = 0;  // Of the arranged operands.
  for (int i = 0; i < arrays; ++i)
    bytes = SaturatingAdd(bytes, SaturatingMultiply(reduce.operand(i)->shape().ByteSize(), most_rows));
  return bytes;
}

absl::Status ExecuteReduce(OpCall& call) {
  const ReduceCache& cache = call.Cache<ReduceCache>();
  if (cache.line.along != nullptr && !call.shape().IsTuple()) return ReduceByLoop(call, cache);
  if (cache.extremes.has_value()) {
    ASSIGN_OR_RETURN(const bool done, ReduceExtremes(call, *cache.extremes, *cache.lines));
    if (done) return absl::OkStatus();
  }
  return ReduceBySlices(call, cache);
}

}  // namespace toroid
