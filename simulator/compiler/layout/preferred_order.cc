#include "simulator/compiler/layout/preferred_order.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/dim_orders.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/walk.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

bool HasDimension(const Shape& shape, int64_t d) { return d >= 0 && d < shape.rank(); }

}  // namespace

bool IsOfArgument(const Instruction* value) {
  while (value->opcode() == Opcode::kSlice || value->opcode() == Opcode::kConvert) value = value->operand(0);
  return value->opcode() == Opcode::kParameter;
}

bool WantsDenseOperands(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kGather:
    case Opcode::kScatter:
    case Opcode::kSort:
    case Opcode::kCustomCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
      return true;
    case Opcode::kAllReduce:
      return !op.shape().IsArray();  // Of several arrays.
    default:
      return false;
  }
}

Dims NaturalOrder(const Instruction* value, const Dims& otherwise, const Tiling& tiling) {
  const Dims sized = SizedOrder(value->shape(), otherwise);
  constexpr WalkLimit kProducersBackToVector = {"producers back to a vector", 16};
  std::vector<const Instruction*> todo = {value};
  for (size_t steps = 0; !todo.empty(); ++steps) {
    if (steps == kProducersBackToVector.most) {
      ReportLimit(kProducersBackToVector);
      break;
    }
    const Instruction* op = todo.back();
    todo.pop_back();
    if (op->opcode() == Opcode::kBroadcast && op->operand(0)->opcode() != Opcode::kIota &&
        SizedDims(op->operand(0)->shape()).size() == 1) {
      // Few elements would not fill lanes.
      const int64_t extent = op->operand(0)->shape().NumElements();
      if (!IsOn(Rule::kAsVectorLies)) return otherwise;
      if (!sized.empty() && extent < tiling.lanes && extent < value->shape().dim(sized[0])) return otherwise;
      return OrderFrom(value->shape(), {op->dimensions()[SizedDims(op->operand(0)->shape())[0]]});
    }
    if (!IsElementwise(*op)) continue;
    for (const Instruction* operand : op->operands()) {
      if (operand->shape().dims() == value->shape().dims()) todo.push_back(operand);
    }
  }
  return otherwise;
}

namespace {

// Of the dimensions from one up to another the last of more than one element.
int64_t LastSized(const Instruction& op, int64_t from, int64_t to) {
  int64_t last = from;
  for (int64_t d = from; d < to; ++d) {
    if (op.shape().dim(d) > 1) last = d;
  }
  return last;
}

// It, or what is made of it elementwise, is cut into single elements along the dimension, as steps of a recurrence are.
bool IsCutIntoSteps(const Instruction* value, int64_t d, const LayoutState& state) {
  constexpr WalkLimit kReadersCutIntoSteps = {"readers that are cut into steps", 16};
  for (Walk walk(value, kReadersCutIntoSteps); const Instruction* at = walk.Next();) {
    for (const Instruction* user : state.users.users(*at)) {
      if (user->index() >= state.n || user->shape().rank() != value->shape().rank()) continue;
      if (user->opcode() == Opcode::kSlice && user->shape().dim(d) == 1) return true;
      if (IsElementwise(*user)) walk.Add(user);
    }
  }
  return false;
}

// Rows of whole tiles, or of one tile that has so few.
bool FillsRows(int64_t n, const Tiling& tiling) {
  return n % tiling.sublanes == 0 ||
         (n > 1 && n < tiling.sublanes && RowsOfTile(n, sizeof(float), tiling) == n);
}

// Made elementwise from results of a convolution.
bool IsOfConvolution(const Instruction& value) {
  constexpr WalkLimit kProducersBackToConvolution = {"producers back to a convolution", 16};
  for (Walk walk(&value, kProducersBackToConvolution); const Instruction* at = walk.Next();) {
    if (at->opcode() == Opcode::kConvolution) return true;
    if (!IsElementwise(*at)) continue;
    for (const Instruction* operand : at->operands()) {
      if (operand->shape().dims() == value.shape().dims()) walk.Add(operand);
    }
  }
  return false;
}

// Which dimension of the value, of which features are along `features`, are images for a convolution that takes it, or what is
// made of it elementwise, or for one whose results that meets; -1 if there is none.
int64_t ImagesOf(const Instruction* value, int64_t features, const LayoutState& state) {
  constexpr WalkLimit kReadersToConvolution = {"readers on the way to a convolution", 24};
  for (Walk walk(value, kReadersToConvolution); const Instruction* at = walk.Next();) {
    for (const Instruction* user : state.users.users(*at)) {
      if (user->index() >= state.n || user->num_operands() == 0) continue;
      if (user->opcode() == Opcode::kConvolution && user->operand(0) == at && !IsKernelGradient(*user)) {
        const ConvolutionView view(*user);
        return view.input_feature() == features ? view.input_batch() : -1;
      }
      if (!IsElementwise(*user) || user->shape().dims() != value->shape().dims() || walk.Has(user)) continue;
      walk.Add(user);
      for (const Instruction* other : user->operands()) {
        if (other == at || other->shape().dims() != value->shape().dims() || !state.Known(other) ||
            state.IsFlexible(other))
          continue;
        const Dims order = SizedOrder(other->shape(), state.OrderOf(other));
        if (order.size() > 1 && order[0] == features && IsOfConvolution(*other)) return order[1];
      }
    }
  }
  return -1;
}

}  // namespace

Dims OrderAsImages(const Instruction& value, const LayoutState& state) {
  const Shape& shape = value.shape();
  const int64_t rank = shape.rank();
  if (rank < 3 || shape.dim(rank - 1) % Thresholds().feature_multiple() != 0 ||
      shape.dim(0) % state.tiling.sublanes != 0)
    return {};
  // Images are the first dimension, features the last.
  constexpr WalkLimit kReadersAsImages = {"readers that take images", 24};
  for (Walk walk(&value, kReadersAsImages); const Instruction* at = walk.Next();) {
    for (const Instruction* user : state.users.users(*at)) {
      if (user->index() >= state.n || user->num_operands() == 0 || walk.Has(user)) continue;
      if (user->opcode() == Opcode::kConvolution) {
        const ConvolutionView view(*user);
        if (user->operand(0) == at && !IsKernelGradient(*user) && view.input_batch() == 0 &&
            view.input_feature() == rank - 1) {
          return OrderFrom(shape, {rank - 1, 0});
        }
        continue;
      }
      const bool moves = user->opcode() == Opcode::kSlice || user->opcode() == Opcode::kPad ||
                         user->opcode() == Opcode::kConcatenate || user->opcode() == Opcode::kReverse ||
                         user->opcode() == Opcode::kBroadcast || user->opcode() == Opcode::kReshape;
      if (!moves && !IsElementwise(*user)) continue;
      // Between repeating elements and joining them there is one dimension more.
      const Shape& after = user->shape();
      if (after.rank() < rank || after.dim(0) != shape.dim(0) ||
          after.dim(after.rank() - 1) < shape.dim(rank - 1))
        continue;
      walk.Add(user);
    }
  }
  return {};
}

Dims OrderOfDot(const Instruction* dot, const LayoutState& state) {
  const DotView view(*dot);
  const int64_t batch = static_cast<int64_t>(view.lhs_batch().size());
  const int64_t left =
      dot->operand(0)->shape().rank() - batch - static_cast<int64_t>(view.lhs_contracting().size());
  const auto largest = [&](int64_t from, int64_t to) {
    int64_t best = -1;
    for (int64_t d = from; d < to; ++d) {
      if (dot->shape().dim(d) > 1 && (best < 0 || dot->shape().dim(d) >= dot->shape().dim(best))) best = d;
    }
    return best;
  };
  int64_t rows = largest(batch, batch + left);
  const int64_t columns = largest(batch + left, dot->shape().rank());
  if (rows < 0 || columns < 0) return LeastPaddingOrder(dot->shape(), state.tiling);
  // The last of several, if it fills tiles: rows lie as they are counted. Not where another one fills the units.
  const int64_t last = LastSized(*dot, batch, batch + left), tile = state.tiling.lanes;
  const bool fills_units = dot->shape().dim(rows) >= tile && dot->shape().dim(last) < tile;
  int64_t contracted = 1;
  for (const int64_t d : view.lhs_contracting()) contracted *= dot->operand(0)->shape().dim(d);
  const bool is_whole = contracted % tile == 0 || dot->shape().dim(columns) % tile == 0;
  if (batch == 0 && dot->shape().dim(last) % state.tiling.sublanes == 0 && !fills_units && is_whole &&
      !IsCutIntoSteps(dot, last, state) && Decides(Rule::kLastRowsOfDots, *dot))
    rows = last;
  Dims pair = {columns, rows};
  // Either may be minor: the one that pads less.
  const auto padded = [&](int64_t minor, int64_t second) {
    return PaddedElements(1, dot->shape().dim(second), dot->shape().dim(minor),
                          ByteWidth(dot->shape().element_type()), state.tiling);
  };
  if (padded(rows, columns) < padded(columns, rows)) std::swap(pair[0], pair[1]);
  // As rows of tiles for a convolution, if that pads no more.
  const int64_t images = batch == 0 && dot->shape().dim(columns) % Thresholds().feature_multiple() == 0
                             ? ImagesOf(dot, columns, state)
                             : -1;
  if (images >= 0 && images < left && FillsRows(dot->shape().dim(images), state.tiling)) {
    Shape chosen = dot->shape(), as_images = dot->shape();
    SetOrder(OrderFrom(dot->shape(), pair), &chosen);
    SetOrder(OrderFrom(dot->shape(), {columns, images}), &as_images);
    if (PaddedElements(as_images, state.tiling) <= PaddedElements(chosen, state.tiling) &&
        Decides(Rule::kDotsAsImages, *dot))
      return OrderFrom(dot->shape(), {columns, images});
  }
  // Rows of several dimensions are positions of a window, whose results lie as the units make them.
  const auto sized = [&](int64_t from, int64_t to) {
    int64_t count = 0;
    for (int64_t d = from; d < to; ++d) count += dot->shape().dim(d) > 1;
    return count;
  };
  const bool is_window = batch == 0 && (sized(0, left) > 1 || sized(left, dot->shape().rank()) > 1);
  return OrderFrom(dot->shape(), WantedOrder(dot, pair, state, is_window));
}

Dims OrderOfOperand(const Instruction& dot, int side, const Dims& order) {
  const DotView view(dot);
  const Shape& shape = dot.operand(side)->shape();
  const auto batch = side == 0 ? view.lhs_batch() : view.rhs_batch();
  const Dims sized = SizedOrder(shape, order);
  const auto is_batch = [&](int64_t d) { return absl::c_linear_search(batch, d); };
  if (sized.empty() || !is_batch(sized[0])) return order;
  Dims first;
  for (const int64_t d : sized) {
    if (!is_batch(d)) first.push_back(d);
  }
  return first.size() < 2 || !Decides(Rule::kBatchesOutermost, dot) ? order : OrderFrom(shape, first);
}

Dims OrderOfImages(const Instruction& convolution, int side, const Dims& order, const Tiling& tiling) {
  const ConvolutionView view(convolution);
  const Shape& shape = convolution.operand(side)->shape();
  // For the gradient of a kernel images are features, and lie as they did.
  const bool is_gradient = IsKernelGradient(convolution);
  const int64_t features = side == 1     ? view.kernel_output_feature()
                           : is_gradient ? view.input_batch()
                                         : view.input_feature();
  const int64_t batch = side == 1     ? view.kernel_input_feature()
                        : is_gradient ? view.input_feature()
                                      : view.input_batch();
  if (!HasDimension(shape, features) || !HasDimension(shape, batch)) return order;
  if ((side == 0 || is_gradient) && HoldsImagesOfGroups(convolution) &&
      Decides(Rule::kGroupsAlongLanes, convolution))
    return OrderFrom(shape, {batch, features});
  const Dims sized = SizedOrder(shape, order);
  if (sized.empty() || sized[0] == features || sized[0] == batch) return order;
  if (shape.dim(batch) == 1) return order;
  const bool few = shape.dim(features) <= Thresholds().few_features() && shape.dim(batch) >= tiling.sublanes;
  return few && Decides(Rule::kFewFeaturesAlongRows, convolution) ? OrderFrom(shape, {batch, features})
                                                                  : OrderFrom(shape, {features, batch});
}

Dims OrderOfWindows(const Shape& shape, int64_t features, int64_t batch, const Tiling& tiling) {
  if (!HasDimension(shape, features) || !HasDimension(shape, batch) || shape.dim(features) == 1 ||
      shape.dim(batch) == 1) {
    return LeastPaddingOrder(shape, tiling);
  }
  const auto padded = [&](int64_t minor, int64_t second) {
    return PaddedElements(1, shape.dim(second), shape.dim(minor), ByteWidth(shape.element_type()), tiling);
  };
  return padded(batch, features) < padded(features, batch) ? OrderFrom(shape, {batch, features})
                                                           : OrderFrom(shape, {features, batch});
}

Dims OrderOfConvolution(const Instruction* convolution, const LayoutState& state) {
  const ConvolutionView view(*convolution);
  if (!IsKernelGradient(*convolution) && HoldsImagesOfGroups(*convolution) &&
      Decides(Rule::kGroupsAlongLanes, *convolution))
    return OrderFrom(convolution->shape(), {view.output_batch(), view.output_feature()});
  return OrderOfWindows(convolution->shape(), view.output_feature(), view.output_batch(), state.tiling);
}

Dims OrderOfReduced(const Instruction* reduce, const LayoutState& state) {
  const Tiling& tiling = state.tiling;
  const Shape& shape = reduce->operand(0)->shape();
  // The largest of what it is made from by spreading along few elements.
  const Instruction* spread = nullptr;
  constexpr WalkLimit kProducersSpreadForSum = {"producers that are spread for a sum", 64};
  for (Walk walk(reduce->operand(0), kProducersSpreadForSum); const Instruction* op = walk.Next();) {
    if (op->opcode() == Opcode::kBroadcast) {
      const Instruction* from = op->operand(0);
      if (!state.Known(from) || state.IsFlexible(from) ||
          SizedOrder(from->shape(), state.OrderOf(from)).size() < 2)
        continue;
      // Not along what could fill tiles itself.
      if (shape.NumElements() > tiling.sublanes * from->shape().NumElements()) continue;
      if (spread == nullptr || from->shape().NumElements() > spread->operand(0)->shape().NumElements())
        spread = op;
    } else if (IsElementwise(*op)) {
      for (const Instruction* operand : op->operands()) {
        if (operand->shape().dims() == shape.dims()) walk.Add(operand);
      }
    }
  }
  if (spread != nullptr) {
    const Shape& from = spread->operand(0)->shape();
    const Dims own = SizedOrder(from, state.OrderOf(spread->operand(0)));
    if (from.dim(own[0]) >= tiling.lanes && from.dim(own[1]) >= tiling.sublanes &&
        Decides(Rule::kReducedAsSpread, *reduce)) {
      Dims first;
      for (const int64_t d : own) first.push_back(spread->dimensions()[d]);
      return OrderFrom(shape, first);
    }
  }
  return LeastPaddingOrder(shape, tiling, /*prefers_whole=*/true);
}

}  // namespace toroid
