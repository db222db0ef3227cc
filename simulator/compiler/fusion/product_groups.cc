#include "simulator/compiler/fusion/product_groups.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/rewrites/packed_predicates_pass.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/windows.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// It is that instruction or stands behind it, and is not made from an argument or constant alone.
bool MayWaitFor(const Instruction& value, int index) {
  const Instruction* from = &value;
  while (from->index() >= index && from->num_operands() == 1) from = from->operand(0);
  return from->index() >= index && from->num_operands() > 0;
}

}  // namespace

bool IsHeldBesideProducts(const Shape& shape) {
  return !shape.IsArray() || shape.NumElements() <= Thresholds().held_elements() ||
         !IsOn(Rule::kHeldReductions);
}

ProductGroups::ProductGroups(const Computation& computation, const UserMap& users,
                             const FusibleProducers& made)
    : computation_(computation),
      users_(users),
      made_(made),
      n_(computation.size()),
      owner_(n_, nullptr),
      taken_(n_),
      slid_(n_),
      is_nested_(n_, false),
      holds_(n_, false) {}

std::vector<const Instruction*> ProductGroups::Owners() && {
  for (int i = n_ - 1; i >= 0; --i) {
    const bool is_pooling = At(i)->opcode() == Opcode::kReduceWindow && At(i)->shape().IsArray() &&
                            !IsRunningFold(*At(i)) && Decides(Rule::kPoolingTakesReaders, *At(i));
    if (!IsMatrixOp(At(i)->opcode()) && !is_pooling) continue;
    if (owner_[i] != nullptr) continue;
    TakeEpilogue(At(i));
    if (!is_pooling && IsOn(Rule::kNestedChannels)) TakeNestedConvolution(At(i));
  }
  for (int i = 0; i < n_; ++i) {
    if (At(i)->opcode() == Opcode::kDot && At(i)->shape().rank() > 0 && IsOn(Rule::kNestedDots))
      TakeNestedDot(At(i));
  }
  for (int i = n_ - 1; i >= 0; --i) {
    if (At(i)->opcode() == Opcode::kConvolution && !is_nested_[i]) TakeConvolutionBefore(At(i));
  }
  return std::move(owner_);
}

std::vector<const Instruction*> ProductGroups::UsersBehind(const Instruction& op, int* first_words) const {
  const auto is_beside = [](const Instruction* user) {
    return PacksPredicates(*user) && IsHeldBesideProducts(user->shape());
  };
  std::vector<const Instruction*> distinct(users_.users(op).begin(), users_.users(op).end());
  for (const Instruction* user : distinct) {
    if (is_beside(user)) *first_words = std::min(*first_words, user->index());
  }
  std::erase_if(distinct, is_beside);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  return distinct;
}

void ProductGroups::TakeEpilogue(const Instruction* dot) {
  std::vector<const Instruction*> members = {dot};
  std::vector<int> open_users;  // Of members, how many users are no members yet.
  // Words of predicates are made beside the result, which then takes nothing that is made from them.
  int first_words = n_;
  const auto distinct_users = [&](const Instruction* op) { return UsersBehind(*op, &first_words); };
  std::priority_queue<int, std::vector<int>, std::greater<int>> next;
  const auto most_readers = static_cast<size_t>(Thresholds().most_readers_in_epilogue());
  const auto open = [&](const Instruction* op) {
    const auto users = distinct_users(op);
    // A value that many read ends the group.
    const bool is_open = users.size() <= most_readers;
    open_users.push_back(is_open ? static_cast<int>(users.size()) : std::numeric_limits<int>::max());
    if (!is_open) return;
    for (const Instruction* user : users) next.push(user->index());
  };
  open(dot);
  size_t best_size = 1;
  const Instruction* best = dot;
  // The narrowest of the values in which the group may end: that is written if several groups make the last one from it.
  size_t narrow_size = 1;
  const auto longest = static_cast<size_t>(Thresholds().longest_epilogue());
  while (!next.empty() && members.size() <= longest && IsOn(Rule::kProductsTakeReaders)) {
    const int i = next.top();
    while (!next.empty() && next.top() == i) next.pop();
    const Instruction* user = At(i);
    const bool in_place = IsInPlace(*user);
    if (absl::c_any_of(user->operands(), [&](const Instruction* operand) {
          return !absl::c_linear_search(members, operand) && MayWaitFor(*operand, first_words);
        })) {
      continue;
    }
    // A reshape that is still there has readers that lie as it does.
    if (user->opcode() == Opcode::kReshape && !SameButUnitDims(user->operand(0)->shape(), user->shape()))
      break;
    if (!IsRecomputed(*user) || owner_[i] != nullptr ||
        user->shape().NumElements() != dot->shape().NumElements() || !(IsElementwise(*user) || in_place) ||
        user->opcode() == Opcode::kCopy) {
      break;
    }
    Decides(Rule::kProductsTakeReaders, *user);
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
    if (leaving + (is_root && open_users.back() == 0) == 1 && (open_users.back() > 0 || is_root) &&
        !in_place) {
      best_size = members.size();
      best = user;
      if (ByteWidth(user->shape().element_type()) <=
          ByteWidth(members[narrow_size - 1]->shape().element_type())) {
        narrow_size = best_size;
      }
    }
    if (is_root) break;
  }
  // What was rounded is widened where it is read.
  const bool widens = best->opcode() == Opcode::kConvert && members[narrow_size - 1] == best->operand(0);
  if (narrow_size < best_size && (distinct_users(best).size() > 1 || widens) && !made_.MustBeWritten(best) &&
      Decides(Rule::kProductsEndNarrow, *members[narrow_size - 1])) {
    best_size = narrow_size;
    best = members[narrow_size - 1];
  }
  members.resize(best_size);
  for (const Instruction* member : members) owner_[member->index()] = best;
  if (dot->opcode() == Opcode::kDot) taken_[best->index()] = std::move(members);
  if (dot->opcode() == Opcode::kConvolution) slid_[best->index()] = std::move(members);
}

// Its lanes are the only free dimension of the right operand, and its rows those of the left operand.
bool ProductGroups::KeepsRows(const Instruction& dot) {
  const DotView view(dot);
  const Shape& lhs = dot.operand(0)->shape();
  Dims free;  // Of the left operand, in the order of the result.
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (!absl::c_linear_search(view.lhs_batch(), d) && !absl::c_linear_search(view.lhs_contracting(), d))
      free.push_back(d);
  }
  const Dims order = PhysicalOrder(dot.shape()), from = PhysicalOrder(lhs);
  const int64_t batch = static_cast<int64_t>(view.lhs_batch().size()),
                rows = order.size() < 2 ? -1 : order[1] - batch;
  if (rows < 0 || rows >= static_cast<int64_t>(free.size()) ||
      batch + static_cast<int64_t>(free.size()) + 1 != dot.shape().rank())
    return false;
  return order[0] + 1 == dot.shape().rank() && from.size() > 1 && from[1] == free[rows];
}

// Either rows of the inner product pass and everything else stays, or what the outer one contracts passes; along a batch of the
// inner one windows are cut at no cost.
bool ProductGroups::FitsInside(absl::Span<const Instruction* const> inner, const Instruction& outer,
                               int side) const {
  const DotView in(*inner[0]), out(outer);
  const Shape &own = outer.operand(side)->shape(), &other = outer.operand(1 - side)->shape();
  // Dimensions of more than one element, batches left out.
  int64_t sized = 0;
  for (int64_t d = static_cast<int64_t>(in.lhs_batch().size()); d < inner[0]->shape().rank(); ++d)
    sized += inner[0]->shape().dim(d) > 1;
  const Dims order = PhysicalOrder(inner[0]->shape());
  const bool whole = order.size() > 1 && inner[0]->shape().dim(order[1]) % made_.tiling().sublanes == 0;
  const CompilerSpec& most = Thresholds();
  const bool has_many = sized > (!in.lhs_batch().empty() ? most.nested_dims_of_batch()
                                 : whole                 ? most.nested_dims_of_whole_rows()
                                                         : most.nested_dims());
  if (has_many && Decides(Rule::kNestedOfFewDims, outer)) return false;
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
  // Of images only features pass, in the rows in which they come.
  if (sized > most.nested_dims() &&
      (contracting.size() != 1 || dims[contracting[0]] != order[0] || !KeepsRows(*inner[0])) &&
      Decides(Rule::kNestedImagesPassFeatures, outer))
    return false;
  double rows = 1, contracted = 1, bound = 1;
  for (int64_t d = 0; d < own.rank(); ++d) {
    const auto size = static_cast<double>(own.dim(d));
    const bool is_batch = absl::c_linear_search(batch, d),
               is_contracted = absl::c_linear_search(contracting, d);
    const bool is_cut = dims[d] >= 0 && dims[d] < static_cast<int64_t>(in.lhs_batch().size());
    // Both have the same batch, or tiles of the inner one come batch by batch.
    const bool is_in_tile = order.size() < 2 || dims[d] == order[0] || dims[d] == order[1];
    const bool is_rows = dims[d] >= 0 && !is_in_tile && in.lhs_batch().empty() && !is_contracted;
    if (is_batch && !is_cut && !is_rows && Decides(Rule::kNestedOfOneBatch, outer)) return false;
    if (is_batch || is_contracted) bound *= size;
    if (!is_batch && !is_cut) (is_contracted ? contracted : rows) *= size;
  }
  if (bound == 0) return false;
  const double columns = static_cast<double>(other.NumElements()) / bound;
  // Lanes of what the outer one makes of rows of several dimensions are those of its other operand, unless these fill no tile.
  const Dims result = PhysicalOrder(outer.shape());
  const int64_t free_end =
      outer.operand(0)->shape().rank() - static_cast<int64_t>(out.lhs_contracting().size());
  const bool is_turned =
      out.lhs_batch().empty() && result.size() > 2 && (result[0] < free_end) == (side == 0);
  if (is_turned && columns >= static_cast<double>(made_.tiling().lanes) &&
      Decides(Rule::kNestedKeepsLanes, outer))
    return false;
  // Rows are widened for another product: that one takes what is wide.
  const Instruction* end = owner_[outer.index()] != nullptr ? owner_[outer.index()] : &outer;
  while (users_.users(*end).size() == 1 && users_.users(*end)[0]->opcode() == Opcode::kConvert)
    end = users_.users(*end)[0];
  const bool is_read_by_dot =
      users_.users(*end).size() == 1 && users_.users(*end)[0]->opcode() == Opcode::kDot;
  if (columns > most.widened_times() * contracted && is_read_by_dot &&
      Decides(Rule::kWidenedForAnother, outer))
    return false;
  double inside = 1;
  for (const int64_t d : in.lhs_contracting())
    inside *= static_cast<double>(inner[0]->operand(0)->shape().dim(d));
  // Few rows stay while weights pass, wide as they were.
  const double fits = rows < contracted
                          ? most.nested_row_bytes() / ByteWidth(inner[0]->operand(0)->shape().element_type())
                          : most.nested_elements();
  return (inside + columns) * std::min(rows, contracted) <= fits || !Decides(Rule::kNestedFits, outer);
}

// As with a gate.
bool ProductGroups::MeetsAnother(absl::Span<const Instruction* const> inner) const {
  return absl::c_any_of(inner.subspan(1), [&](const Instruction* member) {
    return absl::c_any_of(member->operands(), [&](const Instruction* operand) {
      while (owner_[operand->index()] == nullptr && operand->num_operands() == 1)
        operand = operand->operand(0);
      const Instruction* end = owner_[operand->index()];
      return end == operand && end != owner_[inner[0]->index()] && !taken_[end->index()].empty() &&
             users_.users(*end).size() == 1;
    });
  });
}

void ProductGroups::TakeNestedDot(const Instruction* dot) {
  for (int side = 0; side < dot->num_operands(); ++side) {
    // Back through what only this dot reads, to where another one ends.
    const Instruction* value = dot->operand(side);
    while (owner_[value->index()] == nullptr && IsRecomputed(*value) && users_.users(*value).size() == 1 &&
           value->num_operands() == 1 &&
           (value->opcode() != Opcode::kReshape ||
            SameButUnitDims(value->operand(0)->shape(), value->shape()))) {
      value = value->operand(0);
    }
    const std::vector<const Instruction*>& members = taken_[value->index()];
    if (members.empty() || users_.users(*value).size() != 1 || owner_[dot->index()] == value) continue;
    if (holds_[members[0]->index()] || (MeetsAnother(members) && Decides(Rule::kGatesStayApart, *dot)) ||
        !FitsInside(members, *dot, side))
      continue;
    Decides(Rule::kNestedDots, *dot);
    for (const Instruction* member : members) owner_[member->index()] = owner_[dot->index()];
    // Only one level.
    is_nested_[members[0]->index()] = true;
    holds_[dot->index()] = true;
    return;
  }
}

void ProductGroups::TakeNestedConvolution(const Instruction* convolution) {
  if (convolution->opcode() != Opcode::kConvolution) return;
  const ConvolutionView view(*convolution);
  const Shape& input = convolution->operand(0)->shape();
  if (view.input_feature() < 0 || view.input_feature() >= input.rank()) return;
  if (view.feature_groups() < 2 || view.feature_groups() != input.dim(view.input_feature())) return;
  const Instruction* value = convolution->operand(0);
  while (IsRecomputed(*value) && IsElementwise(*value) && users_.users(*value).size() == 1) {
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
  if (value->opcode() != Opcode::kConvolution || users_.users(*value).size() != 1 || value == convolution)
    return;
  const Instruction*& owner = owner_[value->index()];
  if (owner != nullptr && owner != value) return;
  Decides(Rule::kNestedChannels, *convolution);
  owner = owner_[convolution->index()] != nullptr ? owner_[convolution->index()] : convolution;
}

bool ProductGroups::IsMadeInWindows(const Instruction& inner, const Instruction& outer) const {
  const auto stays_along_lanes = [](const Instruction& op) {
    const ConvolutionView view(op);
    const Dims lies = PhysicalOrder(op.operand(0)->shape()), made = PhysicalOrder(op.shape());
    return !lies.empty() && !made.empty() && lies[0] == view.input_batch() && made[0] == view.output_batch();
  };
  if (!stays_along_lanes(inner) || !stays_along_lanes(outer) || IsKernelGradient(inner) ||
      IsKernelGradient(outer))
    return false;
  const Shape& weights = inner.operand(1)->shape();
  if (static_cast<double>(weights.NumElements() + outer.operand(1)->shape().NumElements()) >
      Thresholds().nested_window_weights())
    return false;
  if (weights.dim(ConvolutionView(inner).kernel_input_feature()) < made_.tiling().sublanes) return false;
  const bool strides =
      absl::c_any_of(outer.attrs().window().dimensions(), [](const auto& d) { return d.stride() > 1; });
  return strides || ByteWidth(weights.element_type()) >= 4 ||
         weights.dim(ConvolutionView(inner).kernel_output_feature()) <= Thresholds().nested_features();
}

void ProductGroups::TakeConvolutionBefore(const Instruction* outer) {
  const ConvolutionView view(*outer);
  const Shape& kernel = outer->operand(1)->shape();
  const bool is_pointwise =
      absl::c_all_of(view.kernel_spatial(), [&](int64_t d) { return kernel.dim(d) == 1; });
  const auto slides = [](const Instruction& op) {
    const ConvolutionView of(op);
    if (of.feature_groups() != 1 || of.batch_groups() != 1) return false;
    return absl::c_all_of(op.attrs().window().dimensions(),
                          [](const auto& d) { return d.base_dilation() <= 1 && d.window_dilation() <= 1; });
  };
  const auto stays = [](const auto& d) {
    return d.stride() == 1 && d.padding_low() == 0 && d.padding_high() == 0;
  };
  if (!slides(*outer) || (is_pointwise && !absl::c_all_of(outer->attrs().window().dimensions(), stays)))
    return;
  const Instruction* value = outer->operand(0);
  while (owner_[value->index()] == nullptr && value->opcode() == Opcode::kConvert &&
         users_.users(*value).size() == 1)
    value = value->operand(0);
  const std::vector<const Instruction*>& members = slid_[value->index()];
  if (members.empty() || owner_[value->index()] != value || users_.users(*value).size() != 1 ||
      owner_[outer->index()] == value)
    return;
  if (!slides(*members[0])) return;
  const double weights =
      static_cast<double>(members[0]->operand(1)->shape().NumElements() + kernel.NumElements());
  if (is_pointwise ? weights > Thresholds().nested_weights() : !IsMadeInWindows(*members[0], *outer)) return;
  if (holds_[members[0]->index()]) return;
  if (!Decides(is_pointwise ? Rule::kNestedBeforePointwise : Rule::kNestedInWindows, *outer)) return;
  for (const Instruction* member : members) owner_[member->index()] = owner_[outer->index()];
  is_nested_[members[0]->index()] = true;
  holds_[outer->index()] = true;
}

}  // namespace toroid
