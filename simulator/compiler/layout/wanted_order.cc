#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/layout/preferred_order.h"
#include "simulator/program/dim_orders.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/walk.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// Reductions alone read `reshape` and what is made of it elementwise with vectors: they are done before it.
bool IsOnlyReduced(const Instruction& reshape, const UserMap& users) {
  constexpr WalkLimit kReadersUpToSums = {"readers up to reductions", 64};
  Walk walk(&reshape, kReadersUpToSums);
  while (const Instruction* at = walk.Next()) {
    if (at == reshape.computation()->root()) return false;
    for (const Instruction* user : users.users(*at)) {
      if (user->opcode() == Opcode::kReduce || walk.Has(user)) continue;
      if (!IsElementwise(*user)) return false;
      for (const Instruction* operand : user->operands()) {
        const bool is_spread =
            operand->opcode() == Opcode::kBroadcast || operand->opcode() == Opcode::kConstant;
        if (!is_spread && !walk.Has(operand)) return false;
      }
      walk.Add(user);
    }
  }
  return !walk.is_stopped();
}

// Looks at what follows a value, nearest first, for the order of its pair of dimensions.
class OrderSearch {
 public:
  OrderSearch(const Instruction* value, const Dims& pair, const LayoutState& state, bool for_window)
      : value_(*value), pair_(pair), other_({pair[1], pair[0]}), state_(state), for_window_(for_window) {
    Dims same;
    for (int64_t d = 0; d < value->shape().rank(); ++d) same.push_back(d);
    todo_.push_back({value, same});
    // Lanes along the longer dimension, if that pads no more.
    is_longer_ = value->shape().dim(pair[1]) >= value->shape().dim(pair[0]) &&
                 Padded(pair[1], pair[0]) <= Padded(pair[0], pair[1]);
  }

  Dims Order() {
    constexpr WalkLimit kReadersThatWantAnOrder = {"readers that want an order", 24};
    for (size_t next = 0; next < todo_.size(); ++next) {
      if (next == kReadersThatWantAnOrder.most) {
        ReportLimit(kReadersThatWantAnOrder);
        break;
      }
      const Place place = todo_[next];
      if (place.op->index() >= state_.n) continue;
      over_first_ = over_second_ = false;
      if (place.op == state_.computation.root()) TakeResult(place);
      for (const Instruction* user : state_.users.users(*place.op)) {
        if (Dims found = TakeUser(place, *user); !found.empty()) return found;
      }
      // Rows are added faster than lanes.
      if ((nearest_.empty() || is_weak_) && over_first_ && !over_second_ && is_longer_ &&
          Decides(Rule::kRowsAreReduced, value_)) {
        nearest_ = other_;
        is_weak_ = false;
      }
    }
    return nearest_.empty() ? pair_ : nearest_;
  }

 private:
  // What follows, with the dimension of it that each dimension of the value became.
  struct Place {
    const Instruction* op;
    Dims dims;
  };

  // The pair as `order`, one of the place, has it; empty if that has others in front.
  Dims AsIn(const Place& place, const Dims& order) const {
    const Dims sized = SizedOrder(place.op->shape(), order);
    Dims found;
    for (size_t i = 0; i < std::min<size_t>(2, sized.size()); ++i) {
      for (const int64_t d : pair_) {
        if (place.dims[d] == sized[i]) found.push_back(d);
      }
    }
    return found.size() == 2 ? found : Dims();
  }
  double Padded(int64_t minor, int64_t second) const {
    return PaddedElements(1, value_.shape().dim(second), value_.shape().dim(minor),
                          ByteWidth(value_.shape().element_type()), state_.tiling);
  }

  // A result of the program is a copy, if it lies otherwise.
  void TakeResult(const Place& place) {
    if (!nearest_.empty() || for_window_) return;
    nearest_ = AsIn(place, LeastPaddingOrder(place.op->shape(), state_.tiling));
    is_weak_ = true;
  }

  // The order that decides, if the user does; else what it adds is remembered.
  Dims TakeUser(const Place& place, const Instruction& user) {
    if (user.opcode() == Opcode::kReduce) {
      TakeReduction(place, user);
    } else if (WantsDenseOperands(user)) {
      Dims found = AsIn(place, LeastPaddingOrder(place.op->shape(), state_.tiling));
      if (!found.empty() && Decides(Rule::kAsDenseReaderWants, value_)) return found;
    } else if (user.opcode() == Opcode::kTuple && &user == state_.computation.root()) {
      TakeResult(place);
    } else if (user.opcode() == Opcode::kTranspose) {
      Place further{&user, {}};
      const auto dims = user.dimensions();
      for (const int64_t d : place.dims) further.dims.push_back(absl::c_find(dims, d) - dims.begin());
      todo_.push_back(std::move(further));
    } else if (user.opcode() == Opcode::kReshape && SameButUnitDims(place.op->shape(), user.shape())) {
      const Dims before = SizedDims(place.op->shape()), after = SizedDims(user.shape());
      Place further{&user, {}};
      for (const int64_t d : place.dims) {
        const auto at = absl::c_find(before, d);
        further.dims.push_back(at == before.end() ? -1 : after[at - before.begin()]);
      }
      todo_.push_back(std::move(further));
    } else if (user.opcode() == Opcode::kReshape) {
      TakeReshape(place, user);
    } else if (IsElementwise(user) && user.shape().dims() == place.op->shape().dims()) {
      TakeElementwise(place, user);
    }
    return {};
  }

  void TakeReduction(const Place& place, const Instruction& reduce) {
    const auto is_reduced = [&](int64_t d) {
      return absl::c_linear_search(reduce.dimensions(), place.dims[d]);
    };
    over_first_ |= is_reduced(pair_[0]) && !is_reduced(pair_[1]);
    over_second_ |= is_reduced(pair_[1]) && !is_reduced(pair_[0]);
  }

  // Rows are cut and joined in place, lanes not.
  bool Keeps(const Place& place, const Instruction& reshape, const Dims& own) const {
    Dims order;
    for (const int64_t d : own) order.push_back(place.dims[d]);
    if (absl::c_linear_search(order, -1)) return false;
    order = OrderFrom(place.op->shape(), order);
    const auto through = OrderThroughReshape(place.op->shape(), reshape.shape(), order);
    if (!through) return false;
    Shape from = place.op->shape(), to = reshape.shape();
    SetOrder(order, &from);
    SetOrder(*through, &to);
    return KeepsTiles(from, to, state_.tiling);
  }
  void TakeReshape(const Place& place, const Instruction& reshape) {
    if (!nearest_.empty() || !Decides(Rule::kAsReshapeKeepsTiles, value_)) return;
    const bool pads_little =
        Padded(other_[0], other_[1]) <= Thresholds().most_padding_for_reshape() * Padded(pair_[0], pair_[1]);
    const bool keeps_pair = Keeps(place, reshape, pair_), keeps_other = Keeps(place, reshape, other_);
    if (keeps_pair && !keeps_other && !IsOnlyReduced(reshape, state_.users)) nearest_ = pair_;
    if (pads_little && !keeps_pair && keeps_other) nearest_ = other_;
  }

  // As what it meets; an argument is copied if it lies otherwise.
  void TakeElementwise(const Place& place, const Instruction& user) {
    for (const Instruction* operand : user.operands()) {
      if (operand == place.op || operand->shape().dims() != user.shape().dims() || !state_.Known(operand) ||
          state_.IsFlexible(operand) || !nearest_.empty() || (for_window_ && IsOfArgument(operand)) ||
          !Decides(Rule::kAsWhatIsMet, value_))
        continue;
      nearest_ = AsIn(place, state_.OrderOf(operand));
      is_weak_ = IsOfArgument(operand);
    }
    todo_.push_back({&user, place.dims});
  }

  const Instruction& value_;
  const Dims pair_, other_;
  const LayoutState& state_;
  const bool for_window_;
  std::vector<Place> todo_;
  Dims nearest_;
  bool is_weak_ = false;  // By an argument or a result.
  bool is_longer_ = false;
  bool over_first_ = false, over_second_ = false;  // What is reduced at a place.
};

}  // namespace

Dims WantedOrder(const Instruction* value, const Dims& pair, const LayoutState& state, bool for_window) {
  return OrderSearch(value, pair, state, for_window).Order();
}

}  // namespace toroid
