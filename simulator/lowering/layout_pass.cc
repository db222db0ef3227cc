#include "simulator/lowering/layout_pass.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/chip/movement.h"

namespace toroid {
namespace {

// Minor to major, dimensions of one element left out.
Dims Sized(const Shape& shape, const Dims& order) {
  Dims sized;
  for (const int64_t d : order) {
    if (shape.dim(d) != 1) sized.push_back(d);
  }
  return sized;
}

bool LiesAlike(const Shape& shape, const Dims& a, const Dims& b) { return a == b || Sized(shape, a) == Sized(shape, b); }

Dims RowMajor(const Shape& shape) {
  Dims order;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) order.push_back(d);
  return order;
}

// `first` in front, the others row-major.
Dims OrderFrom(const Shape& shape, const Dims& first) {
  Dims order = first;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    if (std::find(first.begin(), first.end(), d) == first.end()) order.push_back(d);
  }
  return order;
}

// The order in which the elements of an array, laid out in `order`, lie when they are reshaped; nullopt if dimensions that
// are merged do not follow each other.
std::optional<Dims> OrderThroughReshape(const Shape& from, const Shape& to, const Dims& order) {
  const Dims before = SizedDims(from), after = SizedDims(to);
  // Runs of dimensions of both that hold the same elements; group of each sized dimension of `from`, dimensions of `to`
  // of each group.
  std::vector<int> group_of(from.rank(), -1);
  std::vector<Dims> from_of, to_of;
  size_t i = 0, j = 0;
  while (i < before.size() && j < after.size()) {
    Dims a = {before[i]}, b = {after[j]};
    int64_t x = from.dim(before[i++]), y = to.dim(after[j++]);
    while (x != y) {
      if (x < y) {
        if (i == before.size()) return std::nullopt;
        x *= from.dim(before[i]);
        a.push_back(before[i++]);
      } else {
        if (j == after.size()) return std::nullopt;
        y *= to.dim(after[j]);
        b.push_back(after[j++]);
      }
    }
    for (const int64_t d : a) group_of[d] = static_cast<int>(from_of.size());
    from_of.push_back(std::move(a));
    to_of.push_back(std::move(b));
  }
  if (i < before.size() || j < after.size()) return std::nullopt;
  Dims first;
  const Dims sized = Sized(from, order);
  for (size_t k = 0; k < sized.size();) {
    const int group = group_of[sized[k]];
    if (group < 0) return std::nullopt;
    // From the last dimension of the group to its first.
    for (auto d = from_of[group].rbegin(); d != from_of[group].rend(); ++d, ++k) {
      if (k >= sized.size() || sized[k] != *d) return std::nullopt;
    }
    first.insert(first.end(), to_of[group].rbegin(), to_of[group].rend());
  }
  return OrderFrom(to, first);
}

// Of a value that adds what was before to running folds of blocks: what the blocks were cut from; null for others.
const Instruction* InputOfRunningFold(const Instruction* value) {
  if (!IsElementwise(value->opcode())) return nullptr;
  for (const Instruction* operand : value->operands()) {
    if (operand->opcode() != Opcode::kReduceWindow || !IsRunningFold(*operand)) continue;
    const Instruction* blocks = operand->operand(0);
    return blocks->opcode() == Opcode::kReshape ? blocks->operand(0) : blocks;
  }
  return nullptr;
}

// Reads its operands in the order that needs the least padding, whatever they are made by.
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

class LayoutAssigner {
 public:
  LayoutAssigner(Computation* computation, const Tiling& tiling)
      : computation_(computation), tiling_(tiling), users_(*computation), n_(computation->size()), orders_(n_) {}

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
    for (int i = 0; i < n_; ++i) {
      Instruction* op = computation_->instruction(i);
      if (!op->shape().IsArray()) continue;
      if (!Known(op)) orders_[i] = LeastPaddingOrder(op->shape(), tiling_);
      if (orders_[i] != RowMajor(op->shape()) || !op->shape().HasRowMajorLayout()) {
        SetOrder(orders_[i], &op->mutable_shape());
      }
    }
    return SortInstructions(computation_);
  }

 private:
  // An order is empty while nothing asks for one; scalars lie in any.
  bool Known(const Instruction* value) const {
    return value->index() >= n_ || !orders_[value->index()].empty() || value->shape().rank() == 0;
  }
  Dims OrderOf(const Instruction* value) const {
    return value->index() >= n_ ? value->shape().MinorToMajor() : orders_[value->index()];
  }

  void Assign(Instruction* op);
  Dims OrderOfDot(const Instruction* dot) const;
  Dims OrderOfConvolution(const Instruction* convolution) const;
  // Either dimension of the pair may be minor: as an op wants it that takes operands in one order only; if there is none, as
  // the nearest of these does: values that it meets, results of the program, reductions, which are not over the minor one.
  Dims WantedOrder(const Instruction* value, const Dims& pair) const;
  // The order in which a reduction reads what has none: lanes along a dimension that stays, if it fills them.
  Dims OrderOfReduced(const Instruction* reduce) const;
  void AssignElementwise(Instruction* op);
  // An argument under a name with which it does not lie as values of those sizes do.
  bool IsTurnedArgument(const Instruction& value) const;
  void AssignReshape(Instruction* op);

  // The value in that layout: itself, or a copy.
  Instruction* As(Instruction* value, const Dims& order, bool is_written = false);
  // As a result of the program: an argument under another name is copied.
  Instruction* AsResult(Instruction* value) {
    if (!value->shape().IsArray()) return value;
    const Dims order = LeastPaddingOrder(value->shape(), tiling_);
    Instruction* result = As(value, order);
    if (result != value) return result;
    const Instruction* source = value;
    while (source->opcode() == Opcode::kTranspose || source->opcode() == Opcode::kReshape) source = source->operand(0);
    if (source == value || source->opcode() != Opcode::kParameter) return value;
    Shape shape = value->shape();
    SetOrder(order, &shape);
    Instruction* copy = computation_->Add(Opcode::kCopy, shape, {value});
    copy->set_metadata(value->metadata());
    return copy;
  }
  void Need(Instruction* op, int k, const Dims& order, bool is_written = false) {
    Instruction* operand = op->operand(k);
    Instruction* now = As(operand, order, is_written);
    if (now != operand) op->set_operand(k, now);
  }
  void NeedDense(Instruction* op, int k) {
    if (op->operand(k)->shape().IsArray()) Need(op, k, LeastPaddingOrder(op->operand(k)->shape(), tiling_));
  }
  // The minor dimension of a value made from vectors is that of the first of them: spreading it over rows costs nothing.
  Dims NaturalOrder(const Instruction* value, const Dims& otherwise) const;
  // Of a value without one, and of those that it is made from and that have none.
  void Settle(Instruction* value, const Dims& order);

  Computation* computation_;
  const Tiling tiling_;
  const UserMap users_;
  const int n_;
  std::vector<Dims> orders_;
  // Values that had no layout of their own: made anew for whoever wants another.
  std::vector<bool> flexible_ = std::vector<bool>(n_, false);
  absl::flat_hash_map<std::pair<const Instruction*, Dims>, Instruction*> copies_;
};

Instruction* LayoutAssigner::As(Instruction* value, const Dims& order, bool is_written) {
  if (!value->shape().IsArray() || value->shape().rank() == 0) return value;
  if (!Known(value)) {
    Settle(value, order);
    return value;
  }
  if (LiesAlike(value->shape(), OrderOf(value), order)) return value;
  if (value->index() < n_ && flexible_[value->index()] && !is_written) return value;
  Instruction*& copy = copies_[{value, Sized(value->shape(), order)}];
  if (copy == nullptr) {
    Shape shape = value->shape();
    SetOrder(order, &shape);
    copy = computation_->Add(Opcode::kCopy, shape, {value});
    copy->set_metadata(value->metadata());
  }
  return copy;
}

void LayoutAssigner::Settle(Instruction* value, const Dims& order) {
  std::vector<std::pair<Instruction*, Dims>> todo = {{value, order}};
  while (!todo.empty()) {
    auto [op, now] = std::move(todo.back());
    todo.pop_back();
    if (Known(op) || !op->shape().IsArray()) continue;
    orders_[op->index()] = now;
    flexible_[op->index()] = true;
    switch (op->opcode()) {
      case Opcode::kBroadcast: {
        Instruction* from = op->operand(0);
        // As its dimensions follow each other in the result.
        Dims own;
        for (const int64_t d : now) {
          for (int64_t k = 0; k < from->shape().rank(); ++k) {
            if (op->dimensions()[k] == d) own.push_back(k);
          }
        }
        if (static_cast<int>(own.size()) != from->shape().rank()) break;
        Instruction* made = from;
        while (made->opcode() == Opcode::kReshape && SameButUnitDims(made->operand(0)->shape(), made->shape())) {
          made = made->operand(0);
        }
        const bool is_written = IsElementwise(made->opcode()) && made->shape().rank() > 1;
        if (!Known(from) && !Known(made) && is_written) {
          // Written before it is spread: as it is made best.
          Settle(made, NaturalOrder(made, LeastPaddingOrder(made->shape(), tiling_)));
          if (!Known(from)) {
            orders_[from->index()] =
                OrderThroughReshape(made->shape(), from->shape(), OrderOf(made)).value_or(RowMajor(from->shape()));
          }
        }
        if (!Known(from)) {
          todo.push_back({from, own});
        } else if (from->shape().rank() > 0) {
          Need(op, 0, own, is_written);
        }
        break;
      }
      case Opcode::kTranspose: {
        Dims own;
        for (const int64_t d : now) own.push_back(op->dimensions()[d]);
        todo.push_back({op->operand(0), own});
        break;
      }
      case Opcode::kReshape: {
        Instruction* from = op->operand(0);
        todo.push_back({from, OrderThroughReshape(op->shape(), from->shape(), now).value_or(RowMajor(from->shape()))});
        break;
      }
      default:
        for (Instruction* operand : op->operands()) {
          if (operand->shape().dims() == op->shape().dims()) todo.push_back({operand, now});
        }
    }
  }
}

Dims LayoutAssigner::NaturalOrder(const Instruction* value, const Dims& otherwise) const {
  std::vector<const Instruction*> todo = {value};
  for (int steps = 0; steps < 16 && !todo.empty(); ++steps) {
    const Instruction* op = todo.back();
    todo.pop_back();
    if (op->opcode() == Opcode::kBroadcast && op->operand(0)->opcode() != Opcode::kIota &&
        SizedDims(op->operand(0)->shape()).size() == 1) {
      return OrderFrom(value->shape(), {op->dimensions()[SizedDims(op->operand(0)->shape())[0]]});
    }
    if (!IsElementwise(op->opcode())) continue;
    for (const Instruction* operand : op->operands()) {
      if (operand->shape().dims() == value->shape().dims()) todo.push_back(operand);
    }
  }
  return otherwise;
}

Dims LayoutAssigner::WantedOrder(const Instruction* value, const Dims& pair) const {
  // What follows, with the dimension of each that a dimension of `value` became; nearest first.
  struct Place {
    const Instruction* op;
    Dims dims;
  };
  Dims same;
  for (int64_t d = 0; d < value->shape().rank(); ++d) same.push_back(d);
  std::vector<Place> todo = {{value, same}};
  // `pair` as `order`, one of `op`, has it; empty if it has others in front.
  const auto as_in = [&](const Place& place, const Dims& order) {
    const Dims sized = Sized(place.op->shape(), order);
    Dims found;
    for (size_t i = 0; i < std::min<size_t>(2, sized.size()); ++i) {
      for (const int64_t d : pair) {
        if (place.dims[d] == sized[i]) found.push_back(d);
      }
    }
    return found.size() == 2 ? found : Dims();
  };
  Dims nearest;
  for (size_t next = 0; next < todo.size() && next < 24; ++next) {
    const Place place = todo[next];
    if (place.op->index() >= n_) continue;
    bool over_first = false, over_second = false;
    if (place.op == computation_->root() && nearest.empty()) {
      nearest = as_in(place, LeastPaddingOrder(place.op->shape(), tiling_));
    }
    for (const Instruction* user : users_.users(*place.op)) {
      if (user->opcode() == Opcode::kReduce) {
        const auto dims = user->dimensions();
        const auto is_reduced = [&](int64_t d) {
          return std::find(dims.begin(), dims.end(), place.dims[d]) != dims.end();
        };
        over_first |= is_reduced(pair[0]) && !is_reduced(pair[1]);
        over_second |= is_reduced(pair[1]) && !is_reduced(pair[0]);
      } else if (WantsDenseOperands(*user)) {
        const Dims found = as_in(place, LeastPaddingOrder(place.op->shape(), tiling_));
        if (!found.empty()) return found;
      } else if (user->opcode() == Opcode::kTuple && user == computation_->root()) {
        if (nearest.empty()) nearest = as_in(place, LeastPaddingOrder(place.op->shape(), tiling_));
      } else if (user->opcode() == Opcode::kTranspose) {
        Place further{user, {}};
        for (const int64_t d : place.dims) {
          const auto dims = user->dimensions();
          further.dims.push_back(std::find(dims.begin(), dims.end(), d) - dims.begin());
        }
        todo.push_back(std::move(further));
      } else if (user->opcode() == Opcode::kReshape && SameButUnitDims(place.op->shape(), user->shape())) {
        const Dims before = SizedDims(place.op->shape()), after = SizedDims(user->shape());
        Place further{user, {}};
        for (const int64_t d : place.dims) {
          const auto at = std::find(before.begin(), before.end(), d);
          further.dims.push_back(at == before.end() ? -1 : after[at - before.begin()]);
        }
        todo.push_back(std::move(further));
      } else if (IsElementwise(user->opcode()) && user->shape().dims() == place.op->shape().dims()) {
        for (const Instruction* operand : user->operands()) {
          if (operand == place.op || operand->shape().dims() != user->shape().dims() || !Known(operand)) continue;
          if (operand->index() < n_ && flexible_[operand->index()]) continue;
          if (nearest.empty()) nearest = as_in(place, OrderOf(operand));
        }
        todo.push_back({user, place.dims});
      }
    }
    // Rows are added faster than lanes.
    if (nearest.empty() && over_first && !over_second) nearest = {pair[1], pair[0]};
  }
  return nearest.empty() ? pair : nearest;
}

Dims LayoutAssigner::OrderOfDot(const Instruction* dot) const {
  const DotView view(*dot);
  const int64_t batch = static_cast<int64_t>(view.lhs_batch().size());
  const int64_t left = dot->operand(0)->shape().rank() - batch - static_cast<int64_t>(view.lhs_contracting().size());
  const auto largest = [&](int64_t from, int64_t to) {
    int64_t best = -1;
    for (int64_t d = from; d < to; ++d) {
      if (dot->shape().dim(d) > 1 && (best < 0 || dot->shape().dim(d) >= dot->shape().dim(best))) best = d;
    }
    return best;
  };
  const int64_t rows = largest(batch, batch + left), columns = largest(batch + left, dot->shape().rank());
  if (rows < 0 || columns < 0) return LeastPaddingOrder(dot->shape(), tiling_);
  Dims pair = {columns, rows};
  // Either may be minor: the one that pads less.
  const auto padded = [&](int64_t minor, int64_t second) {
    return PaddedElements(1, dot->shape().dim(second), dot->shape().dim(minor), ByteWidth(dot->shape().element_type()), tiling_);
  };
  if (padded(rows, columns) < padded(columns, rows)) std::swap(pair[0], pair[1]);
  return OrderFrom(dot->shape(), WantedOrder(dot, pair));
}

Dims LayoutAssigner::OrderOfConvolution(const Instruction* convolution) const {
  const ConvolutionView view(*convolution);
  const Shape& shape = convolution->shape();
  const int64_t features = view.output_feature(), batch = view.output_batch();
  if (features < 0 || batch < 0 || features >= shape.rank() || batch >= shape.rank() || shape.dim(features) == 1 ||
      shape.dim(batch) < tiling_.sublanes) {
    return LeastPaddingOrder(shape, tiling_);
  }
  return OrderFrom(shape, {features, batch});
}

Dims LayoutAssigner::OrderOfReduced(const Instruction* reduce) const {
  const Shape& shape = reduce->operand(0)->shape();
  const Dims dense = LeastPaddingOrder(shape, tiling_), sized = Sized(shape, dense);
  const auto reduced = reduce->dimensions();
  const auto is_reduced = [&](int64_t d) { return std::find(reduced.begin(), reduced.end(), d) != reduced.end(); };
  if (sized.size() < 2 || !is_reduced(sized[0]) || is_reduced(sized[1])) return dense;
  if (shape.dim(sized[1]) % tiling_.lanes != 0 || shape.dim(sized[0]) % tiling_.sublanes != 0) return dense;
  return OrderFrom(shape, {sized[1], sized[0]});
}

bool LayoutAssigner::IsTurnedArgument(const Instruction& value) const {
  if (value.opcode() != Opcode::kTranspose || value.operand(0)->opcode() != Opcode::kParameter) return false;
  return !LiesAlike(value.shape(), OrderOf(&value), LeastPaddingOrder(value.shape(), tiling_));
}

void LayoutAssigner::AssignElementwise(Instruction* op) {
  // The layout of the first operand that has one; of one that would have to be written for a copy first, or of an argument
  // whose dimensions were exchanged, only if there is no other.
  const Instruction* leader = nullptr;
  bool leader_is_made = false, leader_is_turned = false;
  for (const Instruction* operand : op->operands()) {
    if (operand->shape().dims() != op->shape().dims() || !Known(operand) || operand->shape().rank() == 0) continue;
    if (operand->index() < n_ && flexible_[operand->index()]) continue;
    const bool is_made = IsElementwise(operand->opcode()), is_turned = IsTurnedArgument(*operand);
    if (leader != nullptr && (is_turned || leader_is_made || !is_made) && !leader_is_turned) continue;
    leader = operand;
    leader_is_made = is_made;
    leader_is_turned = is_turned;
  }
  if (leader == nullptr) return;
  const Dims order = OrderOf(leader);
  for (int k = 0; k < op->num_operands(); ++k) {
    if (op->operand(k)->shape().dims() == op->shape().dims()) Need(op, k, order);
  }
  orders_[op->index()] = order;
}

void LayoutAssigner::AssignReshape(Instruction* op) {
  Instruction* from = op->operand(0);
  if (!from->shape().IsArray() || !Known(from)) return;
  if (from->index() < n_ && flexible_[from->index()]) return;
  if (from->shape().rank() == 0) {
    orders_[op->index()] = RowMajor(op->shape());
    return;
  }
  if (const auto order = OrderThroughReshape(from->shape(), op->shape(), OrderOf(from))) {
    orders_[op->index()] = *order;
    return;
  }
  Dims order = RowMajor(op->shape());
  // A cumulative sum goes back into the order in which its input is made best.
  if (const Instruction* input = InputOfRunningFold(from); input != nullptr && input->shape().dims() == op->shape().dims()) {
    order = input->index() < n_ && flexible_[input->index()] ? NaturalOrder(input, order) : OrderOf(input);
  }
  Need(op, 0, OrderThroughReshape(op->shape(), from->shape(), order).value_or(RowMajor(from->shape())));
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
        if (!Known(operand)) Settle(operand, LeastPaddingOrder(operand->shape(), tiling_));
      }
      order = opcode == Opcode::kDot ? OrderOfDot(op) : OrderOfConvolution(op);
      break;
    case Opcode::kTranspose: {
      Instruction* from = op->operand(0);
      if (!Known(from) || (from->index() < n_ && flexible_[from->index()])) return;
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
      if (!Known(from)) Settle(from, OrderOfReduced(op));
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
      if (!Known(from)) Settle(from, LeastPaddingOrder(from->shape(), tiling_));
      order = OrderOf(from);
      if (opcode == Opcode::kDynamicUpdateSlice) Need(op, 1, order);
      break;
    }
    case Opcode::kReduceWindow: {
      Instruction* from = op->operand(0);
      if (!Known(from)) Settle(from, LeastPaddingOrder(from->shape(), tiling_));
      order = OrderOf(from);
      if (!IsRunningFold(*op)) break;
      // The dimension that is folded goes outermost: what is added to each other lies in registers of its own. Rows may
      // come from elsewhere, lanes not.
      const WindowView window(*op);
      const auto folded = std::find_if(order.begin(), order.end(), [&](int64_t d) { return !window[d].IsTrivial(); });
      if (folded == order.end()) break;
      const bool is_minor = !LiesAlike(op->shape(), Dims(folded, folded + 1), {}) &&
                            Sized(op->shape(), order).front() == *folded;
      const int64_t d = *folded;
      if (is_minor) {
        Shape others = op->shape();
        others.set_dim(d, 1);
        order = LeastPaddingOrder(others, tiling_);
      }
      order.erase(std::find(order.begin(), order.end(), d));
      order.push_back(d);
      if (is_minor) Need(op, 0, order);
      break;
    }
    case Opcode::kConcatenate: {
      order = Known(op->operand(0)) ? OrderOf(op->operand(0)) : LeastPaddingOrder(op->shape(), tiling_);
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
      if (IsElementwise(opcode)) {
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
  return true;
}

}  // namespace toroid
