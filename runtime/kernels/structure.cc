#include "runtime/kernels/structure.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/literal_buffer.h"

namespace toroid {
namespace {

absl::Status NewToken(OpCall& call) {
  call.result() = MeshBuffer::Array(0, /*uniform=*/true);
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteIota(OpCall& call) {
  const Shape& shape = call.shape();
  RETURN_IF_ERROR(call.NewResult(/*uniform=*/true));
  const int64_t n = call.result_elements();
  if (n == 0) return absl::OkStatus();
  if (shape.rank() == 0) return absl::InvalidArgumentError("iota of a scalar");
  const int64_t d = call.attrs().dimensions(0);
  int64_t inner = 1;
  for (int i = d + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
  const int64_t size = shape.dim(d);
  char* out = call.result().mutable_data();
  VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* values = reinterpret_cast<T*>(out);
        // A line is `inner` elements of one value; runs of lines count upward to `size`.
        ParallelFor(n / inner, std::max<int64_t>(1, 32768 / inner), [=](int64_t begin, int64_t end) {
          for (int64_t line = begin; line < end;) {
            const int64_t first = line % size, lines = std::min(size - first, end - line);
            if (inner == 1) {
              for (int64_t i = 0; i < lines; ++i) values[line + i] = ConvertValue<T>(first + i);
            } else {
              for (int64_t i = 0; i < lines; ++i) {
                std::fill_n(values + (line + i) * inner, inner, ConvertValue<T>(first + i));
              }
            }
            line += lines;
          }
        });
        return 0;
      },
      0);
  return absl::OkStatus();
}

absl::Status ExecuteTuple(OpCall& call) {
  MeshBuffer tuple = MeshBuffer::Tuple(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) tuple.mutable_element(i) = call.TakeOperand(i);
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

absl::Status ExecuteGetTupleElement(OpCall& call) {
  const int64_t index = call.instruction().tuple_index();
  // The element may be moved out of the tuple if no other handle shares the tuple.
  MeshBuffer& tuple = call.mutable_operand(0);
  if (call.takes_element() && tuple.unique()) {
    call.result() = std::move(tuple.mutable_element(index));
  } else {
    call.result() = tuple.element(index);
  }
  return absl::OkStatus();
}

absl::Status ExecuteConstant(OpCall& call) {
  ASSIGN_OR_RETURN(const Literal literal, LiteralOf(call.instruction()));
  if (!literal.shape().Compatible(call.shape())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the literal is ", literal.shape().ToString(), ", expected ", call.shape().ToString()));
  }
  return BufferFromLiteral(literal, &call.result());
}

absl::Status ExecuteParameter(OpCall& call) {
  return absl::InternalError(
      absl::StrCat("parameter ", call.instruction().parameter_number(), " was executed"));
}

absl::Status ExecuteAfterAll(OpCall& call) { return NewToken(call); }

absl::Status ExecuteAddDependency(OpCall& call) {
  call.result() = call.TakeOperand(0);
  return absl::OkStatus();
}

absl::Status ExecuteDeviceId(OpCall& call) {
  const MeshContext& mesh = call.mesh();
  if (mesh.lifted)
    return absl::UnimplementedError(
        "device numbers in a computation that is applied to single elements, such as a reducer");
  const int64_t partitions = mesh.num_partitions;
  const bool partition = call.opcode() == Opcode::kPartitionId;
  const bool uniform = (partition ? partitions : mesh.num_replicas) == 1 || mesh.num_active == 1;
  RETURN_IF_ERROR(call.NewResult(uniform));
  uint32_t* out = reinterpret_cast<uint32_t*>(call.result().mutable_data());
  for (int64_t row = 0; row < (uniform ? 1 : mesh.copies); ++row) {
    const int64_t device = mesh.DeviceOfRow(row);
    out[row] = static_cast<uint32_t>(partition ? device % partitions : device / partitions);
  }
  return absl::OkStatus();
}

absl::Status ExecuteCopyStart(OpCall& call) {
  MeshBuffer tuple = MeshBuffer::Tuple(3);
  tuple.mutable_element(0) = call.operand(0);
  tuple.mutable_element(1) = call.operand(0);
  MeshBuffer context = MeshBuffer::Array(sizeof(uint32_t), /*uniform=*/true);
  std::memset(context.mutable_data(), 0, sizeof(uint32_t));
  tuple.mutable_element(2) = std::move(context);
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

absl::Status ExecuteCopyDone(OpCall& call) {
  call.result() = call.operand(0).element(0);
  return absl::OkStatus();
}

}  // namespace toroid
