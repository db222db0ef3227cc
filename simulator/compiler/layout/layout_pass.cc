#include "simulator/compiler/layout/layout_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/unit_dims.h"
#include "hlo/passes/dce_pass.h"
#include "simulator/compiler/layout/layout_copies.h"
#include "simulator/compiler/layout/pieces_order.h"
#include "simulator/compiler/layout/preferred_order.h"
#include "simulator/program/convolutions.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/dim_orders.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/windows.h"

namespace toroid {
namespace {

// Of a value that adds what was before to running folds of blocks: what the blocks were cut from; null for others.
const Instruction* InputOfRunningFold(const Instruction* value) {
  if (!IsElementwise(*value)) return nullptr;
  for (const Instruction* operand : value->operands()) {
    if (operand->opcode() != Opcode::kReduceWindow || !IsRunningFold(*operand)) continue;
    const Instruction* blocks = operand->operand(0);
    return blocks->opcode() == Opcode::kReshape ? blocks->operand(0) : blocks;
  }
  return nullptr;
}

class LayoutAssigner : public LayoutCopies {
 public:
  using LayoutCopies::LayoutCopies;

  absl::Status Run() {
    for (int i = 0; i < n_; ++i) Assign(computation_->instruction(i));
    Instruction* root = computation_->root();
    if (root->shape().IsArray()) {
      Instruction* result = AsResult(root);
      if (result != root) computation_->set_root(result);
    } else if (root->opcode() == Opcode::kTuple) {
      for (int k = 0; k < root->num_operands(); ++k) {
        Instruction* result = AsResult(root->operand(k));
        if (result != root->operand(k)) root->set_operand(k, result);
      }
    }
    RoundCopies();
    for (int i = 0; i < n_; ++i) {
      Instruction* op = computation_->instruction(i);
      if (!op->shape().IsArray()) continue;
      if (!Known(op)) orders_[i] = LeastPaddingOrder(op->shape(), tiling_);
      if (orders_[i] != RowMajorOrder(op->shape()) || !op->shape().HasRowMajorLayout()) {
        SetOrder(orders_[i], &op->mutable_shape());
      }
      if (CutsOneLane(*op)) SetTiled(OrderOf(op->operand(0)), tiling_, &op->mutable_shape());
    }
    return SortInstructions(computation_);
  }

 private:
  // One lane of an array, to be put beside others: it stays where it is. Edges of a matrix that is put together itself are mostly made
  // where they are read.
  bool CutsOneLane(const Instruction& op) const {
    if (op.opcode() != Opcode::kSlice || op.shape().rank() < 2) return false;
    const Dims sized = SizedOrder(op.operand(0)->shape(), OrderOf(op.operand(0)));
    if (op.operand(0)->opcode() == Opcode::kConcatenate && sized.size() < 3) return false;
    return !sized.empty() && op.shape().dim(sized[0]) == 1 &&
           absl::c_any_of(state_.users.users(op), [](const Instruction* user) {
             return user->opcode() == Opcode::kConcatenate || user->opcode() == Opcode::kPad;
           });
  }
  // Of a slice of one element along a dimension, of several such of an array that are worked on together: an order of the array with
  // that dimension outermost, so that they are layers of it. Empty for others.
  Dims OrderOfLayers(const Instruction& slice);
  bool IsWorkedOnInLayers(const Instruction& array, int64_t d) const;
  void Assign(Instruction* op);
  void AssignElementwise(Instruction* op);
  // A result of the program, which nothing else reads.
  bool IsOnlyReturned(const Instruction& value) const;
  // An argument under a name with which it does not lie as values of those sizes do.
  bool IsTurnedArgument(const Instruction& value) const;
  // Its rows are single steps of several sequences, and what it makes of them is cut along columns: those become a dimension of the
  // product, along which its weights are copied.
  bool CutsColumnsOfSteps(const Instruction& dot) const;
  // A product of matrices, or made elementwise from one of those sizes.
  bool IsOfProduct(const Instruction& value) const;
  // Of what is made elementwise from the value: what it meets that a product made before. Null if nothing.
  const Instruction* ProductMetBy(const Instruction& value) const;
  void AssignReshape(Instruction* op);
  // By array and dimension: orders of layers, empty where there are none.
  absl::flat_hash_map<std::pair<const Instruction*, int64_t>, Dims> layers_;
  // Arguments of which an elementwise op needed a copy: how that lies.
  absl::flat_hash_map<const Instruction*, Dims> turned_;
};

Dims LayoutAssigner::OrderOfLayers(const Instruction& slice) {
  if (slice.opcode() != Opcode::kSlice) return {};
  const Instruction* from = slice.operand(0);
  const Dims sized = SizedOrder(
      from->shape(), Known(from) ? OrderOf(from) : LeastPaddingOrder(from->shape(), tiling_, true));
  if (sized.size() < 3) return {};
  for (const int64_t d : sized) {
    if (d == sized.back() || slice.shape().dim(d) > 1) continue;
    const auto [place, is_new] = layers_.try_emplace(std::pair<const Instruction*, int64_t>(from, d));
    if (is_new && IsWorkedOnInLayers(*from, d)) {
      Shape layer = from->shape();
      layer.set_dim(d, 1);
      Dims order = LeastPaddingOrder(layer, tiling_, /*prefers_whole=*/true);
      order.erase(std::find(order.begin(), order.end(), d));
      order.push_back(d);
      place->second = std::move(order);
    }
    if (!place->second.empty()) return place->second;
  }
  return {};
}

bool LayoutAssigner::IsWorkedOnInLayers(const Instruction& array, int64_t d) const {
  // Not only put beside others again.
  const auto is_worked_on = [&](const Instruction* op) {
    if (op->opcode() != Opcode::kReshape)
      return !Places(*op) || (op->opcode() == Opcode::kConcatenate && op->dimension() != d);
    return absl::c_any_of(state_.users.users(*op), [](const Instruction* user) {
      return user->opcode() != Opcode::kReshape && user->opcode() != Opcode::kTuple;
    });
  };
  int layers = 0;
  bool worked_on = false;
  for (const Instruction* slice : state_.users.users(array)) {
    if (slice->opcode() != Opcode::kSlice || slice->shape().dim(d) > 1) continue;
    ++layers;
    worked_on |= absl::c_any_of(state_.users.users(*slice), is_worked_on);
  }
  return layers > 1 && worked_on;
}

bool LayoutAssigner::IsOnlyReturned(const Instruction& value) const {
  return absl::c_all_of(state_.users.users(value), [&](const Instruction* user) {
    return user == computation_->root() && user->opcode() == Opcode::kTuple;
  });
}

bool LayoutAssigner::IsTurnedArgument(const Instruction& value) const {
  if (value.opcode() != Opcode::kTranspose || value.operand(0)->opcode() != Opcode::kParameter) return false;
  return !LiesAlike(value.shape(), OrderOf(&value), LeastPaddingOrder(value.shape(), tiling_));
}

bool LayoutAssigner::IsOfProduct(const Instruction& value) const {
  constexpr size_t kMostSteps = 32;
  std::vector<const Instruction*> todo = {&value};
  for (size_t next = 0; next < todo.size() && next < kMostSteps; ++next) {
    if (todo[next]->opcode() == Opcode::kDot) return true;
    // Narrow tiles of few images are not put together row by row.
    if (todo[next]->opcode() == Opcode::kConvolution) {
      const Dims order = SizedOrder(todo[next]->shape(), OrderOf(todo[next]));
      return order.size() > 1 && (todo[next]->shape().dim(order[1]) > tiling_.sublanes / 2 ||
                                  ByteWidth(value.shape().element_type()) >= 4);
    }
    if (!IsElementwise(*todo[next]) && !IsInPlace(*todo[next])) continue;
    for (const Instruction* operand : todo[next]->operands()) {
      if (operand->shape().NumElements() == value.shape().NumElements() &&
          !absl::c_linear_search(todo, operand))
        todo.push_back(operand);
    }
  }
  return false;
}

bool LayoutAssigner::CutsColumnsOfSteps(const Instruction& dot) const {
  const DotView view(dot);
  const Shape &rows = dot.operand(0)->shape(), &weights = dot.operand(1)->shape();
  if (!view.lhs_batch().empty() || view.rhs_contracting().size() != 1 || weights.rank() != 2) return false;
  const int64_t columns = dot.shape().rank() - 1;
  bool has_step = false;
  for (int64_t d = 0; d < columns; ++d) has_step |= dot.shape().dim(d) == 1;
  if (!has_step || rows.NumElements() == rows.dim(view.lhs_contracting()[0])) return false;
  constexpr int kMostSteps = 16;
  const Instruction* value = &dot;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto users = state_.users.users(*value);
    if (users.size() != 1 || users[0]->index() >= n_) return false;
    value = users[0];
    if (value->opcode() == Opcode::kReshape && !SameButUnitDims(value->operand(0)->shape(), value->shape())) {
      return value->shape().rank() > 0 && value->shape().dims().back() < dot.shape().dim(columns);
    }
    if (!IsElementwise(*value) && !IsInPlace(*value)) return false;
  }
  return false;
}

const Instruction* LayoutAssigner::ProductMetBy(const Instruction& op) const {
  constexpr size_t kMostSteps = 24;
  std::vector<const Instruction*> todo = {&op};
  for (size_t next = 0; next < todo.size() && next < kMostSteps; ++next) {
    for (const Instruction* user : state_.users.users(*todo[next])) {
      if (user->index() >= n_ || !IsElementwise(*user) || user->shape().dims() != op.shape().dims() ||
          absl::c_linear_search(todo, user))
        continue;
      for (const Instruction* operand : user->operands()) {
        const bool is_known = operand != todo[next] && operand->shape().dims() == op.shape().dims() &&
                              Known(operand) && !state_.IsFlexible(operand);
        if (is_known && IsOfProduct(*operand)) return operand;
      }
      todo.push_back(user);
    }
  }
  return nullptr;
}

void LayoutAssigner::AssignElementwise(Instruction* op) {
  // The layout of the first operand that has one; of one that would have to be written for a copy first, or of an argument
  // whose dimensions were exchanged, only if there is no other.
  // Before that: the layout for which the fewest copies are missing. An argument that was copied once is read as the copy.
  // What a product makes lies as it is read best: arguments are copied for it.
  const Instruction* leader = nullptr;
  bool leader_is_made = false, leader_is_turned = false, leader_is_argument = false;
  int leader_misses = 0;
  const auto leads = [&](const Instruction* operand) {
    return operand->shape().dims() == op->shape().dims() && Known(operand) && operand->shape().rank() > 0 &&
           !state_.IsFlexible(operand);
  };
  const auto lies = [&](const Instruction* operand) {
    const auto turned = turned_.find(operand);
    return turned != turned_.end() ? turned->second : OrderOf(operand);
  };
  for (const Instruction* operand : op->operands()) {
    if (!leads(operand)) continue;
    // Of what is padded the largest.
    if (leader != nullptr && leader->opcode() == Opcode::kPad && operand->opcode() == Opcode::kPad) {
      if (operand->operand(0)->shape().NumElements() > leader->operand(0)->shape().NumElements())
        leader = operand;
      continue;
    }
    const bool is_made = IsElementwise(*operand), is_turned = IsTurnedArgument(*operand);
    const bool yields = leader_is_argument && IsOfProduct(*operand);
    int misses = 0;
    for (const Instruction* other : op->operands()) {
      if (leads(other)) misses += !HasCopyAs(*other, lies(operand));
    }
    if (leader != nullptr && misses >= leader_misses &&
        (misses > leader_misses ||
         (!yields && (is_turned || leader_is_made || !is_made) && !leader_is_turned))) {
      continue;
    }
    leader = operand;
    leader_is_argument = IsOfArgument(operand);
    leader_is_made = is_made;
    leader_is_turned = is_turned;
    leader_misses = misses;
  }
  if (leader == nullptr) return;
  Dims order = lies(leader);
  if (leader_is_argument) {
    if (const Instruction* met = ProductMetBy(*op); met != nullptr) order = OrderOf(met);
  }
  for (int k = 0; k < op->num_operands(); ++k) {
    const Instruction* before = op->operand(k);
    if (before->shape().dims() != op->shape().dims()) continue;
    Need(op, k, order);
    if (op->operand(k) != before && before->opcode() == Opcode::kParameter)
      turned_.try_emplace(before, order);
  }
  orders_[op->index()] = order;
}

void LayoutAssigner::AssignReshape(Instruction* op) {
  Instruction* from = op->operand(0);
  if (!Known(from) && RepeatsElements(*from)) {
    // Where it lies, or as images for a convolution.
    const Instruction* once = from->operand(0);
    if (once->shape().rank() == op->shape().rank() && Known(once) && !state_.IsFlexible(once)) {
      for (const Dims& order : {OrderOf(once), OrderAsImages(*op, state_)}) {
        if (order.empty()) continue;
        const auto of_operand = OrderThroughReshape(op->shape(), from->shape(), order);
        if (!of_operand || !KeepsTilesIn(from->shape(), *of_operand, op->shape(), order)) continue;
        Settle(from, *of_operand);
        orders_[op->index()] = order;
        return;
      }
    }
    // Repeated beside themselves, where that moves nothing.
    if (const Dims order = OrderThatKeepsTiles(*op, state_); !order.empty()) {
      Settle(from, *OrderThroughReshape(op->shape(), from->shape(), order));
      orders_[op->index()] = order;
      return;
    }
  }
  if (!from->shape().IsArray() || !Known(from)) return;
  if (state_.IsFlexible(from)) return;
  if (from->shape().rank() == 0) {
    orders_[op->index()] = RowMajorOrder(op->shape());
    return;
  }
  if (const Dims order = OrderOfPieces(*op, state_); !order.empty()) {
    if (const auto of_operand = OrderThroughReshape(op->shape(), from->shape(), order)) {
      Need(op, 0, *of_operand);
      orders_[op->index()] = order;
      return;
    }
  }
  if (const Dims order = OrderThatKeepsTiles(*op, state_); !order.empty()) {
    const Dims of_operand = *OrderThroughReshape(op->shape(), from->shape(), order);
    const bool is_read = absl::c_any_of(
        state_.users.users(*op), [](const Instruction* user) { return user->opcode() != Opcode::kTuple; });
    if (is_read && IsChainOfArgument(*from)) MakeAs(from, of_operand);
    Need(op, 0, of_operand);
    orders_[op->index()] = order;
    return;
  }
  if (const auto order = OrderThroughReshape(from->shape(), op->shape(), OrderOf(from))) {
    orders_[op->index()] = *order;
    return;
  }
  Dims order = RowMajorOrder(op->shape());
  // A cumulative sum goes back into the order in which its input is made best, or into the caller's.
  if (const Instruction* input = IsOnlyReturned(*op) ? nullptr : InputOfRunningFold(from);
      input != nullptr && input->shape().dims() == op->shape().dims()) {
    order = state_.IsFlexible(input) ? NaturalOrder(input, order, tiling_) : OrderOf(input);
  }
  const auto through = [&](const Dims& of_result) {
    return OrderThroughReshape(op->shape(), from->shape(), of_result).value_or(RowMajorOrder(from->shape()));
  };
  // Of pieces of both minor dimensions those go along lanes that fill more of them.
  if (order == RowMajorOrder(op->shape()) && order.size() > 1 && !PadsLittle(from->shape(), through(order))) {
    Dims turned = order;
    std::swap(turned[0], turned[1]);
    Shape one = from->shape(), other = from->shape();
    SetOrder(through(order), &one);
    SetOrder(through(turned), &other);
    if (PaddedElements(other, tiling_) < PaddedElements(one, tiling_)) order = turned;
  }
  Need(op, 0, through(order));
  orders_[op->index()] = order;
}

void LayoutAssigner::Assign(Instruction* op) {
  Dims& order = orders_[op->index()];
  const Opcode opcode = op->opcode();
  if (!op->shape().IsArray()) {
    // Tuples, loops, exchanges of several arrays, reductions of several.
    if (opcode == Opcode::kReduce) return;
    for (int k = 0; k < op->num_operands(); ++k) NeedDense(op, k);
    return;
  }
  if (op->shape().rank() == 0 && opcode != Opcode::kReduce) return;
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kIota:
      return;
    case Opcode::kDot:
    case Opcode::kConvolution:
      for (Instruction* operand : op->operands()) {
        if (!Known(operand)) Settle(operand, LeastPaddingOrder(operand->shape(), tiling_, true));
      }
      if (opcode == Opcode::kConvolution) {
        Need(op, 0, OrderOfImages(*op, 0, OrderOf(op->operand(0)), tiling_));
        // Of what slides for a kernel's gradient, the images of results.
        const bool of_groups =
            ConvolutionView(*op).batch_groups() > 1 || ConvolutionView(*op).feature_groups() > 1;
        if (IsKernelGradient(*op) && (!of_groups || HoldsImagesOfGroups(*op))) {
          Need(op, 1, OrderOfImages(*op, 1, OrderOf(op->operand(1)), tiling_));
        }
      } else {
        for (const int side : {0, 1}) Need(op, side, OrderOfOperand(*op, side, OrderOf(op->operand(side))));
        if (CutsColumnsOfSteps(*op))
          Need(op, 1, OrderFrom(op->operand(1)->shape(), {DotView(*op).rhs_contracting()[0]}));
      }
      order = opcode == Opcode::kDot ? OrderOfDot(op, state_) : OrderOfConvolution(op, state_);
      break;
    case Opcode::kTranspose: {
      Instruction* from = op->operand(0);
      if (!Known(from) || (state_.IsFlexible(from))) return;
      for (const int64_t d : OrderOf(from)) {
        const auto dims = op->dimensions();
        order.push_back(std::find(dims.begin(), dims.end(), d) - dims.begin());
      }
      break;
    }
    case Opcode::kReshape:
      AssignReshape(op);
      break;
    case Opcode::kReduce: {
      Instruction* from = op->operand(0);
      if (!Known(from)) Settle(from, OrderOfReduced(op, state_));
      for (int k = 1; k < op->num_operands() / 2; ++k) Need(op, k, OrderOf(from));
      if (op->shape().rank() == 0) return;
      const auto reduced = op->dimensions();
      for (const int64_t d : OrderOf(from)) {
        if (std::find(reduced.begin(), reduced.end(), d) != reduced.end()) continue;
        order.push_back(d - std::count_if(reduced.begin(), reduced.end(), [d](int64_t r) { return r < d; }));
      }
      break;
    }
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kReverse:
    case Opcode::kPad:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kAllReduce: {
      Instruction* from = op->operand(0);
      const Dims apart = OrderOfLayers(*op);
      if (!Known(from))
        Settle(from, !apart.empty() ? apart : LeastPaddingOrder(from->shape(), tiling_, true));
      if (!apart.empty() && (from->opcode() == Opcode::kParameter || from->opcode() == Opcode::kDot ||
                             from->opcode() == Opcode::kConvolution)) {
        Need(op, 0, apart);
        order = apart;
        break;
      }
      // Pieces of an argument that are put together as images.
      if (opcode == Opcode::kSlice && IsOfArgument(from)) {
        if (const Dims images = OrderAsImages(*op, state_); !images.empty()) Need(op, 0, images);
      }
      order = OrderOf(op->operand(0));
      // Little that is padded to much.
      if (opcode == Opcode::kPad && !PadsLittle(op->shape(), order)) {
        order = LeastPaddingOrder(op->shape(), tiling_);
        Need(op, 0, order);
      }
      if (opcode == Opcode::kDynamicUpdateSlice) Need(op, 1, order);
      break;
    }
    case Opcode::kReduceWindow: {
      Instruction* from = op->operand(0);
      if (!Known(from)) Settle(from, LeastPaddingOrder(from->shape(), tiling_, true));
      order = OrderOf(from);
      if (!IsRunningFold(*op)) {
        // Pooling: images are the first dimension, features the last one, if windows span neither.
        const WindowView window(*op);
        const int64_t last = window.rank() - 1;
        if (last >= 2 && window[0].IsTrivial() && window[last].IsTrivial()) {
          order = OrderOfWindows(op->shape(), last, 0, tiling_);
        }
        break;
      }
      // The dimension that is folded goes outermost: what is added to each other lies in registers of its own. Rows may
      // come from elsewhere, lanes not.
      const WindowView window(*op);
      const auto folded =
          std::find_if(order.begin(), order.end(), [&](int64_t d) { return !window[d].IsTrivial(); });
      if (folded == order.end()) break;
      const bool is_minor = !LiesAlike(op->shape(), Dims(folded, folded + 1), {}) &&
                            SizedOrder(op->shape(), order).front() == *folded;
      const int64_t d = *folded;
      if (is_minor) {
        Shape others = op->shape();
        others.set_dim(d, 1);
        order = LeastPaddingOrder(others, tiling_);
      }
      order.erase(std::find(order.begin(), order.end(), d));
      // Rows that fill registers, if there are such.
      const auto fills = [&](int64_t row) { return op->shape().dim(row) >= tiling_.sublanes; };
      if (order.size() > 1 && !fills(order[1])) {
        const auto whole = std::find_if(order.begin() + 1, order.end(), fills);
        if (whole != order.end()) std::rotate(order.begin() + 1, whole, whole + 1);
      }
      order.push_back(d);
      if (is_minor) Need(op, 0, order);
      break;
    }
    case Opcode::kConcatenate: {
      order = OrderOfConcatenation(*op, state_);
      if (absl::c_all_of(op->operands(), [](const Instruction* operand) {
            return IsOfArgument(operand) || operand->opcode() == Opcode::kConcatenate;
          })) {
        if (const Dims images = OrderAsImages(*op, state_); !images.empty()) order = images;
      }
      // What a result of the program is made of alone lies as the caller wants that.
      const Instruction* end = op;
      while (state_.users.users(*end).size() == 1 && IsElementwise(*state_.users.users(*end)[0]))
        end = state_.users.users(*end)[0];
      if (IsOnlyReturned(*end)) order = LeastPaddingOrder(end->shape(), tiling_);
      for (int k = 0; k < op->num_operands(); ++k) Need(op, k, order);
      break;
    }
    case Opcode::kAllToAll:
    case Opcode::kAllGather:
    case Opcode::kReduceScatter: {
      // What goes to one device, or comes from it, lies in one piece.
      if (op->dimensions().empty() || op->num_operands() != 1) {
        order = LeastPaddingOrder(op->shape(), tiling_);
        for (int k = 0; k < op->num_operands(); ++k) NeedDense(op, k);
        break;
      }
      Shape piece = op->operand(0)->shape();
      piece.set_dim(op->dimension(), 1);
      order = LeastPaddingOrder(piece, tiling_);
      order.erase(std::find(order.begin(), order.end(), op->dimension()));
      order.push_back(op->dimension());
      Need(op, 0, order);
      break;
    }
    default:
      if (IsElementwise(*op)) {
        AssignElementwise(op);
        break;
      }
      order = LeastPaddingOrder(op->shape(), tiling_);
      for (int k = 0; k < op->num_operands(); ++k) NeedDense(op, k);
  }
}

}  // namespace

absl::StatusOr<bool> LayoutPass::Run(std::unique_ptr<Module>* module) {
  for (const auto& computation : (*module)->computations()) {
    // Of reducers and the like all values are scalars.
    if (computation->root() == nullptr || computation->is_fusion()) continue;
    RETURN_IF_ERROR(LayoutAssigner(computation.get(), tiling_).Run());
  }
  EliminateDeadCode(module->get());
  return true;
}

}  // namespace toroid
