#include "runtime/kernels/map.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/run_plan.h"

namespace toroid {
namespace {

// Slice t of dimension d of arrays [rows, shape]: an array [rows, shape without d].
struct Slices {
  const Shape& shape;
  int64_t d;
  int64_t t;
  int64_t rows;
};

// Copies between arrays and their slices. `source_row`: bytes between rows of the source.
void CopySlices(const Slices& slices, bool into_array, const char* source, int64_t source_row, char* target) {
  const auto& [shape, d, t, rows] = slices;
  const int64_t width = ByteWidth(shape.element_type());
  int64_t outer = 1, inner = width;
  for (int i = 0; i < d; ++i) outer *= shape.dim(i);
  for (int64_t i = d + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
  const int64_t line = shape.dim(d) * inner, array_row = outer * line, slice_row = outer * inner;
  StridedLoop loop;
  loop.width = width;
  loop.Add(rows, source_row, into_array ? array_row : slice_row);
  loop.Add(outer, into_array ? inner : line, into_array ? line : inner);
  loop.Add(inner / width, width, width);
  loop.Simplify();
  StridedCopy(loop, source + (into_array ? 0 : t * inner), target + (into_array ? t * inner : 0));
}

}  // namespace

absl::Status ExecuteMap(OpCall& call) {
  const bool uniform = call.AllUniform();
  const int64_t n = call.result_elements() * (uniform ? 1 : call.copies());
  if (n == 0) return call.NewResult(uniform);
  std::vector<MeshBuffer> arguments;
  for (int i = 0; i < call.num_operands(); ++i) {
    MeshBuffer argument = call.TakeOperand(i);
    if (!uniform) RETURN_IF_ERROR(SpreadRows(call.copies(), &argument));
    RETURN_IF_ERROR(MarkRows(/*uniform=*/false, &argument));
    arguments.push_back(std::move(argument));
  }
  MeshBuffer result;
  RETURN_IF_ERROR(RunLifted(call.called(0), absl::MakeSpan(arguments), n, call.mesh(), &result));
  RETURN_IF_ERROR(SpreadRows(n, &result));
  RETURN_IF_ERROR(MarkRows(uniform, &result));
  call.result() = std::move(result);
  return absl::OkStatus();
}

absl::Status ExecuteScan(OpCall& call) {
  const int64_t num_carries = call.attrs().num_carries();
  const int num_inputs = call.num_operands() - num_carries;
  const int num_results = static_cast<int>(call.shape().tuple_shapes().size());
  const int num_outputs = num_results - num_carries;
  if (num_carries < 0 || num_inputs < 1 || num_outputs < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(num_carries, " carries among ", call.num_operands(), " operands"));
  }
  const int64_t d = call.instruction().dimension();
  const int64_t steps = call.operand_shape(0).dim(d);
  const int64_t rows = call.copies();
  MeshBuffer result = MeshBuffer::Tuple(num_results);
  for (int i = 0; i < num_outputs; ++i) {
    RETURN_IF_ERROR(
        call.New(call.shape().tuple_shape(i).ByteSize(), /*uniform=*/false, &result.mutable_element(i)));
  }
  std::vector<MeshBuffer> carries;
  for (int i = 0; i < num_carries; ++i) carries.push_back(call.TakeOperand(num_inputs + i));
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t t = call.attrs().is_reverse() ? steps - 1 - step : step;
    std::vector<MeshBuffer> arguments(num_inputs);
    for (int i = 0; i < num_inputs; ++i) {
      const Shape& shape = call.operand_shape(i);
      RETURN_IF_ERROR(call.New(shape.ByteSize() / shape.dim(d), call.uniform(i), &arguments[i]));
      CopySlices({shape, d, t, call.rows(i)}, /*into_array=*/false, call.data(i), shape.ByteSize(),
                 arguments[i].mutable_data());
    }
    for (MeshBuffer& carry : carries) arguments.push_back(std::move(carry));
    MeshBuffer values;
    RETURN_IF_ERROR(RunPlan(call.called(0), absl::MakeSpan(arguments), call.mesh(), &values));
    for (int i = 0; i < num_results; ++i) {
      MeshBuffer value = values.is_tuple() ? values.element(i) : values;
      if (i >= num_outputs) {
        carries[i - num_outputs] = std::move(value);
        continue;
      }
      const Shape& shape = call.shape().tuple_shape(i);
      CopySlices({shape, d, t, rows}, /*into_array=*/true, value.data(),
                 value.uniform() ? 0 : shape.ByteSize() / shape.dim(d),
                 result.mutable_element(i).mutable_data());
    }
  }
  for (int i = 0; i < num_carries; ++i) result.mutable_element(num_outputs + i) = std::move(carries[i]);
  call.result() = std::move(result);
  return absl::OkStatus();
}

}  // namespace toroid
