// BUILD: copts = ["-O3"]
#include "runtime/kernels/extreme_reduce.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/reduce_loops.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/mesh_rows.h"

namespace toroid {
namespace {

constexpr size_t kMostInstructions = 64;

// What a reducer does in one case. Values are conditions, or parameters: 0 and 1 are the accumulator's value and index, 2 and 3
// the next ones.
class CaseOfReducer {
 public:
  CaseOfReducer(Relation values, Relation indices) : values_(values), indices_(indices) {}

  // The parameter that the instruction gives.
  std::optional<int> Parameter(const Instruction& x) {
    const std::optional<Value> value = Evaluate(x);
    if (!value.has_value() || value->is_condition) return std::nullopt;
    return value->number;
  }

 private:
  struct Value {
    bool is_condition;
    int number;  // Of the parameter; of a condition 0 or 1.
  };
  static Value Condition(bool holds) { return {true, holds ? 1 : 0}; }

  std::optional<Value> Evaluate(const Instruction& x) {
    if (x.opcode() == Opcode::kParameter) return Value{false, static_cast<int>(x.parameter_number())};
    if (const auto known = known_.find(&x); known != known_.end()) return known->second;
    std::vector<Value> operands;
    for (const Instruction* operand : x.operands()) {
      const std::optional<Value> value = Evaluate(*operand);
      if (!value.has_value()) return std::nullopt;
      operands.push_back(*value);
    }
    return known_[&x] = Apply(x, operands);
  }

  std::optional<Value> Apply(const Instruction& x, const std::vector<Value>& operands) const {
    const auto are_conditions = [&] {
      return std::all_of(operands.begin(), operands.end(), [](const Value& v) { return v.is_condition; });
    };
    switch (x.opcode()) {
      case Opcode::kCompare:
        return Compared(x, operands[0], operands[1]);
      case Opcode::kSelect:
        if (!operands[0].is_condition) return std::nullopt;
        return operands[0].number != 0 ? operands[1] : operands[2];
      case Opcode::kAnd:
        if (!are_conditions()) return std::nullopt;
        return Condition(operands[0].number != 0 && operands[1].number != 0);
      case Opcode::kOr:
        if (!are_conditions()) return std::nullopt;
        return Condition(operands[0].number != 0 || operands[1].number != 0);
      case Opcode::kNot:
        if (!are_conditions()) return std::nullopt;
        return Condition(operands[0].number == 0);
      case Opcode::kMinimum:
      case Opcode::kMaximum: {
        if (are_conditions() || operands[0].number % 2 == 0 || operands[1].number % 2 == 0)
          return std::nullopt;
        const std::optional<Relation> relation = RelationOf(operands[0].number, operands[1].number);
        const bool first =
            *relation == (x.opcode() == Opcode::kMinimum ? Relation::kLess : Relation::kGreater);
        return operands[first ? 0 : 1];
      }
      default:
        return std::nullopt;
    }
  }

  // nullopt for a value beside an index.
  std::optional<Relation> RelationOf(int a, int b) const {
    if (a % 2 != b % 2) return std::nullopt;
    const Relation relation = a % 2 == 0 ? values_ : indices_;
    if (a == b) {
      const bool first_is_nan = relation == Relation::kNanFirst || relation == Relation::kNanBoth;
      const bool second_is_nan = relation == Relation::kNanSecond || relation == Relation::kNanBoth;
      return (a < 2 ? first_is_nan : second_is_nan) ? Relation::kNanBoth : Relation::kEqual;
    }
    if (a < b) return relation;
    switch (relation) {
      case Relation::kLess:
        return Relation::kGreater;
      case Relation::kGreater:
        return Relation::kLess;
      case Relation::kNanFirst:
        return Relation::kNanSecond;
      case Relation::kNanSecond:
        return Relation::kNanFirst;
      default:
        return relation;
    }
  }

  std::optional<Value> Compared(const Instruction& x, const Value& a, const Value& b) const {
    if (a.is_condition || b.is_condition || x.attrs().comparison_type() == "TOTALORDER") return std::nullopt;
    const std::optional<Relation> relation = RelationOf(a.number, b.number);
    if (!relation.has_value()) return std::nullopt;
    const bool less = *relation == Relation::kLess, equal = *relation == Relation::kEqual,
               greater = *relation == Relation::kGreater;
    const absl::string_view direction = x.attrs().comparison_direction();
    if (direction == "EQ") return Condition(equal);
    if (direction == "NE") return Condition(!equal);
    if (direction == "LT") return Condition(less);
    if (direction == "LE") return Condition(less || equal);
    if (direction == "GT") return Condition(greater);
    if (direction == "GE") return Condition(greater || equal);
    return std::nullopt;
  }

  const Relation values_, indices_;
  absl::flat_hash_map<const Instruction*, std::optional<Value>> known_;
};

std::optional<ExtremeReducer::Case> CaseOf(const Instruction& root, Relation relation) {
  ExtremeReducer::Case result;
  for (const Relation indices : {Relation::kLess, Relation::kEqual, Relation::kGreater}) {
    CaseOfReducer reducer(relation, indices);
    const std::optional<int> value = reducer.Parameter(*root.operand(0)),
                             index = reducer.Parameter(*root.operand(1));
    if (!value.has_value() || !index.has_value() || *value % 2 != 0 || *index % 2 != 1) return std::nullopt;
    result.takes_value[static_cast<int>(indices)] = *value == 2;
    result.takes_index[static_cast<int>(indices)] = *index == 3;
  }
  return result;
}

// Types of values that there are loops for.
template <typename T>
constexpr bool kHasLoop =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, bfloat16> ||
    std::is_same_v<T, half> || std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t> ||
    std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t> || std::is_same_v<T, int64_t>;

// Folds lines of elements of one type with indices of another.
template <typename T, typename I>
class Fold {
 public:
  Fold(const ExtremeReducer& reducer, PrimitiveType type, const ReducedLines& lines)
      : reducer_(reducer), lines_(lines) {
    constexpr ExtremeReducer::Case kKeep;
    const bool upwards = reducer.at(Relation::kGreater) == kKeep,
               downwards = reducer.at(Relation::kLess) == kKeep;
    if (lines.kept_inside == 1 && upwards != downwards)
      skip_ = FindLineReduction(upwards ? Opcode::kMaximum : Opcode::kMinimum, type);
    upwards_ = upwards;
  }

  // The lines with these numbers outside, and these elements of them, of one device's arrays.
  void Run(const T* all_x, const I* all_index, T* all_values, I* all_places, int64_t outside, int64_t begin,
           int64_t end) const {
    const int64_t first = outside * lines_.reduced * lines_.kept_inside;
    if (lines_.kept_inside == 1)
      return Along(all_x + first, all_index + first, all_values[outside], all_places[outside]);
    T* value = all_values + outside * lines_.kept_inside;
    I* place = all_places + outside * lines_.kept_inside;
    for (int64_t l = 0; l < lines_.reduced; ++l) {
      const T* x = all_x + first + l * lines_.kept_inside;
      const I* index = all_index + first + l * lines_.kept_inside;
      for (int64_t k = begin; k < end; ++k) Add(x[k], index[k], value[k], place[k]);
    }
  }

 private:
  void Add(const T& x, const I& index, T& value, I& place) const {
    const ExtremeReducer::Case& action = reducer_.at(Compare(value, x));
    const int order = place < index ? 0 : place == index ? 1 : 2;
    if (action.takes_value[order]) value = x;
    if (action.takes_index[order]) place = index;
  }

  static Relation Compare(const T& a, const T& b) {
    if (a < b) return Relation::kLess;
    if (a > b) return Relation::kGreater;
    if (a == b) return Relation::kEqual;
    return a == a ? Relation::kNanSecond : b == b ? Relation::kNanFirst : Relation::kNanBoth;
  }

  // Pieces of the line whose extreme leaves the accumulator as it is are not looked at further.
  void Along(const T* x, const I* index, T& value, I& place) const {
    constexpr int64_t kPiece = 256;
    for (int64_t begin = 0; begin < lines_.reduced; begin += kPiece) {
      const int64_t end = std::min(begin + kPiece, lines_.reduced);
      if (skip_.along != nullptr) {
        T extreme;
        skip_.along(x + begin, end - begin, &extreme);
        if (upwards_ ? value > extreme : value < extreme) continue;
      }
      for (int64_t i = begin; i < end; ++i) Add(x[i], index[i], value, place);
    }
  }

  const ExtremeReducer& reducer_;
  const ReducedLines& lines_;
  LineReduction skip_;
  bool upwards_ = false;
};

// The arrays of one device, or of all, in bytes from one device to the next; 0 for one that all share.
struct Rows {
  const char *x, *index;
  char *value, *place;
  int64_t count, x_stride, index_stride, value_stride, place_stride;
};

using Runner = void (*)(const ExtremeReducer& reducer, PrimitiveType type, const ReducedLines& lines,
                        const Rows& rows);

template <typename T, typename I>
void RunRows(const ExtremeReducer& reducer, PrimitiveType type, const ReducedLines& lines, const Rows& rows) {
  constexpr int64_t kGrain = 16 << 10, kColumns = 1024;
  const int64_t parts = (lines.kept_inside + kColumns - 1) / kColumns;
  const int64_t elements = lines.reduced * std::min(lines.kept_inside, kColumns);
  const int64_t tasks = lines.kept_outside * parts;  // Of a device.
  const Fold<T, I> fold(reducer, type, lines);
  ParallelFor(rows.count * tasks, std::max<int64_t>(1, kGrain / elements), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / tasks, outside = i % tasks / parts, column = i % parts * kColumns;
      fold.Run(reinterpret_cast<const T*>(rows.x + row * rows.x_stride),
               reinterpret_cast<const I*>(rows.index + row * rows.index_stride),
               reinterpret_cast<T*>(rows.value + row * rows.value_stride),
               reinterpret_cast<I*>(rows.place + row * rows.place_stride), outside, column,
               std::min(column + kColumns, lines.kept_inside));
    }
  });
}

Runner FindRunner(PrimitiveType type, PrimitiveType index) {
  return VisitArrayType(
      type,
      [&](auto tag) -> Runner {
        using T = typename decltype(tag)::type;
        if constexpr (kHasLoop<T>) {
          if (index == xla::S32) return RunRows<T, int32_t>;
          if (index == xla::U32) return RunRows<T, uint32_t>;
          if (index == xla::S64) return RunRows<T, int64_t>;
        }
        return nullptr;
      },
      Runner{nullptr});
}

}  // namespace

std::optional<ExtremeReducer> ExtremeReducerOf(const Computation& reducer) {
  const Instruction& root = *reducer.root();
  if (reducer.num_parameters() != 4 || reducer.instructions().size() > kMostInstructions) return std::nullopt;
  if (root.opcode() != Opcode::kTuple || root.operands().size() != 2) return std::nullopt;
  ExtremeReducer result;
  for (int r = 0; r < kRelations; ++r) {
    const std::optional<ExtremeReducer::Case> one = CaseOf(root, static_cast<Relation>(r));
    if (!one.has_value()) return std::nullopt;
    result.cases[r] = *one;
  }
  return result;
}

absl::StatusOr<bool> ReduceExtremes(OpCall& call, const ExtremeReducer& reducer, const ReducedLines& lines) {
  const PrimitiveType type = call.operand_shape(0).element_type();
  const Runner run = FindRunner(type, call.operand_shape(1).element_type());
  if (run == nullptr) return false;
  const bool uniform = call.AllUniform();
  const int64_t kept = lines.kept_outside * lines.kept_inside, rows = uniform ? 1 : call.copies();
  std::vector<MeshBuffer> results(2);
  for (int i = 0; i < 2; ++i) {
    const int64_t width = ByteWidth(call.operand_shape(i).element_type());
    RETURN_IF_ERROR(call.New(kept * width, uniform, &results[i]));
    for (int64_t row = 0; row < rows; ++row) {
      const char* start = call.data(2 + i) + (call.uniform(2 + i) ? 0 : row * width);
      char* out = results[i].mutable_data() + row * kept * width;
      for (int64_t k = 0; k < kept; ++k) std::memcpy(out + k * width, start, width);
    }
  }
  const int64_t x_bytes = call.operand_shape(0).ByteSize(), index_bytes = call.operand_shape(1).ByteSize();
  if (x_bytes > 0) {
    run(reducer, type, lines,
        {call.data(0), call.data(1), results[0].mutable_data(), results[1].mutable_data(), rows,
         call.uniform(0) ? 0 : x_bytes, call.uniform(1) ? 0 : index_bytes, kept * ByteWidth(type),
         kept * ByteWidth(call.operand_shape(1).element_type())});
  }
  call.result() = MeshBuffer::Tuple(std::move(results));
  return true;
}

}  // namespace toroid
