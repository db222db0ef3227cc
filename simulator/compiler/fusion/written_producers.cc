#include <algorithm>

#include "absl/algorithm/container.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/fusion/fusible_producers.h"
#include "simulator/program/columns.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/walk.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// The op computes its operands in its own group.
bool TakesProducers(const Instruction& op, const Tiling& tiling) {
  return IsColumnToVector(op, tiling) || IsMatrixOp(op.opcode()) || op.opcode() == Opcode::kReduce ||
         op.opcode() == Opcode::kReduceWindow || op.opcode() == Opcode::kDynamicUpdateSlice;
}

bool IsDot(Opcode opcode) { return opcode == Opcode::kDot; }

// `value` is the same everywhere, and `user` a scatter into it that passes over all of it anyway: the scatter fills it, too.
bool IsFilledBy(const Instruction& value, const Instruction& user, const Tiling& tiling) {
  if (user.opcode() != Opcode::kScatter || user.num_operands() != 3 || user.operand(0) != &value ||
      user.operand(1) == &value || user.operand(2) == &value || !IsEverywhereTheSame(value))
    return false;
  const Shape& shape = value.shape();
  if (PaddedBytes(shape, tiling) < static_cast<double>(Thresholds().scatter_bytes_on_chip())) return true;
  int64_t rows = 1;
  for (const int64_t d : ScatterView(user).inserted_window_dims()) rows *= shape.dim(d);
  for (const int64_t d : ScatterView(user).operand_batching_dims()) rows *= shape.dim(d);
  const int64_t each =
      shape.rank() == 1 ? Thresholds().scatter_vector_rows() * tiling.lanes : tiling.sublanes;
  return rows / each < WorkOf(user).rows;
}

}  // namespace

bool FusibleProducers::IsCutForSome(const Instruction& op) const {
  if (!IsElementwise(op) || op.shape().rank() == 0) return false;
  int64_t readers = 0, cuts = 0;
  constexpr WalkLimit kAliases = {"other names of a value that is cut", 16};
  for (Walk walk(&op, kAliases); const Instruction* at = walk.Next();) {
    for (const Instruction* user : users_.users(*at)) {
      const bool is_name = (user->opcode() == Opcode::kTranspose || user->opcode() == Opcode::kReshape) &&
                           values_[user->index()];
      if (is_name) {
        walk.AddAgain(user);
      } else {
        // A kernel is rounded in the convolutions that read pieces of it.
        if (op.opcode() == Opcode::kConvert && user->opcode() == Opcode::kSlice && GoesToConvolutions(*user))
          return false;
        ++readers;
        cuts += user->opcode() == Opcode::kSlice;
      }
    }
  }
  return cuts > 0 && readers > 1;
}

bool FusibleProducers::RepeatsInPlace(const Instruction& op) const {
  if (!RepeatsElements(op)) return false;
  // If each element is repeated to whole tiles, these are made where they are read.
  const Dims order = PhysicalOrder(op.shape());
  const bool fills_tiles =
      !absl::c_linear_search(op.dimensions(), order[1]) && op.shape().dim(order[1]) % tiling_.sublanes == 0;
  if (fills_tiles) return false;
  return absl::c_any_of(users_.users(op), [&](const Instruction* user) {
    return user->opcode() == Opcode::kReshape && !SameButUnitDims(op.shape(), user->shape()) &&
           !IsReadByProducts(*user, IsDot);
  });
}

bool FusibleProducers::IsCutApart(const Instruction& op) const {
  if (op.opcode() != Opcode::kConcatenate) return false;
  int64_t elements = 0;
  for (const Instruction* user : users_.users(op)) {
    if (user->opcode() != Opcode::kSlice) return false;
    elements += user->shape().NumElements();
  }
  return elements == op.shape().NumElements();
}

bool FusibleProducers::IsPieceOfPieces(const Instruction& op) const {
  if (op.opcode() != Opcode::kSlice || !IsCutApart(*op.operand(0)) || !values_[op.operand(0)->index()])
    return false;
  const SliceView view(op);
  bool is_first = true, is_narrow = true;
  for (int d = 0; d < op.shape().rank(); ++d) {
    if (view[d].stride != 1) return false;
    if (op.shape().dim(d) == op.operand(0)->shape().dim(d)) continue;
    is_first &= view[d].start == 0;
    is_narrow &= op.shape().dim(d) == 1;
  }
  return is_first || is_narrow;
}

bool FusibleProducers::IsOfArguments(const Instruction& op) const {
  constexpr WalkLimit kProducersBackToArguments = {"producers back to arguments", 65};
  Walk walk(&op, kProducersBackToArguments);
  while (const Instruction* at = walk.Next()) {
    for (const Instruction* operand : at->operands()) {
      if (operand->opcode() == Opcode::kParameter || operand->opcode() == Opcode::kConstant) continue;
      const bool moves =
          operand->opcode() == Opcode::kReshape || operand->opcode() == Opcode::kCopy || Places(*operand);
      if (!values_[operand->index()] && !moves) return false;
      walk.Add(operand);
    }
  }
  return !walk.is_stopped();
}

bool FusibleProducers::HasRows(const Instruction& op, const Instruction& reader) const {
  const Dims order = PhysicalOrder(reader.shape());
  const bool is_whole = order.size() > 1 && reader.shape().dim(order[1]) % tiling_.sublanes == 0;
  constexpr WalkLimit kProducersWithRows = {"producers that lie in rows", 64};
  for (Walk walk(&op, kProducersWithRows); const Instruction* at = walk.Next();) {
    for (const Instruction* operand : at->operands()) {
      if (operand->shape().NumElements() != op.shape().NumElements() ||
          operand->opcode() == Opcode::kBroadcast)
        continue;
      if (!values_[operand->index()]) return operand->opcode() != Opcode::kConvolution || !is_whole;
      walk.Add(operand);
    }
  }
  return false;
}

const Instruction* FusibleProducers::ReaderInOtherRows(const Instruction& op, const Instruction& user) const {
  if (MovesRows(user) && values_[user.index()]) return IsReadByProducts(user, IsMatrixOp) ? &user : nullptr;
  if (user.opcode() == Opcode::kConvert && values_[user.index()]) {
    for (const Instruction* reader : users_.users(user)) {
      const Instruction* product = IsMatrixOp(reader->opcode()) ? ReaderInOtherRows(user, *reader) : nullptr;
      if (product != nullptr) return product;
    }
    return nullptr;
  }
  if (user.opcode() == Opcode::kConvolution && user.operand(0) == &op) {
    // Rows of tiles are images, or features if images are along lanes.
    const ConvolutionView convolution(user);
    const bool is_gradient = IsKernelGradient(user);
    const int64_t features = is_gradient ? convolution.input_batch() : convolution.input_feature();
    const int64_t images = is_gradient ? convolution.input_feature() : convolution.input_batch();
    const Dims lies = PhysicalOrder(op.shape());
    if (lies.size() < 3) return nullptr;
    const bool other_images = lies[0] == features && lies[1] != images && op.shape().dim(images) > 1;
    const bool other_features = lies[0] == images && lies[1] != features;
    return other_images || other_features ? &user : nullptr;
  }
  if (user.opcode() != Opcode::kDot || user.operand(0) != &op) return nullptr;
  const DotView view(user);
  const Dims order = PhysicalOrder(user.shape()), from = PhysicalOrder(op.shape());
  if (!view.lhs_batch().empty() || order.size() < 3 || from.size() < 3) return nullptr;
  Dims free;  // Of the left operand, in the order of the result.
  for (int64_t d = 0; d < op.shape().rank(); ++d) {
    if (!absl::c_linear_search(view.lhs_contracting(), d)) free.push_back(d);
  }
  // Rows of tiles of one and of the other.
  const bool is_other = order[1] < static_cast<int64_t>(free.size()) &&
                        absl::c_linear_search(view.lhs_contracting(), from[0]) && from[1] != free[order[1]];
  return is_other ? &user : nullptr;
}

bool FusibleProducers::IsRoundedInPlace(const Instruction& op, const Instruction& user) const {
  if (op.opcode() != Opcode::kConvert || made_[op.index()] || !JoinsTilesForProducts(user)) return false;
  return PhysicalOrder(op.shape()) == PhysicalOrder(op.operand(0)->shape());
}

bool FusibleProducers::IsSpreadBesideOthers(const Instruction& op) const {
  return op.opcode() == Opcode::kBroadcast && op.operand(0)->shape().rank() > 0 &&
         absl::c_any_of(users_.users(op), [&](const Instruction* user) {
           return user->opcode() == Opcode::kConcatenate && JoinsTilesForProducts(*user);
         });
}

bool FusibleProducers::IsQuantized(const Instruction& op) const {
  return made_[op.index()] &&
         (op.shape().element_type() == xla::S8 || op.shape().element_type() == xla::U8) &&
         op.shape().rank() > 0 && IsReadByProducts(op, IsMatrixOp);
}

bool FusibleProducers::IsPlacedBeside(const Instruction& op, const Instruction& user) const {
  return values_[op.index()] && op.opcode() == Opcode::kConcatenate && !IsConcatenatedInPlace(user);
}

bool FusibleProducers::IsOperandOfPlace(const Instruction& op, const Instruction& user) const {
  return Places(user) && op.shape().rank() > 0 && !IsPlacedBeside(op, user) && !IsPieceOfPieces(op) &&
         (made_[op.index()] || !JoinsTilesForDots(user)) && !IsRoundedInPlace(op, user);
}

bool FusibleProducers::IsSpreadToMore(const Instruction& op, const Instruction& user) const {
  return user.opcode() == Opcode::kBroadcast && made_[op.index()] && op.shape().rank() > 0;
}

bool FusibleProducers::IsReshapedForProduct(const Instruction& op, const Instruction& user) const {
  if (user.opcode() != Opcode::kReshape || !made_[op.index()] || !values_[user.index()] ||
      SameButUnitDims(op.shape(), user.shape()))
    return false;
  const auto is_product = [](const Instruction* reader) { return IsMatrixOp(reader->opcode()); };
  return absl::c_any_of(users_.users(user), [&](const Instruction* reader) {
    return is_product(reader) ||
           (reader->opcode() == Opcode::kConvert && absl::c_any_of(users_.users(*reader), is_product));
  });
}

bool FusibleProducers::IsReadInOtherRows(const Instruction& op, const Instruction& user) const {
  const Instruction* reader = made_[op.index()] ? ReaderInOtherRows(op, user) : nullptr;
  return reader != nullptr && HasRows(op, *reader);
}

bool FusibleProducers::TakesFromMemory(const Instruction& op, const Instruction& user) const {
  if (values_[user.index()] || TakesProducers(user, tiling_)) return false;
  // A value of arguments for one reader is made in the reader's order of rows; products and the like have an order of their
  // own.
  const bool in_order = MovesRows(user) && users_.users(op).size() == 1 && IsOfArguments(op) &&
                        Decides(Rule::kArgumentsInReadersRows, op);
  const bool is_piece = Places(user) && (IsPlacedBeside(op, user) || IsPieceOfPieces(op));
  return !in_order && !is_piece && !(IsFilledBy(op, user, tiling_) && Decides(Rule::kScatterFills, op));
}

// Values that are written though they could be made where they are read: whatever their readers are, or because of one of them.
const FusibleProducers::WrittenRow FusibleProducers::kWritten[] = {
    {Rule::kSpreadBesideOthers, &FusibleProducers::IsSpreadBesideOthers},
    {Rule::kCutForSomeReaders, &FusibleProducers::IsCutForSome},
    {Rule::kQuantizedOperands, &FusibleProducers::IsQuantized},
    {Rule::kRepeatedElements, &FusibleProducers::RepeatsInPlace},
};
const FusibleProducers::WrittenForRow FusibleProducers::kWrittenFor[] = {
    {Rule::kOperandsOfPlaces, &FusibleProducers::IsOperandOfPlace},
    {Rule::kSpreadToMore, &FusibleProducers::IsSpreadToMore},
    {Rule::kReshapedForProducts, &FusibleProducers::IsReshapedForProduct},
    {Rule::kOtherRowsOfProducts, &FusibleProducers::IsReadInOtherRows},
};

bool FusibleProducers::MustBeWritten(const Instruction* op) const {
  for (const WrittenRow& row : kWritten) {
    if ((this->*row.applies)(*op) && Decides(row.rule, *op)) return true;
  }
  for (const Instruction* user : users_.users(*op)) {
    for (const WrittenForRow& row : kWrittenFor) {
      if ((this->*row.applies)(*op, *user) && Decides(row.rule, *op)) return true;
    }
    if (TakesFromMemory(*op, *user)) return true;
  }
  return op == computation_.root();
}

}  // namespace toroid
