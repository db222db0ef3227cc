#include "simulator/compiler/fusion/fusible_producers.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/program/columns.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/spread_vectors.h"
#include "simulator/program/tiling.h"
#include "simulator/program/windows.h"

namespace toroid {
namespace {

// What was before is added to running folds of blocks.
bool AddsToRunningFold(const Instruction& value) {
  return IsElementwise(value) && absl::c_any_of(value.operands(), [](const Instruction* operand) {
           return operand->opcode() == Opcode::kReduceWindow && IsRunningFold(*operand);
         });
}

// Takes what its operands are made from into its own group.
bool TakesProducers(const Instruction& op, const Tiling& tiling) {
  return IsColumnToVector(op, tiling) || IsMatrixOp(op.opcode()) || op.opcode() == Opcode::kReduce ||
         op.opcode() == Opcode::kReduceWindow || op.opcode() == Opcode::kDynamicUpdateSlice;
}

bool IsArithmetic(const Instruction& op) {
  return IsElementwise(op) && op.opcode() != Opcode::kConvert && op.opcode() != Opcode::kCopy &&
         op.opcode() != Opcode::kBitcastConvert;
}

// Results of a scatter that lie on the chip while it runs.
constexpr double kBytesOnChip = 1 << 24;
// Of a vector so many registers' rows for each update, of other arrays so many tiles' rows: with less the compiler sorts indices, and
// a scatter passes over all of its operand once.
constexpr int64_t kRowsOfVector = 13, kTiles = 1;

// One value everywhere, into which a scatter writes that passes over all of it: it writes that value too.
bool IsFilledBy(const Instruction& value, const Instruction& user, const Tiling& tiling) {
  if (user.opcode() != Opcode::kScatter || user.num_operands() != 3 || user.operand(0) != &value ||
      user.operand(1) == &value || user.operand(2) == &value || !IsEverywhereTheSame(value))
    return false;
  const Shape& shape = value.shape();
  if (PaddedBytes(shape, tiling) < kBytesOnChip) return true;
  int64_t rows = 1;
  for (const int64_t d : ScatterView(user).inserted_window_dims()) rows *= shape.dim(d);
  for (const int64_t d : ScatterView(user).operand_batching_dims()) rows *= shape.dim(d);
  const int64_t each = shape.rank() == 1 ? kRowsOfVector * tiling.lanes : kTiles * tiling.sublanes;
  return rows / each < WorkOf(user).rows;
}

bool IsDot(Opcode opcode) { return opcode == Opcode::kDot; }
bool IsConvolution(Opcode opcode) { return opcode == Opcode::kConvolution; }

}  // namespace

FusibleProducers::FusibleProducers(const Computation& computation, const UserMap& users, const Tiling& tiling)
    : computation_(computation),
      users_(users),
      tiling_(tiling),
      values_(computation.size(), false),
      made_(computation.size(), false) {
  for (int i = 0; i < computation.size(); ++i) {
    values_[i] = (IsRecomputed(*At(i), tiling) && !IsSlidOverReversed(*At(i))) ||
                 MovesTilesForDots(*At(i), tiling.lanes) ||
                 (Places(*At(i)) && !IsConcatenatedInPlace(*At(i)) && IsReadElementwise(*At(i))) ||
                 JoinsTilesForProducts(*At(i)) || (MovesRows(*At(i)) && !IsResult(*At(i)));
    if (IsVectorToColumn(*At(i), tiling) && GoesIntoTable(*At(i))) values_[i] = false;
  }
  FindArithmetic();
}

bool FusibleProducers::IsReadElementwise(const Instruction& op) const {
  const auto users = users_.users(op);
  return op.shape().IsArray() && op.control_predecessors().empty() && !users.empty() &&
         absl::c_all_of(users, [&](const Instruction* user) {
           const bool cuts = user->opcode() == Opcode::kSlice;
           if (cuts) return true;
           if (Places(*user) && !IsConcatenatedInPlace(*user)) return op.opcode() == Opcode::kConcatenate;
           return IsElementwise(*user) && user->opcode() != Opcode::kCopy &&
                  user->shape().NumElements() == op.shape().NumElements();
         });
}

bool FusibleProducers::GoesIntoTable(const Instruction& op) const {
  return IsResult(op) ||
         absl::c_any_of(users_.users(op), [](const Instruction* user) { return Places(*user); });
}

bool FusibleProducers::IsSlidOverReversed(const Instruction& op) const {
  return op.opcode() == Opcode::kReverse && absl::c_any_of(users_.users(op), [&](const Instruction* user) {
           return user->opcode() == Opcode::kConvolution && user->operand(0) == &op;
         });
}

bool FusibleProducers::IsReadByProducts(const Instruction& op, bool (*is_product)(Opcode)) const {
  const auto takes = [&](const Instruction* user) { return is_product(user->opcode()); };
  const auto users = users_.users(op);
  return !users.empty() && absl::c_all_of(users, [&](const Instruction* user) {
    return takes(user) || (user->opcode() == Opcode::kConvert && !users_.users(*user).empty() &&
                           absl::c_all_of(users_.users(*user), takes));
  });
}

bool FusibleProducers::GoesToConvolutions(const Instruction& op) const {
  const auto users = users_.users(op);
  return !users.empty() && absl::c_all_of(users, [&](const Instruction* user) {
    return user->opcode() == Opcode::kConvolution ||
           ((IsInPlace(*user) || user->opcode() == Opcode::kReshape) && GoesToConvolutions(*user));
  });
}

bool FusibleProducers::HasSibling(const Instruction& slice) const {
  const bool is_placed =
      absl::c_any_of(users_.users(slice), [](const Instruction* user) { return Places(*user); });
  return is_placed && absl::c_any_of(users_.users(*slice.operand(0)), [&](const Instruction* user) {
           return user != &slice && user->opcode() == Opcode::kSlice &&
                  user->shape().dims() == slice.shape().dims();
         });
}

bool FusibleProducers::MovesRows(const Instruction& op) const {
  if (op.opcode() != Opcode::kCopy || !op.control_predecessors().empty()) return false;
  const Dims before = PhysicalOrder(op.operand(0)->shape()), after = PhysicalOrder(op.shape());
  if (before.size() < 2 || after.size() < 2 || before[0] != after[0] || before == after) return false;
  return RowsOfTile(op.shape().dim(after[1]), ByteWidth(op.shape().element_type()), tiling_) ==
         tiling_.sublanes;
}

bool FusibleProducers::IsMadeOfReshapedSpread(const Instruction& op) const {
  std::vector<const Instruction*> todo = {&op};
  for (size_t next = 0; next < todo.size() && next < 16; ++next) {
    for (const Instruction* operand : todo[next]->operands()) {
      if (operand->opcode() == Opcode::kReshape && operand->operand(0)->opcode() == Opcode::kBroadcast &&
          !SameButUnitDims(operand->shape(), operand->operand(0)->shape()))
        return true;
      if (made_[operand->index()] && IsElementwise(*operand)) todo.push_back(operand);
    }
  }
  return false;
}

bool FusibleProducers::IsCutForSome(const Instruction& op) const {
  if (!IsElementwise(op) || op.shape().rank() == 0) return false;
  int64_t readers = 0, cuts = 0;
  std::vector<const Instruction*> names = {&op};
  for (size_t next = 0; next < names.size() && next < 16; ++next) {
    for (const Instruction* user : users_.users(*names[next])) {
      const bool is_name = (user->opcode() == Opcode::kTranspose || user->opcode() == Opcode::kReshape) &&
                           values_[user->index()];
      if (is_name) {
        names.push_back(user);
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

bool FusibleProducers::IsRowOfTiles(const Instruction& op) const {
  if (op.opcode() != Opcode::kSlice || op.operand(0)->opcode() != Opcode::kParameter) return false;
  const Dims order = PhysicalOrder(op.operand(0)->shape());
  const auto is_cut = [&](int64_t d) { return op.shape().dim(d) == 1; };
  return order.size() > 2 && (is_cut(order[0]) || is_cut(order[1]));
}

bool FusibleProducers::RepeatsInPlace(const Instruction& op) const {
  if (!RepeatsElements(op)) return false;
  // Whole tiles are made where they are read, one of each element.
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

bool FusibleProducers::IsCopied(const Instruction& op) const {
  return absl::c_any_of(users_.users(op), [&](const Instruction* user) {
    const bool is_name = (user->opcode() == Opcode::kTranspose || user->opcode() == Opcode::kReshape) &&
                         values_[user->index()];
    return user->opcode() == Opcode::kCopy || (is_name && IsCopied(*user));
  });
}

bool FusibleProducers::IsOfArguments(const Instruction& op) const {
  std::vector<const Instruction*> todo = {&op};
  for (size_t next = 0; next < todo.size(); ++next) {
    if (next > 64) return false;
    for (const Instruction* operand : todo[next]->operands()) {
      if (operand->opcode() == Opcode::kParameter || operand->opcode() == Opcode::kConstant) continue;
      const bool moves =
          operand->opcode() == Opcode::kReshape || operand->opcode() == Opcode::kCopy || Places(*operand);
      if (!values_[operand->index()] && !moves) return false;
      if (!absl::c_linear_search(todo, operand)) todo.push_back(operand);
    }
  }
  return true;
}

bool FusibleProducers::IsResult(const Instruction& op) const {
  return &op == computation_.root() || absl::c_any_of(users_.users(op), [&](const Instruction* user) {
    return user == computation_.root() && user->opcode() == Opcode::kTuple;
  });
}

bool FusibleProducers::JoinsTilesForProducts(const Instruction& op) const {
  // What convolutions slide over may be put together in any place.
  if (op.opcode() == Opcode::kConcatenate && !IsConcatenatedInPlace(op) &&
      IsReadByProducts(op, IsConvolution))
    return true;
  return JoinsTiles(op) && IsReadByProducts(op, IsMatrixOp);
}

bool FusibleProducers::JoinsTilesForDots(const Instruction& op) const {
  return JoinsTiles(op) && IsReadByProducts(op, IsDot);
}

bool FusibleProducers::JoinsTiles(const Instruction& op) const {
  if (op.opcode() != Opcode::kConcatenate || IsConcatenatedInPlace(op)) return false;
  const Dims order = PhysicalOrder(op.shape());
  for (size_t i = 0; i < std::min<size_t>(2, order.size()); ++i) {
    if (order[i] != op.dimension()) continue;
    for (const Instruction* operand : op.operands()) {
      if (operand->shape().dim(order[i]) % (i == 0 ? tiling_.lanes : tiling_.sublanes) != 0) return false;
    }
  }
  return true;
}

bool FusibleProducers::MovesTilesForDots(const Instruction& op, int64_t lanes) const {
  if (op.opcode() != Opcode::kReshape) return false;
  for (const Shape& shape : {op.shape(), op.operand(0)->shape()}) {
    const Dims order = PhysicalOrder(shape);
    if (order.empty() || shape.dim(order[0]) % lanes != 0) return false;
  }
  return IsReadByProducts(op, IsDot);
}

void FusibleProducers::FindArithmetic() {
  for (int i = 0; i < computation_.size(); ++i) {
    const Instruction* op = At(i);
    if (!values_[i]) continue;
    bool of_arrays = false, made = false;
    for (const Instruction* operand : op->operands()) {
      of_arrays |= operand->shape().rank() > 0;
      made |= made_[operand->index()];
    }
    made_[i] = made || (IsArithmetic(*op) && of_arrays);
  }
}

bool FusibleProducers::HasRows(const Instruction& op, const Instruction& reader) const {
  const Dims order = PhysicalOrder(reader.shape());
  const bool is_whole = order.size() > 1 && reader.shape().dim(order[1]) % tiling_.sublanes == 0;
  constexpr size_t kMostSteps = 64;
  std::vector<const Instruction*> todo = {&op};
  for (size_t next = 0; next < todo.size() && next < kMostSteps; ++next) {
    for (const Instruction* operand : todo[next]->operands()) {
      if (operand->shape().NumElements() != op.shape().NumElements() ||
          operand->opcode() == Opcode::kBroadcast)
        continue;
      if (!values_[operand->index()]) return operand->opcode() != Opcode::kConvolution || !is_whole;
      if (!absl::c_linear_search(todo, operand)) todo.push_back(operand);
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
    // Rows of tiles are images; where these are along lanes, features.
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

bool FusibleProducers::IsFolded(const Instruction& op) const {
  if (!made_[op.index()] || op.shape().rank() == 0) return false;
  const auto folds = [](const Instruction* user) {
    return user->opcode() == Opcode::kReduceWindow && IsRunningFold(*user);
  };
  return absl::c_any_of(users_.users(op), [&](const Instruction* user) {
    return folds(user) || (KeepsElements(*user) && absl::c_any_of(users_.users(*user), folds));
  });
}

bool FusibleProducers::MustBeWritten(const Instruction* op) const {
  const int i = op->index();
  // Blocks of a cumulative sum: what was before is added, then rows are brought together again, for whoever reads them.
  const auto is_copy = [](const Instruction* user) { return user->opcode() == Opcode::kCopy; };
  if (AddsToRunningFold(*op) && absl::c_any_of(users_.users(*op), is_copy)) return true;
  if (is_copy(op) && AddsToRunningFold(*op->operand(0))) return true;
  // What is made for several slices that are written, as for a roll.
  if (made_[i] && op->shape().rank() > 0 && !IsCutApart(*op)) {
    const int64_t pieces = absl::c_count_if(users_.users(*op), [&](const Instruction* user) {
      return user->opcode() == Opcode::kSlice &&
             absl::c_any_of(users_.users(*user), [&](const Instruction* reader) {
               return Places(*reader) && !JoinsTilesForDots(*reader);
             });
    });
    if (pieces > 1) return true;
  }
  // What is spread is put together with others for products as it lies in memory.
  if (op->opcode() == Opcode::kBroadcast && op->operand(0)->shape().rank() > 0 &&
      absl::c_any_of(users_.users(*op), [&](const Instruction* user) {
        return user->opcode() == Opcode::kConcatenate && JoinsTilesForProducts(*user);
      })) {
    return true;
  }
  if (IsFolded(*op) && !VectorsSpreadAlong(*op, 0).has_value()) return true;
  if (IsCutForSome(*op) || IsRowOfTiles(*op)) return true;
  // Quantized for products: a quarter of the bytes passes them again and again.
  if (made_[i] && (op->shape().element_type() == xla::S8 || op->shape().element_type() == xla::U8) &&
      op->shape().rank() > 0 && IsReadByProducts(*op, IsMatrixOp)) {
    return true;
  }
  // A left operand is made where it is read only of what lies as it does.
  const auto is_left = [&](const Instruction* user) {
    return user->opcode() == Opcode::kDot && user->operand(0) == op;
  };
  if (made_[i] && IsArithmetic(*op) && absl::c_any_of(users_.users(*op), is_left) &&
      IsMadeOfReshapedSpread(*op))
    return true;
  if (op->opcode() == Opcode::kCopy && IsCopied(*op)) return true;
  if (RepeatsInPlace(*op)) return true;
  // Put together and worked on for a product: pieces pass for themselves only as they are.
  if (op->opcode() == Opcode::kConcatenate && absl::c_any_of(users_.users(*op), [&](const Instruction* user) {
        return IsArithmetic(*user) && IsReadByProducts(*user, IsDot);
      })) {
    return true;
  }
  for (const Instruction* user : users_.users(*op)) {
    const int u = user->index();
    const bool is_placed =
        values_[i] && op->opcode() == Opcode::kConcatenate && !IsConcatenatedInPlace(*user);
    if (Places(*user) && op->shape().rank() > 0 && !is_placed && !IsPieceOfPieces(*op) &&
        (made_[i] || !JoinsTilesForDots(*user)) && !IsRoundedInPlace(*op, *user))
      return true;
    if (user->opcode() == Opcode::kBroadcast) {
      // Made once for many elements.
      if (made_[i] && op->shape().rank() > 0) return true;
    } else if (user->opcode() == Opcode::kReshape && made_[i] && values_[u] &&
               !SameButUnitDims(op->shape(), user->shape())) {
      for (const Instruction* reader : users_.users(*user)) {
        if (IsMatrixOp(reader->opcode())) return true;
        if (reader->opcode() != Opcode::kConvert) continue;
        for (const Instruction* second : users_.users(*reader)) {
          if (IsMatrixOp(second->opcode())) return true;
        }
      }
    }
    // Products take rows from another place as they are in memory.
    const Instruction* reader = made_[i] ? ReaderInOtherRows(*op, *user) : nullptr;
    if (reader != nullptr && HasRows(*op, *reader)) return true;
    // What is made from arguments for one reader is made in its order of rows; products and the like write in an order of their own.
    const bool in_order = MovesRows(*user) && users_.users(*op).size() == 1 && IsOfArguments(*op);
    const bool is_piece = Places(*user) && (is_placed || IsPieceOfPieces(*op));
    if (!values_[u] && !TakesProducers(*user, tiling_) && !in_order && !is_piece &&
        !IsFilledBy(*op, *user, tiling_))
      return true;
  }
  return op == computation_.root();
}

namespace {

bool LanesStay(const Instruction& op) {
  const Dims before = PhysicalOrder(op.operand(0)->shape()), after = PhysicalOrder(op.shape());
  return before.empty() || after.empty() || before[0] == after[0];
}

}  // namespace

bool IsRecomputed(const Instruction& op, const Tiling& tiling) {
  if (!op.shape().IsArray() || !op.control_predecessors().empty()) return false;
  switch (op.opcode()) {
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
      return false;
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kTranspose:
    case Opcode::kReverse:
      return true;
    case Opcode::kReshape:
      return KeepsRows(op.operand(0)->shape(), op.shape(), tiling) && !IsColumnToVector(op, tiling);
    case Opcode::kConvert:
      // A copy that rounds; what is made of spread vectors can be made in either order.
      return LanesStay(op) || VectorsSpreadAlong(op, 0).has_value();
    default:
      return IsElementwise(op);
  }
}

}  // namespace toroid
