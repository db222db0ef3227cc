#include "partitioner/spmd/reducer.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "hlo/base/status.h"
#include "hlo/builder/neutral_element.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"

namespace toroid {
namespace {

// By reducer.
constexpr Opcode kOpcodes[] = {Opcode::kAdd,     Opcode::kMultiply, Opcode::kMaximum,
                               Opcode::kMinimum, Opcode::kAnd,      Opcode::kOr};

// The reducer that computes the same on the type: on pred, add and maximum are or, multiply and minimum are and.
Reducer OnType(Reducer reducer, PrimitiveType type) {
  if (type != xla::PRED) return reducer;
  const bool is_or = reducer == Reducer::kAdd || reducer == Reducer::kMaximum || reducer == Reducer::kOr;
  return is_or ? Reducer::kOr : Reducer::kAnd;
}

std::optional<Reducer> ReducerOf(Opcode opcode, PrimitiveType type) {
  const auto it = absl::c_find(kOpcodes, opcode);
  if (it == std::end(kOpcodes)) return std::nullopt;
  return OnType(static_cast<Reducer>(it - std::begin(kOpcodes)), type);
}

// The value behind copies and annotations.
const Instruction* Behind(const Instruction* value) {
  const auto is_annotation = [](const Instruction* i) {
    return i->opcode() == Opcode::kCopy || (i->opcode() == Opcode::kCustomCall &&
                                            i->custom_call_target() == "Sharding" && i->num_operands() == 1);
  };
  for (int steps = 0; is_annotation(value) && steps < 64; ++steps) value = value->operand(0);
  return value;
}

// The reducer that `value` applies to parameters i and j.
std::optional<Reducer> ClassifyValue(const Computation& computation, const Instruction* value, int i, int j) {
  value = Behind(value);
  if (value->num_operands() != 2) return std::nullopt;
  const Instruction* a = value->operand(0);
  const Instruction* b = value->operand(1);
  const bool on_parameters = (a == computation.parameter(i) && b == computation.parameter(j)) ||
                             (a == computation.parameter(j) && b == computation.parameter(i));
  if (!on_parameters || !value->shape().IsScalar() ||
      a->shape().element_type() != value->shape().element_type()) {
    return std::nullopt;
  }
  return ReducerOf(value->opcode(), value->shape().element_type());
}

// The instruction that computes output k of a reduction computation; null if the root is a tuple-shaped
// instruction other than a tuple.
const Instruction* Output(const Computation& computation, int k) {
  const Instruction* root = Behind(computation.root());
  if (!computation.root()->shape().IsTuple()) return root;
  return root->opcode() == Opcode::kTuple ? Behind(root->operand(k)) : nullptr;
}

// True if `value` is a or b, or chooses between such values, by ops nested at most `depth` deep.
bool Chooses(const Instruction* value, const Instruction* a, const Instruction* b, int depth) {
  value = Behind(value);
  if (value == a || value == b) return true;
  if (depth == 0) return false;
  switch (value->opcode()) {
    case Opcode::kSelect:
      return Chooses(value->operand(1), a, b, depth - 1) && Chooses(value->operand(2), a, b, depth - 1);
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return Chooses(value->operand(0), a, b, depth - 1) && Chooses(value->operand(1), a, b, depth - 1);
    default:
      return false;
  }
}

std::optional<Literal> FindNeutralElement(Reducer reducer, PrimitiveType type) {
  return NeutralElement(ReducerOpcode(OnType(reducer, type)), type);
}

}  // namespace

std::optional<Reducer> ClassifyReducer(const Computation& computation) {
  if (computation.num_parameters() != 2) return std::nullopt;
  return ClassifyValue(computation, computation.root(), 0, 1);
}

std::optional<std::vector<Reducer>> ClassifyReducers(const Computation& computation) {
  const int n = computation.num_parameters() / 2;
  std::vector<Reducer> reducers;
  for (int k = 0; k < n; ++k) {
    const Instruction* output = Output(computation, k);
    if (output == nullptr) return std::nullopt;
    const std::optional<Reducer> reducer = ClassifyValue(computation, output, k, n + k);
    if (!reducer) return std::nullopt;
    reducers.push_back(*reducer);
  }
  return reducers;
}

bool IsIdempotent(const Computation& computation) {
  const int n = computation.num_parameters() / 2;
  for (int k = 0; k < n; ++k) {
    const Instruction* output = Output(computation, k);
    if (output == nullptr) return false;
    if (!Chooses(output, computation.parameter(k), computation.parameter(n + k), 8)) return false;
  }
  return true;
}

Opcode ReducerOpcode(Reducer reducer) { return kOpcodes[static_cast<int>(reducer)]; }

Literal NeutralElement(Reducer reducer, PrimitiveType type) {
  const std::optional<Literal> element = FindNeutralElement(reducer, type);
  TOROID_CHECK(element.has_value(), OpcodeName(ReducerOpcode(reducer)), " of ", TypeName(type));
  return *element;
}

bool StartsNeutral(const Instruction& reduce) {
  if (reduce.num_operands() != 2) return false;
  const std::optional<Reducer> reducer = ClassifyReducer(*reduce.called(0));
  const Instruction* init = reduce.operand(1);
  if (!reducer || init->opcode() != Opcode::kConstant || !init->shape().IsScalar()) return false;
  const absl::StatusOr<Literal> value = LiteralOf(*init);
  if (!value.ok()) return false;
  if (*value == FindNeutralElement(*reducer, init->shape().element_type())) return true;
  // -0 is neutral under add too.
  return *reducer == Reducer::kAdd && VisitArrayType(
                                          init->shape().element_type(),
                                          [&](auto tag) -> bool {
                                            using T = typename decltype(tag)::type;
                                            return value->template data<T>()[0] == T(0);
                                          },
                                          false);
}

}  // namespace toroid
