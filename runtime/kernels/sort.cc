#include "runtime/kernels/sort.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/loops/total_order.h"
#include "runtime/mesh/mesh_rows.h"
#include "runtime/plan/run_plan.h"

namespace toroid {
namespace {

// A comparator that is one compare of both sides' elements of one operand.
struct SimpleOrder {
  int operand;
  bool descending;
  bool total;
};

std::optional<SimpleOrder> Classify(const Computation& comparator) {
  const Instruction& root = *comparator.root();
  if (root.opcode() != Opcode::kCompare) return std::nullopt;
  const Instruction& a = *root.operand(0);
  const Instruction& b = *root.operand(1);
  if (a.opcode() != Opcode::kParameter || b.opcode() != Opcode::kParameter) return std::nullopt;
  const std::string& direction = root.attrs().comparison_direction();
  const int64_t first = a.parameter_number(), second = b.parameter_number();
  if (first / 2 != second / 2 || first == second || (direction != "LT" && direction != "GT"))
    return std::nullopt;
  if (IsComplex(a.shape().element_type())) return std::nullopt;
  return SimpleOrder{static_cast<int>(first / 2), (direction == "GT") != (first > second),
                     root.attrs().comparison_type() == "TOTALORDER"};
}

// All operands as lines: [lines][length], and the order of the elements in the result.
struct Lines {
  int64_t lines = 0, length = 0;
  std::vector<MeshBuffer> arrays;
  std::vector<int64_t> widths;
  // Offsets into the arrays, line after line; place i gets the element at order[i].
  std::vector<int64_t> order;

  int64_t size() const { return lines * length; }
};

// The number by which a real value is compared, except in the total order.
template <typename T>
auto Number(T x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return static_cast<float>(x);
  }
}

template <typename T>
bool HasNan(const char* data, int64_t n) {
  const T* values = reinterpret_cast<const T*>(data);
  return std::any_of(values, values + n, [](T x) { return Number(x) != Number(x); });
}

// An integer that has the order of x. Keys of one type need one instance of the sort, not one per element
// type.
template <typename T>
int64_t OrderKey(T x, bool total) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return static_cast<int64_t>(x ^ (uint64_t{1} << 63));
  } else if constexpr (kIsReal<T>) {
    // -0 counts as +0, whose place in the total order is 0.
    return !total && Number(x) == 0 ? 0 : ToTotalOrder(x);
  } else {
    return static_cast<int64_t>(x);
  }
}

template <typename T>
void SetKeys(const char* data, int64_t begin, const SimpleOrder& order, std::vector<int64_t>& keys) {
  const T* values = reinterpret_cast<const T*>(data) + begin;
  for (size_t i = 0; i < keys.size(); ++i) {
    const int64_t key = OrderKey(values[i], order.total);
    keys[i] = order.descending ? ~key : key;
  }
}

// Returns false if the values are not in a strict weak order: NaNs under the partial order.
bool SortSimply(Lines& lines, PrimitiveType type, const SimpleOrder& order) {
  using KeyLoop =
      void (*)(const char* data, int64_t begin, const SimpleOrder& order, std::vector<int64_t>& keys);
  const char* data = lines.arrays[order.operand].data();
  const KeyLoop set_keys = VisitArrayType(
      type,
      [&](auto tag) -> KeyLoop {
        using T = typename decltype(tag)::type;
        if constexpr (IsComplexType<T>::value) {
          return nullptr;
        } else {
          if constexpr (kIsReal<T>) {
            if (!order.total && HasNan<T>(data, lines.size())) return nullptr;
          }
          return SetKeys<T>;
        }
      },
      KeyLoop{nullptr});
  if (set_keys == nullptr) return false;
  ParallelFor(lines.lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, lines.length)),
              [&](int64_t begin, int64_t end) {
                std::vector<int64_t> keys(lines.length);
                for (int64_t offset = begin * lines.length; offset < end * lines.length;
                     offset += lines.length) {
                  set_keys(data, offset, order, keys);
                  const auto first = lines.order.begin() + offset;
                  std::stable_sort(first, first + lines.length,
                                   [&](int64_t a, int64_t b) { return keys[a - offset] < keys[b - offset]; });
                }
              });
  return true;
}

class BatchComparator {
 public:
  BatchComparator(OpCall& call, const Lines& lines) : call_(call), lines_(lines) {}

  // result[i]: whether the element at offset a[i] goes before the one at b[i].
  absl::Status Before(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                      std::vector<bool>* result) {
    const int64_t n = static_cast<int64_t>(a.size());
    Plan& plan = call_.called(0);
    std::vector<MeshBuffer> arguments(2 * lines_.arrays.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!plan.parameter_used[i]) continue;
      const int64_t width = lines_.widths[i / 2];
      const char* data = lines_.arrays[i / 2].data();
      RETURN_IF_ERROR(call_.New(n * width, /*uniform=*/true, &arguments[i]));
      arguments[i].set_uniform(false);
      char* out = arguments[i].mutable_data();
      const std::vector<int64_t>& at = i % 2 == 0 ? a : b;
      for (int64_t k = 0; k < n; ++k) std::memcpy(out + k * width, data + at[k] * width, width);
    }
    MeshBuffer before;
    RETURN_IF_ERROR(RunLifted(plan, absl::MakeSpan(arguments), n, call_.mesh(), &before));
    const bool* values = reinterpret_cast<const bool*>(before.data());
    result->resize(n);
    for (int64_t k = 0; k < n; ++k) (*result)[k] = values[before.uniform() ? 0 : k];
    return absl::OkStatus();
  }

 private:
  OpCall& call_;
  const Lines& lines_;
};

// Merges sorted runs of `run` elements pairwise, in all lines. Whatever the comparator answers, each element
// comes out once: the elements of the left run count how many of the right run go before them, and the
// elements of the right run fill the places between.
absl::Status MergeRuns(BatchComparator& comparator, Lines& lines, int64_t run) {
  // The elements of the right run that go before left[i] end at a place in [low[i], high[i]].
  std::vector<int64_t> left, low, high;
  for (int64_t line = 0; line < lines.size(); line += lines.length) {
    for (int64_t begin = 0; begin + run < lines.length; begin += 2 * run) {
      const int64_t right = line + begin + run;
      for (int64_t p = line + begin; p < right; ++p) {
        left.push_back(p);
        low.push_back(right);
        high.push_back(std::min(right + run, line + lines.length));
      }
    }
  }
  std::vector<int64_t> active(left.size()), a, b;
  std::iota(active.begin(), active.end(), 0);
  std::vector<bool> before;
  while (true) {
    active.erase(std::remove_if(active.begin(), active.end(), [&](int64_t i) { return low[i] >= high[i]; }),
                 active.end());
    if (active.empty()) break;
    a.clear();
    b.clear();
    for (const int64_t i : active) {
      a.push_back(lines.order[(low[i] + high[i]) / 2]);
      b.push_back(lines.order[left[i]]);
    }
    RETURN_IF_ERROR(comparator.Before(a, b, &before));
    for (size_t k = 0; k < active.size(); ++k) {
      const int64_t i = active[k], middle = (low[i] + high[i]) / 2;
      if (before[k]) {
        low[i] = middle + 1;
      } else {
        high[i] = middle;
      }
    }
  }
  std::vector<int64_t> merged = lines.order;
  for (size_t i = 0; i < left.size();) {
    const int64_t begin = left[i], right = begin + run;
    const int64_t end = std::min(right + run, begin - begin % lines.length + lines.length);
    int64_t out = begin, next = right;
    for (; i < left.size() && left[i] < right; ++i) {
      while (next < low[i]) merged[out++] = lines.order[next++];
      merged[out++] = lines.order[left[i]];
    }
    while (next < end) merged[out++] = lines.order[next++];
  }
  lines.order = std::move(merged);
  return absl::OkStatus();
}

// Copies between an array [rows, shape] and its lines along d.
StridedLoop LineLoop(const Shape& shape, int d, int64_t rows, bool uniform, bool to_lines) {
  const int64_t width = ByteWidth(shape.element_type()), row_bytes = shape.ByteSize();
  const Dims strides = RowMajorStrides(shape.dims(), width);
  StridedLoop loop;
  loop.width = width;
  loop.Add(rows, to_lines && uniform ? 0 : row_bytes, row_bytes);
  Dims line_strides(shape.rank());
  int64_t stride = shape.dim(d) * width;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    line_strides[i] = i == d ? width : stride;
    if (i != d) stride *= shape.dim(i);
  }
  for (int i = 0; i < shape.rank(); ++i) {
    loop.Add(shape.dim(i), to_lines ? strides[i] : line_strides[i], to_lines ? line_strides[i] : strides[i]);
  }
  return loop;
}

}  // namespace

absl::Status ExecuteSort(OpCall& call) {
  const Shape& shape = call.operand_shape(0);
  const int operands = call.num_operands(), d = static_cast<int>(call.instruction().dimension());
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  std::vector<MeshBuffer> results(operands);
  Lines lines;
  lines.length = shape.dim(d);
  lines.lines = lines.length == 0 ? 0 : rows * (shape.NumElements() / lines.length);
  for (int i = 0; i < operands; ++i) {
    MeshBuffer array;
    const Shape& operand = call.operand_shape(i);
    RETURN_IF_ERROR(call.New(operand.ByteSize(), uniform, &array));
    ParallelStridedCopy(LineLoop(operand, d, rows, call.uniform(i), /*to_lines=*/true), call.data(i),
                        array.mutable_data());
    lines.arrays.push_back(std::move(array));
    lines.widths.push_back(ByteWidth(operand.element_type()));
  }
  // `order`, and at most as much for keys and for the scratch memory of stable_sort.
  const int64_t order_bytes = lines.size() * static_cast<int64_t>(sizeof(lines.order[0]));
  RETURN_IF_ERROR(call.CheckMemory(3 * order_bytes));
  lines.order.resize(lines.size());
  std::iota(lines.order.begin(), lines.order.end(), 0);
  const std::optional<SimpleOrder> simple = Classify(*call.instruction().called(0));
  if (!simple.has_value() ||
      !SortSimply(lines, call.operand_shape(simple->operand).element_type(), *simple)) {
    RETURN_IF_ERROR(call.CheckMemory(4 * order_bytes));  // The lists of MergeRuns.
    BatchComparator comparator(call, lines);
    for (int64_t run = 1; run < lines.length; run *= 2) RETURN_IF_ERROR(MergeRuns(comparator, lines, run));
  }
  for (int i = 0; i < operands; ++i) {
    const int64_t width = lines.widths[i];
    MeshBuffer sorted;
    RETURN_IF_ERROR(call.New(call.operand_shape(i).ByteSize(), uniform, &sorted));
    for (int64_t p = 0; p < lines.size(); ++p) {
      std::memcpy(sorted.mutable_data() + p * width, lines.arrays[i].data() + lines.order[p] * width, width);
    }
    RETURN_IF_ERROR(call.New(call.operand_shape(i).ByteSize(), uniform, &results[i]));
    ParallelStridedCopy(LineLoop(call.operand_shape(i), d, rows, false, /*to_lines=*/false), sorted.data(),
                        results[i].mutable_data());
  }
  if (!call.shape().IsTuple()) {
    call.result() = std::move(results[0]);
    return absl::OkStatus();
  }
  call.result() = MeshBuffer::Tuple(std::move(results));
  return absl::OkStatus();
}

}  // namespace toroid
