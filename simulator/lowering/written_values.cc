#include "simulator/lowering/written_values.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/chip/movement.h"
#include "simulator/lowering/elementwise.h"
#include "simulator/lowering/tiling.h"

namespace toroid {
namespace {

// Ops that are computed anew for one reader.
constexpr int64_t kMostRecomputed = 64;
// Ops that a dot takes behind it.
constexpr int kLongestEpilogue = 48;
// A dot runs inside of the one that reads it if what it passes by fits: so many elements, which are 12 MB as bf16 and twice, of the 16
// MB that windows have.
constexpr double kNestedElements = 2.9e6;
// Instructions that are looked at to see whether one value is made from another.
constexpr int kMostSteps = 20000;
// What has fewer elements than this share of a value costs nothing to read for it.
constexpr double kSmallPart = 0.02;
// Groups that read a value are told apart up to this number.
constexpr size_t kMostReaders = 16;

bool HasNoTime(const Instruction& op) {
  const Opcode opcode = op.opcode();
  return opcode == Opcode::kParameter || opcode == Opcode::kConstant || opcode == Opcode::kTuple ||
         opcode == Opcode::kGetTupleElement || opcode == Opcode::kAfterAll || opcode == Opcode::kReplicaId ||
         opcode == Opcode::kPartitionId;
}

// Takes what its operands are made from into its own group.
bool TakesProducers(const Instruction& op) {
  return IsMatrixOp(op.opcode()) || op.opcode() == Opcode::kReduce || op.opcode() == Opcode::kReduceWindow ||
         op.opcode() == Opcode::kDynamicUpdateSlice;
}

bool IsArithmetic(const Instruction& op) {
  return IsElementwise(op) && op.opcode() != Opcode::kConvert && op.opcode() != Opcode::kCopy &&
         op.opcode() != Opcode::kBitcastConvert;
}

// Gives dimensions another order, or leaves some of one element out.
bool IsInPlace(const Instruction& op) {
  return op.opcode() == Opcode::kTranspose ||
         (op.opcode() == Opcode::kReshape && SameButUnitDims(op.operand(0)->shape(), op.shape()));
}

// Puts arrays beside each other or values around one: operands come from memory.
bool Places(const Instruction& op) { return op.opcode() == Opcode::kConcatenate || op.opcode() == Opcode::kPad; }

class Finder {
 public:
  Finder(const Computation& computation, const UserMap& users, const Tiling& tiling)
      : computation_(computation), users_(users), tiling_(tiling), n_(computation.size()), inside_(computation, &values_) {
    values_.written.assign(n_, false);
    values_.renamed.assign(n_, false);
    values_.owner.assign(n_, nullptr);
    values_.only_joined.assign(n_, false);
    values_.recomputed.assign(n_, false);
    taken_.resize(n_);
    is_nested_.assign(n_, false);
    for (int i = 0; i < n_; ++i) {
      values_.recomputed[i] = (IsRecomputed(*At(i), tiling) && !IsSlidOverReversed(*At(i))) || MovesTilesForDots(*At(i), tiling.lanes) ||
                              (Places(*At(i)) && !IsMadeInPlace(*At(i)) && IsReadElementwise(*At(i))) || JoinsTilesForProducts(*At(i)) ||
                              (MovesRows(*At(i)) && !IsResult(*At(i)));
    }
  }

  WrittenValues Run() {
    FindArithmetic();
    TakeEpilogues();
    TakeConverts();
    // What is read by fewer groups once others are written need not be written itself.
    Write();
    Write();
    TakeReductions();
    return std::move(values_);
  }

 private:
  const Instruction* At(int i) const { return computation_.instruction(i); }

  bool IsReadElementwise(const Instruction& op) const {
    const auto users = users_.users(op);
    return op.shape().IsArray() && op.control_predecessors().empty() && !users.empty() &&
           absl::c_all_of(users, [&](const Instruction* user) {
             const bool cuts = user->opcode() == Opcode::kSlice &&
                               !absl::c_any_of(users_.users(*user), [](const Instruction* reader) { return Places(*reader); });
             if (cuts || (Places(*user) && !IsMadeInPlace(*user))) return op.opcode() == Opcode::kConcatenate;
             return IsElementwise(*user) && user->shape().NumElements() == op.shape().NumElements();
           });
  }
  // What convolutions slide over is reversed before; kernels are read from their end.
  bool IsSlidOverReversed(const Instruction& op) const {
    return op.opcode() == Opcode::kReverse && absl::c_any_of(users_.users(op), [&](const Instruction* user) {
             return user->opcode() == Opcode::kConvolution && user->operand(0) == &op;
           });
  }
  // Only products read it, rounded or not.
  bool IsReadByProducts(const Instruction& op, bool (*is_product)(Opcode)) const {
    const auto takes = [&](const Instruction* user) { return is_product(user->opcode()); };
    const auto users = users_.users(op);
    return !users.empty() && absl::c_all_of(users, [&](const Instruction* user) {
      return takes(user) || (user->opcode() == Opcode::kConvert && !users_.users(*user).empty() &&
                             absl::c_all_of(users_.users(*user), takes));
    });
  }
  // To be placed beside others, with another slice of as many elements: they are made together.
  bool HasSibling(const Instruction& slice) const {
    const bool is_placed = absl::c_any_of(users_.users(slice), [](const Instruction* user) { return Places(*user); });
    return is_placed && absl::c_any_of(users_.users(*slice.operand(0)), [&](const Instruction* user) {
      return user != &slice && user->opcode() == Opcode::kSlice && user->shape().dims() == slice.shape().dims();
    });
  }
  // A copy in which the minor dimension stays: rows are read from where they are.
  bool MovesRows(const Instruction& op) const {
    if (op.opcode() != Opcode::kCopy || !op.control_predecessors().empty()) return false;
    const Dims before = PhysicalOrder(op.operand(0)->shape()), after = PhysicalOrder(op.shape());
    if (before.size() < 2 || after.size() < 2 || before[0] != after[0] || before == after) return false;
    return RowsOfTile(op.shape().dim(after[1]), ByteWidth(op.shape().element_type()), tiling_) == tiling_.sublanes;
  }
  bool IsResult(const Instruction& op) const {
    return &op == computation_.root() || absl::c_any_of(users_.users(op), [&](const Instruction* user) {
             return user == computation_.root() && user->opcode() == Opcode::kTuple;
           });
  }
  static bool IsDot(Opcode opcode) { return opcode == Opcode::kDot; }
  // A concatenation that only products read, of whole tiles.
  bool JoinsTilesForProducts(const Instruction& op) const {
    // What convolutions slide over may be put together in any place.
    if (op.opcode() == Opcode::kConcatenate && !IsMadeInPlace(op) && IsReadByProducts(op, IsConvolution)) return true;
    return JoinsTiles(op) && IsReadByProducts(op, IsMatrixOp);
  }
  static bool IsConvolution(Opcode opcode) { return opcode == Opcode::kConvolution; }
  bool JoinsTilesForDots(const Instruction& op) const { return JoinsTiles(op) && IsReadByProducts(op, IsDot); }
  bool JoinsTiles(const Instruction& op) const {
    if (op.opcode() != Opcode::kConcatenate || IsMadeInPlace(op)) return false;
    const Dims order = PhysicalOrder(op.shape());
    for (size_t i = 0; i < std::min<size_t>(2, order.size()); ++i) {
      if (order[i] != op.dimension()) continue;
      for (const Instruction* operand : op.operands()) {
        if (operand->shape().dim(order[i]) % (i == 0 ? tiling_.lanes : tiling_.sublanes) != 0) return false;
      }
    }
    return true;
  }
  // A reshape that only products read, and that cuts or joins rows in whole tiles: products take tiles in any order.
  bool MovesTilesForDots(const Instruction& op, int64_t lanes) const {
    if (op.opcode() != Opcode::kReshape) return false;
    for (const Shape& shape : {op.shape(), op.operand(0)->shape()}) {
      const Dims order = PhysicalOrder(shape);
      if (order.empty() || shape.dim(order[0]) % lanes != 0) return false;
    }
    return IsReadByProducts(op, IsDot);
  }

  // made_[i]: arithmetic on arrays has been done to make it, not counting what is written.
  void FindArithmetic() {
    made_.assign(n_, false);
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = At(i);
      if (!values_.recomputed[i]) continue;
      bool of_arrays = false, made = false;
      for (const Instruction* operand : op->operands()) {
        of_arrays |= operand->shape().rank() > 0;
        made |= made_[operand->index()];
      }
      made_[i] = made || (IsArithmetic(*op) && of_arrays);
    }
  }

  // Reductions are rounded as they are written.
  void TakeConverts() {
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = At(i);
      if (op->opcode() != Opcode::kReduce || !op->shape().IsArray() || users_.users(*op).size() != 1) continue;
      const Instruction* user = users_.users(*op)[0];
      if (user->opcode() != Opcode::kConvert || values_.owner[user->index()] != nullptr) continue;
      values_.owner[i] = values_.owner[user->index()] = user;
    }
  }
  // Sets values_.owner of what dots take behind them, to the last of it.
  void TakeEpilogues() {
    for (int i = n_ - 1; i >= 0; --i) {
      const bool is_pooling = At(i)->opcode() == Opcode::kReduceWindow && At(i)->shape().IsArray() && !IsRunningFold(*At(i));
      if (!IsMatrixOp(At(i)->opcode()) && !is_pooling) continue;
      if (values_.owner[i] != nullptr) continue;
      TakeEpilogue(At(i));
      if (!is_pooling) TakeNestedConvolution(At(i));
    }
    for (int i = n_ - 1; i >= 0; --i) {
      if (At(i)->opcode() == Opcode::kDot && At(i)->shape().rank() > 0 && !is_nested_[i]) TakeNestedDot(At(i));
    }
  }
  void TakeEpilogue(const Instruction* dot);
  void TakeNestedDot(const Instruction* dot);
  // The dot and what it takes behind it make that operand of `outer`.
  bool FitsInside(absl::Span<const Instruction* const> inner, const Instruction& outer, int side) const;
  // What only a convolution channel by channel reads is made in its windows.
  void TakeNestedConvolution(const Instruction* convolution);

  void Write();
  bool MustBeWritten(const Instruction* op) const;
  // Which groups would make each value anew, by index; some of them if there are many.
  void CountReaders();
  // Making it anew in each of its r readers reads k arrays of its size each time; writing it, k + 1 + r are moved.
  bool IsWorthWriting(const Instruction* op);
  // By index: written values on the longest way to each, itself included.
  std::vector<int> Levels() const;
  // Of the value, or of what is made from it elementwise, that do not wait for what is made from it by others.
  std::vector<const Instruction*> ReductionsOf(const Instruction* value, const std::vector<int>& level);
  void TakeReductions();
  // What `later` is made from, group by group, contains `value`, or is too much to look at.
  bool DependsOn(const Instruction* later, const Instruction* value) const;

  const Computation& computation_;
  const UserMap& users_;
  const Tiling tiling_;
  const int n_;
  WrittenValues values_;
  InsideOfGroups inside_;
  std::vector<bool> made_;
  // By index of the last value that a dot takes behind it: the dot and what it takes.
  std::vector<std::vector<const Instruction*>> taken_;
  std::vector<bool> is_nested_;  // By index of a dot: it runs inside of another one.
  std::vector<std::vector<int>> readers_;
  std::vector<std::vector<const Instruction*>> joined_;  // By index of a value: reductions in its group.
};

void Finder::TakeEpilogue(const Instruction* dot) {
  std::vector<const Instruction*> members = {dot};
  std::vector<int> open_users;  // Of members, how many users are no members yet.
  const auto distinct_users = [&](const Instruction* op) {
    std::vector<const Instruction*> distinct(users_.users(*op).begin(), users_.users(*op).end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    return distinct;
  };
  std::priority_queue<int, std::vector<int>, std::greater<int>> next;
  const auto open = [&](const Instruction* op) {
    const auto users = distinct_users(op);
    // A value that many read ends the group.
    open_users.push_back(users.size() > 16 ? 1 << 20 : static_cast<int>(users.size()));
    if (users.size() > 16) return;
    for (const Instruction* user : users) next.push(user->index());
  };
  open(dot);
  size_t best_size = 1;
  const Instruction* best = dot;
  // The narrowest of the values in which the group may end: that is written if several groups make the last one from it.
  size_t narrow_size = 1;
  while (!next.empty() && members.size() <= kLongestEpilogue) {
    const int i = next.top();
    while (!next.empty() && next.top() == i) next.pop();
    const Instruction* user = At(i);
    const bool in_place = IsInPlace(*user);
    if (!values_.recomputed[i] || values_.owner[i] != nullptr || user->shape().NumElements() != dot->shape().NumElements() ||
        !(IsElementwise(*user) || in_place) || user->opcode() == Opcode::kCopy) {
      break;
    }
    members.push_back(user);
    for (size_t m = 0; m + 1 < members.size(); ++m) {
      const auto operands = user->operands();
      if (std::find(operands.begin(), operands.end(), members[m]) != operands.end()) --open_users[m];
    }
    open(user);
    size_t leaving = 0;
    for (const int users : open_users) leaving += users > 0;
    const bool is_root = user == computation_.root();
    // What is but another name of the result ends no group.
    if (leaving + (is_root && open_users.back() == 0) == 1 && (open_users.back() > 0 || is_root) && !in_place) {
      best_size = members.size();
      best = user;
      if (ByteWidth(user->shape().element_type()) <= ByteWidth(members[narrow_size - 1]->shape().element_type())) {
        narrow_size = best_size;
      }
    }
    if (is_root) break;
  }
  if (narrow_size < best_size && distinct_users(best).size() > 1 && !MustBeWritten(best)) {
    best_size = narrow_size;
    best = members[narrow_size - 1];
  }
  members.resize(best_size);
  for (const Instruction* member : members) values_.owner[member->index()] = best;
  if (dot->opcode() == Opcode::kDot) taken_[best->index()] = std::move(members);
}

// Either rows of the inner product pass and everything else stays, or what the outer one contracts passes; along a batch of the inner
// one windows are cut at no cost.
bool Finder::FitsInside(absl::Span<const Instruction* const> inner, const Instruction& outer, int side) const {
  const DotView in(*inner[0]), out(outer);
  const Shape &own = outer.operand(side)->shape(), &other = outer.operand(1 - side)->shape();
  // Rows, columns and one more dimension; under a batch no more.
  int64_t sized = 0;
  for (int64_t d = static_cast<int64_t>(in.lhs_batch().size()); d < inner[0]->shape().rank(); ++d) sized += inner[0]->shape().dim(d) > 1;
  if (sized > (in.lhs_batch().empty() ? 3 : 2)) return false;
  // Dimensions of the operand as those of what the inner one makes.
  Dims dims(own.rank());
  for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int64_t>(d);
  for (const Instruction* value = outer.operand(side); value != inner[0];) {
    const Instruction* from = nullptr;
    for (const Instruction* operand : value->operands()) {
      if (absl::c_linear_search(inner, operand) || value->num_operands() == 1) from = operand;
    }
    if (from == nullptr) return false;
    const Dims before = SizedDims(from->shape()), after = SizedDims(value->shape());
    for (int64_t& d : dims) {
      if (d >= 0 && value->opcode() == Opcode::kTranspose) d = value->dimensions()[d];
      if (d < 0 || value->opcode() != Opcode::kReshape) continue;
      const auto place = absl::c_find(after, d);
      d = place == after.end() || before.size() != after.size() ? -1 : before[place - after.begin()];
    }
    value = from;
  }
  const auto batch = side == 0 ? out.lhs_batch() : out.rhs_batch();
  const auto contracting = side == 0 ? out.lhs_contracting() : out.rhs_contracting();
  double rows = 1, contracted = 1, bound = 1;
  for (int64_t d = 0; d < own.rank(); ++d) {
    const auto size = static_cast<double>(own.dim(d));
    const bool is_batch = absl::c_linear_search(batch, d), is_contracted = absl::c_linear_search(contracting, d);
    const bool is_cut = dims[d] >= 0 && dims[d] < static_cast<int64_t>(in.lhs_batch().size());
    // Both have the same batch.
    if (is_batch && !is_cut) return false;
    if (is_batch || is_contracted) bound *= size;
    if (!is_batch && !is_cut) (is_contracted ? contracted : rows) *= size;
  }
  if (bound == 0) return false;
  const double columns = static_cast<double>(other.NumElements()) / bound;
  double inside = 1;
  for (const int64_t d : in.lhs_contracting()) inside *= static_cast<double>(inner[0]->operand(0)->shape().dim(d));
  return (inside + columns) * std::min(rows, contracted) <= kNestedElements;
}

void Finder::TakeNestedDot(const Instruction* dot) {
  for (int side = 0; side < dot->num_operands(); ++side) {
    // Back through what only this dot reads, to where another one ends.
    const Instruction* value = dot->operand(side);
    while (values_.owner[value->index()] == nullptr && values_.recomputed[value->index()] && users_.users(*value).size() == 1 &&
           value->num_operands() == 1 && (value->opcode() != Opcode::kReshape || SameButUnitDims(value->operand(0)->shape(), value->shape()))) {
      value = value->operand(0);
    }
    const std::vector<const Instruction*>& members = taken_[value->index()];
    if (members.empty() || users_.users(*value).size() != 1 || values_.owner[dot->index()] == value) continue;
    // What two products meet in, as with a gate, is written.
    const bool meets = absl::c_any_of(members, [&](const Instruction* member) {
      return member != members[0] && absl::c_any_of(member->operands(), [&](const Instruction* operand) {
               while (values_.owner[operand->index()] == nullptr && operand->num_operands() == 1) operand = operand->operand(0);
               const Instruction* end = values_.owner[operand->index()];
               return end == operand && end != value && !taken_[end->index()].empty() && users_.users(*end).size() == 1;
             });
    });
    if (meets || !FitsInside(members, *dot, side)) continue;
    for (const Instruction* member : members) values_.owner[member->index()] = values_.owner[dot->index()];
    // Only one level.
    is_nested_[members[0]->index()] = true;
    return;
  }
}

void Finder::TakeNestedConvolution(const Instruction* convolution) {
  if (convolution->opcode() != Opcode::kConvolution) return;
  const ConvolutionView view(*convolution);
  const Shape& input = convolution->operand(0)->shape();
  if (view.input_feature() < 0 || view.input_feature() >= input.rank()) return;
  if (view.feature_groups() < 2 || view.feature_groups() != input.dim(view.input_feature())) return;
  const Instruction* value = convolution->operand(0);
  while (values_.recomputed[value->index()] && IsElementwise(*value) && users_.users(*value).size() == 1) {
    // Back through the operand that is not spread from something smaller.
    const Instruction* from = nullptr;
    for (const Instruction* operand : value->operands()) {
      if (operand->opcode() == Opcode::kBroadcast) continue;
      if (from != nullptr) return;
      from = operand;
    }
    if (from == nullptr) return;
    value = from;
  }
  if (value->opcode() != Opcode::kConvolution || users_.users(*value).size() != 1 || value == convolution) return;
  const Instruction*& owner = values_.owner[value->index()];
  if (owner != nullptr && owner != value) return;
  owner = values_.owner[convolution->index()] != nullptr ? values_.owner[convolution->index()] : convolution;
}

bool Finder::MustBeWritten(const Instruction* op) const {
  const int i = op->index();
  // What is made for several slices that are written, as for a roll.
  if (made_[i] && op->shape().rank() > 0) {
    const int64_t pieces = absl::c_count_if(users_.users(*op), [&](const Instruction* user) {
      return user->opcode() == Opcode::kSlice && absl::c_any_of(users_.users(*user), [&](const Instruction* reader) {
               return Places(*reader) && !JoinsTilesForDots(*reader);
             });
    });
    if (pieces > 1) return true;
  }
  // Quantized for products: a quarter of the bytes passes them again and again.
  if (made_[i] && (op->shape().element_type() == xla::S8 || op->shape().element_type() == xla::U8) && op->shape().rank() > 0 &&
      IsReadByProducts(*op, IsMatrixOp)) {
    return true;
  }
  for (const Instruction* user : users_.users(*op)) {
    const int u = user->index();
    const bool is_placed = values_.recomputed[i] && op->opcode() == Opcode::kConcatenate && !IsMadeInPlace(*user);
    if (Places(*user) && op->shape().rank() > 0 && !JoinsTilesForDots(*user) && !is_placed) return true;
    if (user->opcode() == Opcode::kBroadcast) {
      // Made once for many elements.
      if (made_[i] && op->shape().rank() > 0) return true;
    } else if (user->opcode() == Opcode::kReshape && made_[i] && values_.recomputed[u] &&
               !SameButUnitDims(op->shape(), user->shape())) {
      for (const Instruction* reader : users_.users(*user)) {
        if (IsMatrixOp(reader->opcode())) return true;
        if (reader->opcode() != Opcode::kConvert) continue;
        for (const Instruction* second : users_.users(*reader)) {
          if (IsMatrixOp(second->opcode())) return true;
        }
      }
    }
    if (!values_.recomputed[u] && !TakesProducers(*user)) return true;
  }
  return op == computation_.root();
}

void Finder::CountReaders() {
  readers_.assign(n_, {});
  for (int i = n_ - 1; i >= 0; --i) {
    const Instruction* op = At(i);
    std::vector<int>& groups = readers_[i];
    const auto add = [&groups](int group) {
      if (groups.size() < kMostReaders && !absl::c_linear_search(groups, group)) groups.push_back(group);
    };
    if (op == computation_.root()) add(i);
    for (const Instruction* user : users_.users(*op)) {
      const int u = user->index();
      const Instruction* end = values_.owner[u] != nullptr ? values_.owner[u] : user;
      if (values_.owner[u] == nullptr && values_.recomputed[u] && !values_.written[u] && !MustBeWritten(user)) {
        for (const int group : readers_[u]) add(group);
      } else {
        // A result of the program is its own group.
        add(user == computation_.root() && user->opcode() == Opcode::kTuple ? i : end->index());
      }
    }
  }
}

bool Finder::IsWorthWriting(const Instruction* op) {
  const auto readers = static_cast<double>(readers_[op->index()].size());
  if (!made_[op->index()] || op->shape().rank() == 0 || readers < 2) return false;
  double arrays = 0;
  const auto size = static_cast<double>(op->shape().NumElements());
  inside_.ForLeaves(op, [&](const Instruction* leaf) {
    const double part = leaf->shape().IsArray() ? static_cast<double>(leaf->shape().NumElements()) / size : 0;
    if (part > kSmallPart) arrays += std::min(1.0, part);
  });
  return arrays * readers > arrays + 1 + readers;
}

void Finder::Write() {
  std::vector<int64_t> cost(n_, 0);
  CountReaders();
  std::vector<bool> ends_product(n_, false);
  for (int i = 0; i < n_; ++i) {
    if (values_.owner[i] != nullptr && IsMatrixOp(At(i)->opcode())) ends_product[values_.owner[i]->index()] = true;
  }
  for (int i = 0; i < n_; ++i) {
    const Instruction* op = At(i);
    if (HasNoTime(*op)) continue;
    values_.written[i] = values_.renamed[i] = false;
    if (values_.owner[i] != nullptr) {
      values_.written[i] = values_.owner[i] == op;
      continue;
    }
    if (!values_.recomputed[i]) {
      values_.written[i] = true;
      continue;
    }
    const bool is_name = op->opcode() == Opcode::kTranspose || op->opcode() == Opcode::kReshape ||
                         (IsFirstOfTiles(*op, tiling_) && !HasSibling(*op));
    if (is_name && values_.IsInMemory(*op->operand(0))) {
      values_.renamed[i] = true;
      continue;
    }
    cost[i] = 1;
    for (const Instruction* operand : op->operands()) {
      if (!values_.written[operand->index()]) cost[i] = std::min<int64_t>(cost[i] + cost[operand->index()], 1 << 20);
    }
    // Counted once for each way to them so far.
    if (cost[i] > kMostRecomputed) cost[i] = inside_.CountOps(op, 16 * kMostRecomputed + 1);
    // Scalars and what is made from constants alone go along.
    // For one group it is made once, however long that takes; but what a product reads passes again and again.
    const bool is_anew = readers_[i].size() > 1 || (users_.users(*op).size() > 1 && absl::c_any_of(readers_[i], [&](int group) {
                           return IsMatrixOp(At(group)->opcode()) || ends_product[group];
                         }));
    const bool is_long = cost[i] > kMostRecomputed && made_[i] && op->shape().rank() > 0 && is_anew;
    values_.written[i] = MustBeWritten(op) || is_long || cost[i] > 16 * kMostRecomputed || IsWorthWriting(op);
    if (values_.written[i]) cost[i] = 0;
  }
}

std::vector<int> Finder::Levels() const {
  std::vector<int> level(n_, 0);
  for (int i = 0; i < n_; ++i) {
    const Instruction* op = At(i);
    for (const Instruction* operand : op->operands()) level[i] = std::max(level[i], level[operand->index()]);
    for (const Instruction* before : op->control_predecessors()) level[i] = std::max(level[i], level[before->index()]);
    if (values_.written[i]) ++level[i];
  }
  return level;
}

bool Finder::DependsOn(const Instruction* later, const Instruction* value) const {
  std::vector<bool> seen(n_, false);
  std::vector<const Instruction*> todo = {later};
  const auto visit = [&](const Instruction* op) {
    if (seen[op->index()]) return;
    seen[op->index()] = true;
    todo.push_back(op);
  };
  for (int steps = 0; !todo.empty(); ++steps) {
    if (steps > kMostSteps) return true;
    const Instruction* op = todo.back();
    todo.pop_back();
    if (op == value) return true;
    for (const Instruction* operand : op->operands()) visit(operand);
    for (const Instruction* before : op->control_predecessors()) visit(before);
    // A group is made as one.
    const Instruction* owner = values_.owner[op->index()];
    if (owner != nullptr && owner != op) visit(owner);
    for (const Instruction* reduction : joined_[op->index()]) visit(reduction);
  }
  return false;
}

std::vector<const Instruction*> Finder::ReductionsOf(const Instruction* value, const std::vector<int>& level) {
  std::vector<const Instruction*> found, todo = {value};
  for (size_t next = 0; next < todo.size() && next < 16; ++next) {
    for (const Instruction* user : users_.users(*todo[next])) {
      const int u = user->index();
      if (user->opcode() == Opcode::kReduce) {
        // From constants; of one array, or of it and numbers of its elements.
        const int arrays = user->num_operands() / 2;
        const bool from_constants = absl::c_all_of(user->operands().subspan(arrays), [](const Instruction* init) {
          return init->opcode() == Opcode::kConstant;
        });
        if (arrays > 2 || !from_constants || values_.owner[u] != nullptr || absl::c_linear_search(found, user)) continue;
        bool waits = false;
        inside_.ForLeaves(user, [&](const Instruction* leaf) {
          const Instruction* source = values_.SourceOf(leaf);
          if (source == value || level[leaf->index()] < level[value->index()]) return;
          // The value can be made later, if this one is not made from it.
          waits |= DependsOn(source, value);
        });
        if (!waits) found.push_back(user);
      } else if (values_.recomputed[u] && !values_.written[u] && values_.owner[u] == nullptr &&
                 (IsElementwise(*user) || IsInPlace(*user) || user->opcode() == Opcode::kReshape) &&
                 user->shape().NumElements() == value->shape().NumElements()) {
        todo.push_back(user);
      }
    }
  }
  return found;
}

void Finder::TakeReductions() {
  const std::vector<int> level = Levels();
  joined_.assign(n_, {});
  for (int i = 0; i < n_; ++i) {
    const Instruction* value = At(i);
    if (!values_.written[i] || !value->shape().IsArray()) continue;
    const bool of_product = values_.owner[i] == value && !(value->opcode() == Opcode::kConvert && values_.recomputed[i] &&
                                                    value->operand(0)->opcode() == Opcode::kReduce);
    if (!of_product && !(values_.recomputed[i] && made_[i] && value->shape().rank() > 0)) continue;
    int direct = 0;
    const Instruction* first = nullptr;
    for (const Instruction* reduction : ReductionsOf(value, level)) {
      if (first != nullptr && (reduction->operand(0) != value || first->operand(0) != value ||
                               (reduction->dimensions() == first->dimensions() && reduction->num_operands() == first->num_operands()))) {
        continue;
      }
      values_.owner[reduction->index()] = value;
      joined_[i].push_back(reduction);
      direct += reduction->operand(0) == value;
      // With the first one others of what is written: along other dimensions, or the largest with its place.
      if (of_product && first == nullptr) first = reduction;
    }
    if (direct > 0 && static_cast<int>(users_.users(*value).size()) == direct && value != computation_.root()) {
      values_.only_joined[i] = true;
    }
  }
}

}  // namespace

bool WrittenValues::IsInMemory(const Instruction& value) const {
  return written[value.index()] || renamed[value.index()] || HasNoTime(value);
}

int64_t InsideOfGroups::CountOps(const Instruction* op, int64_t limit) {
  ++visit_;
  std::vector<const Instruction*> found = {op};
  for (size_t next = 0; next < found.size() && static_cast<int64_t>(found.size()) < limit; ++next) {
    for (const Instruction* operand : found[next]->operands()) {
      if (IsFirst(*operand) && !values_.IsInMemory(*operand)) found.push_back(operand);
    }
  }
  return static_cast<int64_t>(found.size());
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
      return KeepsTiles(op.operand(0)->shape(), op.shape(), tiling.sublanes);
    case Opcode::kConvert:
      // A copy that rounds.
      return LanesStay(op);
    default:
      return IsElementwise(op);
  }
}

WrittenValues FindWrittenValues(const Computation& computation, const UserMap& users, const Tiling& tiling) {
  return Finder(computation, users, tiling).Run();
}

}  // namespace toroid
