#include "runtime/dynamic/dynamic_inference.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ops/infer_shape.h"

namespace toroid {
namespace {

bool IsDynamicIn(const Instruction& instruction, int operand, int d) {
  const Shape& shape = instruction.operand(operand)->shape();
  return shape.IsArray() && shape.IsDynamic(d);
}

// Dimension da of operand a and db of operand b are one dimension of the op.
absl::Status Pair(const Instruction& instruction, int a, int da, int b, int db, std::vector<Shape>* shapes) {
  Shape& x = (*shapes)[a];
  Shape& y = (*shapes)[b];
  if (x.dim(da) == y.dim(db)) return absl::OkStatus();
  const bool x_dynamic = IsDynamicIn(instruction, a, da), y_dynamic = IsDynamicIn(instruction, b, db);
  if (x_dynamic == y_dynamic) {
    return absl::InvalidArgumentError(absl::StrCat("run-time sizes ", x.dim(da), " and ", y.dim(db),
                                                   " of dimension ", da, " of operand ", a, " and ", db,
                                                   " of operand ", b));
  }
  if (x_dynamic) {
    y.set_dim(db, std::min(x.dim(da), y.dim(db)));
  } else {
    x.set_dim(da, std::min(x.dim(da), y.dim(db)));
  }
  return absl::OkStatus();
}

// The first `count` operands of the highest rank among them have equal dimensions.
absl::Status PairAll(const Instruction& instruction, int count, std::vector<Shape>* shapes) {
  int rank = 0;
  for (int i = 0; i < count; ++i) rank = std::max(rank, (*shapes)[i].rank());
  for (int d = 0; d < rank; ++d) {
    int first = -1;  // The first operand that is dynamic in d, else the first.
    for (int i = 0; i < count; ++i) {
      if ((*shapes)[i].rank() != rank) continue;
      if (first < 0 || (!IsDynamicIn(instruction, first, d) && IsDynamicIn(instruction, i, d))) first = i;
    }
    for (int i = 0; i < count; ++i) {
      if (i != first && (*shapes)[i].rank() == rank)
        RETURN_IF_ERROR(Pair(instruction, first, d, i, d, shapes));
    }
  }
  return absl::OkStatus();
}

// Run-time dimensions of a reshape. Both sides are cut into groups with equal products of bounds; each group
// has at most one dynamic result dimension, whose size is the quotient.
absl::StatusOr<Dims> ReshapedDims(const Shape& from_bound, const Shape& from, const Shape& to_bound) {
  Dims dims(to_bound.dims().begin(), to_bound.dims().end());
  if (to_bound.NumElements() == 0) return dims;
  int i = 0, j = 0;
  while (i < from.rank() || j < to_bound.rank()) {
    const int first = j;
    int64_t have = 1, want = 1, elements = 1;
    do {
      if (i < from.rank() && (have <= want || j == to_bound.rank())) {
        have *= from_bound.dim(i);
        elements *= from.dim(i++);
      } else {
        want *= to_bound.dim(j++);
      }
    } while (have != want);
    // Trailing dimensions of size 1 belong to the group as well.
    while (j < to_bound.rank() && to_bound.dim(j) == 1) ++j;
    while (i < from.rank() && from_bound.dim(i) == 1) elements *= from.dim(i++);
    int dynamic = -1;
    int64_t others = 1;
    for (int d = first; d < j; ++d) {
      if (to_bound.IsDynamic(d) && dynamic >= 0) {
        return absl::InvalidArgumentError(absl::StrCat("the run-time sizes of dimensions ", dynamic, " and ",
                                                       d, " of ", to_bound.ToString(), " do not follow from ",
                                                       from.ToString(), "; use dynamic-reshape"));
      }
      if (to_bound.IsDynamic(d)) {
        dynamic = d;
      } else {
        others *= to_bound.dim(d);
      }
    }
    if (dynamic >= 0 && others > 0 && elements % others == 0) {
      dims[dynamic] = elements / others;
    } else if (dynamic >= 0 || elements != others) {
      return absl::InvalidArgumentError(
          absl::StrCat(from.ToString(), " at run time does not fill ", to_bound.ToString()));
    }
  }
  return dims;
}

// Fits the result shape and attributes of a clone to run-time shapes, for ops where shape inference does not
// give them.
absl::Status FitToSizes(const Instruction& original, const std::vector<Shape>& shapes, Instruction* clone) {
  Shape& result = clone->mutable_shape();
  switch (original.opcode()) {
    case Opcode::kConvert:
      result.set_dims(shapes[0].dims());
      return absl::OkStatus();
    case Opcode::kBroadcast:
      for (size_t i = 0; i < original.dimensions().size(); ++i) {
        result.set_dim(original.dimensions()[i], shapes[0].dim(i));
      }
      return absl::OkStatus();
    case Opcode::kReshape: {
      ASSIGN_OR_RETURN(const Dims dims,
                       ReshapedDims(original.operand(0)->shape(), shapes[0], original.shape()));
      result.set_dims(dims);
      return absl::OkStatus();
    }
    case Opcode::kSlice: {
      const SliceView slice(original);
      xla::HloInstructionProto* attrs = clone->MutableAttrs();
      for (int d = 0; d < shapes[0].rank(); ++d) {
        SliceBounds bounds = slice[d];
        bounds.limit = std::min(bounds.limit, shapes[0].dim(d));
        bounds.start = std::min(bounds.start, bounds.limit);
        SliceView::Set(attrs, d, bounds);
      }
      return absl::OkStatus();
    }
    case Opcode::kDynamicSlice: {
      xla::HloInstructionProto* attrs = clone->MutableAttrs();
      for (int d = 0; d < shapes[0].rank(); ++d) {
        attrs->set_dynamic_slice_sizes(d, std::min<int64_t>(attrs->dynamic_slice_sizes(d), shapes[0].dim(d)));
      }
      return absl::OkStatus();
    }
    case Opcode::kGather: {
      xla::HloInstructionProto* attrs = clone->MutableAttrs();
      for (int d = 0; d < shapes[0].rank(); ++d) {
        attrs->set_gather_slice_sizes(d, std::min<int64_t>(attrs->gather_slice_sizes(d), shapes[0].dim(d)));
      }
      return absl::OkStatus();
    }
    default:
      return absl::OkStatus();
  }
}

}  // namespace

absl::Status ReconcileShapes(const Instruction& instruction, std::vector<Shape>* shapes) {
  const int n = instruction.num_operands();
  if (IsElementwise(instruction.opcode())) return PairAll(instruction, n, shapes);
  switch (instruction.opcode()) {
    case Opcode::kMap:
    case Opcode::kSort:
      return PairAll(instruction, n, shapes);
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return PairAll(instruction, n / 2, shapes);
    case Opcode::kDot: {
      const DotView dot(instruction);
      for (size_t i = 0; i < dot.lhs_batch().size(); ++i) {
        RETURN_IF_ERROR(Pair(instruction, 0, static_cast<int>(dot.lhs_batch()[i]), 1,
                             static_cast<int>(dot.rhs_batch()[i]), shapes));
      }
      for (size_t i = 0; i < dot.lhs_contracting().size(); ++i) {
        RETURN_IF_ERROR(Pair(instruction, 0, static_cast<int>(dot.lhs_contracting()[i]), 1,
                             static_cast<int>(dot.rhs_contracting()[i]), shapes));
      }
      return absl::OkStatus();
    }
    case Opcode::kConvolution: {
      // Without groups the feature dimensions of both operands are equal.
      const ConvolutionView convolution(instruction);
      if (convolution.feature_groups() > 1) return absl::OkStatus();
      return Pair(instruction, 0, static_cast<int>(convolution.input_feature()), 1,
                  static_cast<int>(convolution.kernel_input_feature()), shapes);
    }
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
      for (int d = 0; d < instruction.shape().rank(); ++d) {
        if (!instruction.shape().IsDynamic(d))
          (*shapes)[0].set_dim(d, instruction.operand(0)->shape().dim(d));
      }
      return absl::OkStatus();
    case Opcode::kGather:
      // The result follows the run-time size only in dimensions taken whole.
      for (int d = 0; d < (*shapes)[0].rank(); ++d) {
        const int64_t bound = instruction.operand(0)->shape().dim(d);
        if (GatherView(instruction).slice_sizes()[d] != bound) (*shapes)[0].set_dim(d, bound);
      }
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

absl::StatusOr<std::unique_ptr<Module>> MakeStaticOp(const Instruction& instruction,
                                                     const std::vector<Shape>& shapes) {
  auto module = std::make_unique<Module>("static");
  Computation* entry = module->AddComputation("main");
  std::vector<Instruction*> parameters;
  for (const Shape& shape : shapes) parameters.push_back(entry->AddParameter(shape));
  Instruction* clone =
      entry->AddClone(instruction, Shape(instruction.shape()).WithRowMajorLayout(), parameters);
  clone->set_called(instruction.called());
  RETURN_IF_ERROR(FitToSizes(instruction, shapes, clone));
  auto shape = InferShape(*clone);
  if (!shape.ok()) return Annotate(shape.status(), "at run-time sizes");
  // Kernels read only types and sizes.
  clone->mutable_shape() = *std::move(shape);
  entry->set_root(clone);
  module->set_entry(entry);
  return module;
}

}  // namespace toroid
