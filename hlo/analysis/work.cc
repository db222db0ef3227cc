#include "hlo/analysis/work.h"

#include <algorithm>
#include <cmath>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/module.h"

namespace toroid {
namespace {

int64_t Product(int64_t a, int64_t b, int64_t c = 1) {
  return SaturatingMultiply(SaturatingMultiply(a, b), c);
}

int64_t DimOr(const Shape& shape, int64_t d, int64_t otherwise) {
  return d >= 0 && d < shape.rank() ? shape.dim(d) : otherwise;
}

int64_t DotFlops(const Instruction& dot) {
  if (dot.num_operands() < 1) return 0;
  const Shape& lhs = dot.operand(0)->shape();
  int64_t flops = SaturatingMultiply(2, dot.shape().NumElements());
  for (const int64_t d : DotView(dot).lhs_contracting()) {
    flops = SaturatingMultiply(flops, DimOr(lhs, d, 0));
  }
  return flops;
}

int64_t RaggedDotFlops(const Instruction& dot) {
  if (dot.num_operands() < 2) return 0;
  const xla::RaggedDotDimensionNumbers& ragged = dot.attrs().ragged_dot_dimension_numbers();
  const DotView numbers(ragged.dot_dimension_numbers());
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  // Free dimensions of the right operand, without its groups.
  int64_t columns = 1;
  for (int d = 0; d < rhs.rank(); ++d) {
    const auto among = [d](const auto& list) { return std::find(list.begin(), list.end(), d) != list.end(); };
    if (!among(numbers.rhs_contracting()) && !among(numbers.rhs_batch()) &&
        !among(ragged.rhs_group_dimensions())) {
      columns = SaturatingMultiply(columns, rhs.dim(d));
    }
  }
  return Product(2, lhs.NumElements(), columns);
}

int64_t ConvolutionFlops(const Instruction& convolution) {
  if (convolution.num_operands() < 2) return 0;
  const Shape& kernel = convolution.operand(1)->shape();
  const int64_t features = DimOr(kernel, ConvolutionView(convolution).kernel_output_feature(), 0);
  if (features <= 0) return 0;
  return Product(2, convolution.shape().NumElements(), kernel.NumElements() / features);
}

// n x n matrices in the last two dimensions of operand 0.
int64_t CholeskyFlops(const Instruction& cholesky) {
  const Shape& a = cholesky.shape();
  if (a.rank() < 2) return 0;
  return Product(a.NumElements(), a.dim(a.rank() - 1)) / 3;
}
int64_t TriangularSolveFlops(const Instruction& solve) {
  if (solve.num_operands() < 2 || solve.operand(0)->shape().rank() < 1) return 0;
  const Shape& a = solve.operand(0)->shape();
  return Product(solve.shape().NumElements(), a.dim(a.rank() - 1));
}

int64_t ElementsOf(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? shape.NumElements() : 0;
  return shape.tuple_shapes().empty() ? 0 : ElementsOf(shape.tuple_shape(0));
}

// Adds the arithmetic of `times` result elements of an elementwise op.
void AddElementwise(const Instruction& instruction, int64_t times, Work* work) {
  const Opcode opcode = instruction.opcode();
  if (!IsElementwise(opcode) || HasTrait(opcode, kNoStorage) || HasTrait(opcode, kDataMovement)) return;
  const int64_t count = SaturatingMultiply(ElementsOf(instruction.shape()), times);
  int64_t& counter = HasTrait(opcode, kTranscendental) ? work->transcendentals : work->vector_flops;
  counter = SaturatingAdd(counter, count);
}

// Adds the arithmetic of a computation over scalars, applied `times` times.
void AddApplied(const Computation& computation, int64_t times, Work* work) {
  for (const auto& inner : computation.instructions()) AddElementwise(*inner, times, work);
}

int64_t WindowElements(const Instruction& instruction) {
  int64_t elements = 1;
  const WindowView window(instruction);
  for (int i = 0; i < window.rank(); ++i) {
    elements = SaturatingMultiply(elements, std::max<int64_t>(window[i].size, 0));
  }
  return elements;
}

// How often the op applies its first computation to elements. (The second one of select-and-scatter is
// applied once for each element of the source.)
int64_t Applications(const Instruction& instruction) {
  const auto operand = [&](int i) {
    return i < instruction.num_operands() ? ElementsOf(instruction.operand(i)->shape()) : 0;
  };
  switch (instruction.opcode()) {
    case Opcode::kReduce:
    case Opcode::kScan:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kReduceScatter:
      return operand(0);
    case Opcode::kMap:
      return ElementsOf(instruction.shape());
    case Opcode::kReduceWindow:
      return SaturatingMultiply(ElementsOf(instruction.shape()), WindowElements(instruction));
    case Opcode::kSelectAndScatter:
      return SaturatingMultiply(operand(1), WindowElements(instruction));
    case Opcode::kScatter:
      return operand(instruction.num_operands() - 1);
    case Opcode::kSort: {
      const auto dims = instruction.dimensions();
      if (dims.empty() || instruction.num_operands() == 0) return 0;
      const int64_t n = DimOr(instruction.operand(0)->shape(), dims[0], 1);
      const int64_t levels = n > 1 ? static_cast<int64_t>(std::ceil(std::log2(static_cast<double>(n)))) : 0;
      return SaturatingMultiply(operand(0), levels);
    }
    default:
      return 0;
  }
}

int64_t OperandBytes(const Instruction& instruction, int first = 0) {
  int64_t bytes = 0;
  for (int i = first; i < instruction.num_operands(); ++i) {
    bytes = SaturatingAdd(bytes, ArrayBytes(instruction.operand(i)->shape()));
  }
  return bytes;
}

// Bytes that a fused computation reads of a parameter.
int64_t BytesReadOf(const Instruction& parameter, const UserMap& users) {
  int64_t picked = 0;
  for (const Instruction* user : users.users(parameter)) {
    const bool picks = (user->opcode() == Opcode::kGather || user->opcode() == Opcode::kDynamicSlice) &&
                       user->operand(0) == &parameter;
    const bool updates = user->opcode() == Opcode::kDynamicUpdateSlice && user->operand(0) == &parameter;
    if (!picks && !updates) return ArrayBytes(parameter.shape());
    if (picks) picked = SaturatingAdd(picked, ArrayBytes(user->shape()));
  }
  return std::min(picked, ArrayBytes(parameter.shape()));
}
int64_t BytesWrittenFor(const Instruction& result) {
  if (result.opcode() == Opcode::kTuple) {
    int64_t bytes = 0;
    for (const Instruction* element : result.operands())
      bytes = SaturatingAdd(bytes, BytesWrittenFor(*element));
    return bytes;
  }
  const bool updates = result.opcode() == Opcode::kDynamicUpdateSlice && result.num_operands() > 1;
  return ArrayBytes(updates ? result.operand(1)->shape() : result.shape());
}

void AddFusion(const Instruction& fusion, Work* work) {
  if (fusion.called().empty() || fusion.called(0)->root() == nullptr) return;
  const Computation& inside = *fusion.called(0);
  const UserMap users(inside);
  for (const auto& inner : inside.instructions()) {
    const Work own = WorkOf(*inner);
    work->matrix_flops = SaturatingAdd(work->matrix_flops, own.matrix_flops);
    work->vector_flops = SaturatingAdd(work->vector_flops, own.vector_flops);
    work->transcendentals = SaturatingAdd(work->transcendentals, own.transcendentals);
    work->rows = SaturatingAdd(work->rows, own.rows);
    if (inner->opcode() == Opcode::kParameter) {
      work->bytes_read = SaturatingAdd(work->bytes_read, BytesReadOf(*inner, users));
    }
  }
  work->bytes_written = BytesWrittenFor(*inside.root());
}

void AddBytesAndRows(const Instruction& instruction, Work* work) {
  const int64_t result = ArrayBytes(instruction.shape());
  work->bytes_read = OperandBytes(instruction);
  work->bytes_written = result;
  const int n = instruction.num_operands();
  if (n == 0) return;
  switch (instruction.opcode()) {
    case Opcode::kDynamicSlice:
      work->bytes_read = SaturatingAdd(result, OperandBytes(instruction, 1));
      work->rows = 1;
      return;
    case Opcode::kGather: {
      work->bytes_read = SaturatingAdd(result, OperandBytes(instruction, 1));
      int64_t slice = 1;
      for (const int64_t size : GatherView(instruction).slice_sizes()) {
        slice = SaturatingMultiply(slice, std::max<int64_t>(size, 0));
      }
      work->rows = slice == 0 ? 0 : ElementsOf(instruction.shape()) / slice;
      return;
    }
    case Opcode::kDynamicUpdateSlice:
      work->bytes_read = OperandBytes(instruction, 1);
      work->bytes_written = n > 1 ? ArrayBytes(instruction.operand(1)->shape()) : 0;
      work->rows = 1;
      return;
    case Opcode::kScatter: {
      // Updates are combined with the rows they go to, so those rows are read and written.
      const int arrays = n / 2;
      int64_t updates = 0;
      for (int i = arrays + 1; i < n; ++i) {
        updates = SaturatingAdd(updates, ArrayBytes(instruction.operand(i)->shape()));
      }
      work->bytes_read =
          SaturatingAdd(SaturatingMultiply(2, updates), ArrayBytes(instruction.operand(arrays)->shape()));
      work->bytes_written = updates;
      const Shape& update = instruction.operand(n - 1)->shape();
      int64_t window = 1;
      for (const int64_t d : ScatterView(instruction).update_window_dims()) {
        window = SaturatingMultiply(window, DimOr(update, d, 1));
      }
      work->rows = window == 0 ? 0 : ElementsOf(update) / window;
      return;
    }
    default:
      return;
  }
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  matrix_flops = SaturatingAdd(matrix_flops, other.matrix_flops);
  vector_flops = SaturatingAdd(vector_flops, other.vector_flops);
  transcendentals = SaturatingAdd(transcendentals, other.transcendentals);
  bytes_read = SaturatingAdd(bytes_read, other.bytes_read);
  bytes_written = SaturatingAdd(bytes_written, other.bytes_written);
  rows = SaturatingAdd(rows, other.rows);
  return *this;
}

bool IsMatrixOp(Opcode opcode) {
  return opcode == Opcode::kDot || opcode == Opcode::kConvolution || opcode == Opcode::kScaledDot ||
         opcode == Opcode::kRaggedDot;
}

int64_t MatrixFlops(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kDot:
    case Opcode::kScaledDot:
      return DotFlops(instruction);
    case Opcode::kRaggedDot:
      return RaggedDotFlops(instruction);
    case Opcode::kConvolution:
      return ConvolutionFlops(instruction);
    case Opcode::kCholesky:
      return CholeskyFlops(instruction);
    case Opcode::kTriangularSolve:
      return TriangularSolveFlops(instruction);
    default:
      return 0;
  }
}

Work WorkOf(const Instruction& instruction) {
  Work work;
  if (HasTrait(instruction.opcode(), kRunsBody) || HasTrait(instruction.opcode(), kNoStorage) ||
      instruction.opcode() == Opcode::kConstant) {
    return work;
  }
  if (instruction.opcode() == Opcode::kFusion) {
    AddFusion(instruction, &work);
    return work;
  }
  work.matrix_flops = MatrixFlops(instruction);
  AddElementwise(instruction, 1, &work);
  if (!instruction.called().empty()) {
    AddApplied(*instruction.called(0), Applications(instruction), &work);
    if (instruction.opcode() == Opcode::kSelectAndScatter && instruction.called().size() == 2 &&
        instruction.num_operands() > 1) {
      AddApplied(*instruction.called(1), ElementsOf(instruction.operand(1)->shape()), &work);
    }
  }
  AddBytesAndRows(instruction, &work);
  return work;
}

int64_t ArrayBytes(const Shape& shape) {
  if (!shape.IsTuple()) return shape.ByteSize();
  int64_t bytes = 0;
  for (const Shape& element : shape.tuple_shapes()) bytes = SaturatingAdd(bytes, ArrayBytes(element));
  return bytes;
}

}  // namespace toroid
