#include "runtime/kernels/approximate_topk.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/custom_config.h"
#include "runtime/kernels/one_op.h"
#include "runtime/kernels/sort.h"
#include "runtime/loops/strided_copy.h"

namespace toroid {
namespace {

// A stable sort of the arrays along the dimension, as an instruction of its own.
struct SortOp : OneOp {
  explicit SortOp(const OpCall& call) {
    const int m = call.num_operands() / 2;
    std::vector<Instruction*> arrays;
    std::vector<Shape> shapes;
    for (int i = 0; i < m; ++i) {
      shapes.push_back(call.operand_shape(i));
      arrays.push_back(computation().AddParameter(shapes.back()));
    }
    xla::HloInstructionProto* attrs;
    Instruction* sort =
        computation().Add(Opcode::kSort, m == 1 ? shapes[0] : Shape::Tuple(shapes), arrays, &attrs);
    attrs->add_dimensions(IntOption(call.instruction().backend_config(), "reduction_dim").value_or(0));
    attrs->set_is_stable(true);
    sort->set_called(call.instruction().called());
    Set(ExecuteSort, *sort, {&call.called(0)});
  }
};

// Whether the called computation takes two scalars of each array and gives a pred.
bool IsComparator(const OpCall& call, int arrays) {
  const Computation& comparator = *call.instruction().called(0);
  if (comparator.num_parameters() != 2 * arrays) return false;
  for (int i = 0; i < 2 * arrays; ++i) {
    const Shape scalar(call.operand_shape(i / 2).element_type(), {});
    if (!comparator.parameter(i)->shape().Compatible(scalar)) return false;
  }
  return comparator.root()->shape().Compatible(Shape(xla::PRED, {}));
}

absl::Status TakeFirst(OpCall& call, int i, int d, const MeshBuffer& sorted, const Shape& shape,
                       MeshBuffer* result) {
  const Shape& x = call.operand_shape(i);
  const int scalar = call.num_operands() / 2 + i;
  bool fits = shape.IsArray() && shape.rank() == x.rank() && shape.element_type() == x.element_type();
  for (int k = 0; fits && k < x.rank(); ++k) fits = k == d || shape.dim(k) == x.dim(k);
  if (!fits)
    return absl::InvalidArgumentError(
        absl::StrCat("result ", i, " is ", shape.ToString(), " for ", x.ToString()));
  const int64_t width = ByteWidth(x.element_type()), rows = sorted.uniform() ? 1 : call.copies();
  int64_t outer = rows, inner = width;
  for (int k = 0; k < d; ++k) outer *= x.dim(k);
  for (int k = d + 1; k < x.rank(); ++k) inner *= x.dim(k);
  RETURN_IF_ERROR(call.New(shape.ByteSize(), sorted.uniform(), result));
  const int64_t have = std::min(shape.dim(d), x.dim(d)), missing = shape.dim(d) - have;
  for (int64_t o = 0; o < outer; ++o) {
    char* out = result->mutable_data() + o * shape.dim(d) * inner;
    std::memcpy(out, sorted.data() + o * x.dim(d) * inner, have * inner);
    const int64_t row = call.uniform(scalar) || outer == 0 ? 0 : o / (outer / rows);
    Fill(out + have * inner, call.data(scalar) + row * width, width, missing * inner / width);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApproximateTopK(OpCall& call) {
  const int m = call.num_operands() / 2;
  bool fits = m > 0 && call.num_operands() == 2 * m && call.num_called() >= 1 && call.shape().IsTuple() &&
              static_cast<int>(call.shape().tuple_shapes().size()) == m;
  for (int i = 0; fits && i < m; ++i) {
    fits = call.operand_shape(i).IsArray() && call.operand_shape(i).SameDims(call.operand_shape(0)) &&
           call.operand_shape(m + i).IsScalar() &&
           call.operand_shape(m + i).element_type() == call.operand_shape(i).element_type();
  }
  if (!fits || !IsComparator(call, m))
    return absl::InvalidArgumentError("takes arrays, as many scalars, and a comparator");
  ASSIGN_OR_RETURN(const int64_t d, IntOption(call.instruction().backend_config(), "reduction_dim"));
  if (d < 0 || d >= call.operand_shape(0).rank())
    return absl::InvalidArgumentError(absl::StrCat("reduction_dim=", d));
  std::vector<MeshBuffer> arrays;
  for (int i = 0; i < m; ++i) arrays.push_back(call.operand(i));
  MeshBuffer sorted;
  RETURN_IF_ERROR(call.Cache<SortOp>().Run(call.mesh(), std::move(arrays), &sorted));
  MeshBuffer tuple = MeshBuffer::Tuple(m);
  for (int i = 0; i < m; ++i) {
    RETURN_IF_ERROR(TakeFirst(call, i, static_cast<int>(d), m == 1 ? sorted : sorted.element(i),
                              call.shape().tuple_shape(i), &tuple.mutable_element(i)));
  }
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

}  // namespace toroid
