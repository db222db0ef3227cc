#include "hlo/analysis/trip_count.h"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/strings/numbers.h"
#include "hlo/analysis/constant_integer.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

bool Holds(PrimitiveType type, __int128 value) {
  return VisitArrayType(
      type,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
        } else {
          return false;
        }
      },
      false);
}

// The value that `x` hands on unchanged, looking through copies, reshapes and elements of tuples.
const Instruction* Origin(const Instruction* x) {
  while (true) {
    if (x->opcode() == Opcode::kReshape || x->opcode() == Opcode::kBitcast ||
        (x->num_operands() == 1 && x->shape().IsArray() && HandsLeavesOn(*x))) {
      if (!x->operand(0)->shape().IsArray()) return x;
      x = x->operand(0);
      continue;
    }
    if (x->opcode() != Opcode::kGetTupleElement) return x;
    const Instruction* tuple = x->operand(0);
    while (tuple->num_operands() == 1 && tuple->opcode() != Opcode::kTuple && HandsLeavesOn(*tuple) &&
           tuple->operand(0)->shape().IsTuple() &&
           tuple->operand(0)->shape().tuple_shapes().size() == tuple->shape().tuple_shapes().size()) {
      tuple = tuple->operand(0);
    }
    if (tuple->opcode() != Opcode::kTuple || x->tuple_index() < 0 ||
        x->tuple_index() >= tuple->num_operands()) {
      return x;
    }
    x = tuple->operand(x->tuple_index());
  }
}

// One variable of a loop's state.
class LoopState {
 public:
  explicit LoopState(const Instruction& loop)
      : loop_(loop), body_(*loop.called(0)), condition_(*loop.called(1)) {}

  static bool IsWellFormed(const Instruction& loop) {
    return loop.opcode() == Opcode::kWhile && loop.num_operands() == 1 && loop.called().size() == 2 &&
           loop.called(0)->num_parameters() == 1 && loop.called(1)->num_parameters() == 1 &&
           loop.called(0)->root() != nullptr && loop.called(1)->root() != nullptr;
  }

  // The variable that `x`, in the body or condition, reads unchanged: its index in the state, 0 if the state
  // is no tuple.
  static std::optional<int64_t> Variable(const Instruction* x) {
    x = Origin(x);
    if (x->opcode() == Opcode::kParameter && x->shape().IsArray()) return 0;
    if (x->opcode() != Opcode::kGetTupleElement) return std::nullopt;
    const Instruction* state = x->operand(0);
    while (state->num_operands() == 1 && state->opcode() != Opcode::kTuple && HandsLeavesOn(*state)) {
      state = state->operand(0);
    }
    if (state->opcode() != Opcode::kParameter) return std::nullopt;
    return x->tuple_index();
  }

  // The variable's value before the first trip.
  std::optional<int64_t> First(int64_t variable) const { return Constant(loop_.operand(0), variable); }

  // The value of `x` if it is the same constant in every trip.
  std::optional<int64_t> Invariant(const Instruction* x) const {
    x = Origin(x);
    if (const std::optional<int64_t> value = IntegerOf(*x)) return value;
    const std::optional<int64_t> variable = Variable(x);
    if (!variable) return std::nullopt;
    const Instruction* next = Element(body_.root(), *variable);
    if (next == nullptr || Variable(next) != variable) return std::nullopt;
    return First(*variable);
  }

  // The constant that the body adds to the variable.
  std::optional<int64_t> Step(int64_t variable) const {
    const Instruction* next = Element(body_.root(), variable);
    if (next == nullptr) return std::nullopt;
    next = Origin(next);
    if (next->num_operands() != 2) return std::nullopt;
    const bool subtract = next->opcode() == Opcode::kSubtract;
    if (next->opcode() != Opcode::kAdd && !subtract) return std::nullopt;
    for (const int side : {0, 1}) {
      if (Variable(next->operand(side)) != variable || (subtract && side == 1)) continue;
      const std::optional<int64_t> step = Invariant(next->operand(1 - side));
      if (!step || *step == INT64_MIN) return std::nullopt;
      return subtract ? -*step : *step;
    }
    return std::nullopt;
  }

  const Instruction& comparison() const { return *Origin(condition_.root()); }

 private:
  // The instruction that makes an element of a state.
  static const Instruction* Element(const Instruction* state, int64_t index) {
    while (state->num_operands() == 1 && state->opcode() != Opcode::kTuple && HandsLeavesOn(*state)) {
      state = state->operand(0);
    }
    if (state->shape().IsArray()) return index == 0 ? Origin(state) : nullptr;
    if (state->opcode() != Opcode::kTuple || index < 0 || index >= state->num_operands()) return nullptr;
    return Origin(state->operand(index));
  }

  static std::optional<int64_t> Constant(const Instruction* state, int64_t index) {
    const Instruction* element = Element(state, index);
    return element == nullptr ? std::nullopt : IntegerOf(*element);
  }

  const Instruction& loop_;
  const Computation& body_;
  const Computation& condition_;
};

// The 5 in {"known_trip_count":{"n":"5"}}.
std::optional<int64_t> StatedTripCount(absl::string_view config) {
  const size_t key = config.find("\"known_trip_count\"");
  if (key == absl::string_view::npos) return std::nullopt;
  const size_t begin = config.find_first_of("0123456789", key);
  if (begin == absl::string_view::npos) return std::nullopt;
  const size_t end = config.find_first_not_of("0123456789", begin);
  int64_t trips;
  if (!absl::SimpleAtoi(config.substr(begin, end == absl::string_view::npos ? end : end - begin), &trips)) {
    return std::nullopt;
  }
  return trips;
}

// Trips of  for (i = first; i DIRECTION bound; i += step).
std::optional<__int128> Trips(absl::string_view direction, __int128 first, __int128 bound, __int128 step) {
  if (direction == "EQ") {
    if (first != bound) return 0;
    return step == 0 ? std::nullopt : std::optional<__int128>(1);
  }
  if (direction == "NE") {
    if (first == bound) return 0;
    if (step == 0 || (bound - first) % step != 0 || (bound - first) / step < 0) return std::nullopt;
    return (bound - first) / step;
  }
  if (direction == "GT" || direction == "GE") {  // The same, mirrored.
    return Trips(direction == "GT" ? "LT" : "LE", -first, -bound, -step);
  }
  if (direction == "LE") ++bound;
  if (first >= bound) return 0;
  if (step <= 0) return std::nullopt;
  return (bound - first + step - 1) / step;
}

}  // namespace

std::optional<int64_t> TripCount(const Instruction& loop) {
  if (!LoopState::IsWellFormed(loop)) return std::nullopt;
  if (const std::optional<int64_t> stated = StatedTripCount(loop.backend_config())) return stated;
  const LoopState state(loop);
  const Instruction& comparison = state.comparison();
  if (comparison.opcode() != Opcode::kCompare || comparison.num_operands() != 2) return std::nullopt;
  for (const int side : {0, 1}) {
    const Instruction* counter = comparison.operand(side);
    const std::optional<int64_t> variable = LoopState::Variable(counter);
    if (!variable) continue;
    const std::optional<int64_t> step = state.Step(*variable), first = state.First(*variable);
    const std::optional<int64_t> bound = state.Invariant(comparison.operand(1 - side));
    if (!step || !first || !bound) continue;
    std::string direction = comparison.attrs().comparison_direction();
    if (side == 1 && direction.size() == 2 && direction != "EQ" && direction != "NE") {
      direction[0] = direction[0] == 'L' ? 'G' : 'L';
    }
    const std::optional<__int128> trips = Trips(direction, *first, *bound, *step);
    // A counter that wraps around does not stop here.
    if (!trips || !Holds(counter->shape().element_type(), *first + *trips * *step)) continue;
    if (*trips > INT64_MAX) continue;
    return static_cast<int64_t>(*trips);
  }
  return std::nullopt;
}

std::vector<Executions> CountExecutions(const Module& module) {
  std::vector<Executions> executions(module.num_computations());
  executions[module.entry()->index()].times = 1;
  // From callers to callees, which are before them.
  for (int c = module.num_computations() - 1; c >= 0; --c) {
    const Executions caller = executions[c];
    if (caller.times == 0 && !caller.in_loop) continue;
    for (const auto& instruction : module.computation(c)->instructions()) {
      for (const Computation* callee : instruction->called()) {
        if (callee->index() >= c) continue;
        Executions& own = executions[callee->index()];
        int64_t trips = 1;
        if (instruction->opcode() == Opcode::kWhile) {
          const std::optional<int64_t> known = TripCount(*instruction);
          own.known &= known.has_value();
          trips = known.value_or(1);
          const bool is_condition = callee != instruction->called(0);
          if (is_condition && known) trips = SaturatingAdd(trips, 1);
          own.in_loop = true;
          own.in_condition |= is_condition;
        }
        own.in_condition |= caller.in_condition;
        own.in_loop |= caller.in_loop;
        own.known &= caller.known;
        own.times = SaturatingAdd(own.times, SaturatingMultiply(caller.times, trips));
      }
    }
  }
  return executions;
}

}  // namespace toroid
