#include "runtime/kernels/sort.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/kernels/comparator_sort.h"
#include "runtime/kernels/sort_order.h"
#include "runtime/loops/radix_sort.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/loops/total_order.h"
#include "runtime/mesh/mesh_rows.h"

namespace toroid {
namespace {

// The number by which a real value is compared, except in the total order.
template <typename T>
auto Number(T x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return static_cast<float>(x);
  }
}

// An integer that has the order of x. Keys of one type need one instance of the sort, not one per element
// type.
template <typename T>
int64_t OrderKey(T x, [[maybe_unused]] const SortKey& key) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return static_cast<int64_t>(x ^ (uint64_t{1} << 63));
  } else if constexpr (kIsReal<T>) {
    // -0 counts as +0, whose place in the total order is 0. All NaNs stand behind infinity if they are one.
    if ((key.one_zero || !key.total) && Number(x) == 0) return 0;
    if (key.one_nan && Number(x) != Number(x)) {
      return sizeof(T) == 8 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
    }
    return ToTotalOrder(x);
  } else {
    return static_cast<int64_t>(x);
  }
}

// The key of every element; false if the values are not in a strict weak order: NaNs under the partial order.
template <typename T>
bool SetKeys(const char* data, int64_t stride, const SortKey& key, absl::Span<int64_t> keys) {
  const T* values = reinterpret_cast<const T*>(data);
  bool ordered = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    const T x = values[static_cast<int64_t>(i) * stride];
    if constexpr (kIsReal<T>) ordered &= key.total || Number(x) == Number(x);
    const int64_t order = OrderKey(x, key);
    keys[i] = key.descending ? ~order : order;
  }
  return ordered;
}

using KeyLoop = bool (*)(const char* data, int64_t stride, const SortKey& key, absl::Span<int64_t> keys);

// The loop for keys of a type, and the bytes of what it looks at; `stride` in values: 2 for a part of a complex number.
KeyLoop KeyLoopOf(PrimitiveType type, int64_t* width, int64_t* stride) {
  *stride = IsComplex(type) ? 2 : 1;
  if (IsComplex(type)) type = RealTypeOf(type);
  *width = ByteWidth(type);
  return VisitArrayType(
      type,
      [](auto tag) -> KeyLoop {
        using T = typename decltype(tag)::type;
        if constexpr (kIsComplex<T>) {
          return nullptr;
        } else {
          return SetKeys<T>;
        }
      },
      KeyLoop{nullptr});
}

constexpr int64_t kLongLine = 1 << 16;  // Elements of a line that several threads share.
constexpr int64_t kRadixLine = 1 << 11;

// Sorts a short line. `keys`: by key and element.
void SortShortLine(const std::vector<std::vector<int64_t>>& keys, bool narrow, absl::Span<int64_t> order) {
  const int64_t n = static_cast<int64_t>(order.size()), offset = n == 0 ? 0 : order[0];
  if (narrow) {
    // A number of a key, which has at most 33 bits, and the element's place is unlike all others, so that the sort is stable.
    constexpr int kPlaceBits = 30;
    std::vector<uint64_t> numbers(n);
    for (int64_t i = 0; i < n; ++i) {
      numbers[i] =
          static_cast<uint64_t>(keys[0][i] + (int64_t{1} << 33)) << kPlaceBits | static_cast<uint64_t>(i);
    }
    std::sort(numbers.begin(), numbers.end());
    for (int64_t i = 0; i < n; ++i) {
      order[i] = offset + static_cast<int64_t>(numbers[i] & ((uint64_t{1} << kPlaceBits) - 1));
    }
    return;
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    for (const std::vector<int64_t>& key : keys) {
      if (key[a - offset] != key[b - offset]) return key[a - offset] < key[b - offset];
    }
    return false;
  });
}

// Sorts a line of less than 2^32 elements: by the last key first, and by the lower 32 bits of a key first. Numbers of 32 bits
// of the key and the element's place are sorted by the former.
void SortLongLine(const std::vector<std::vector<int64_t>>& keys, bool parallel, absl::Span<int64_t> order) {
  const int64_t n = static_cast<int64_t>(order.size()), offset = order[0];
  constexpr uint64_t kLower = 0xffffffff;
  std::vector<uint64_t> numbers(n), scratch;
  for (int64_t i = 0; i < n; ++i) numbers[i] = static_cast<uint64_t>(i);
  for (size_t k = keys.size(); k-- > 0;) {
    const std::vector<int64_t>& key = keys[k];
    const auto [least, most] = std::minmax_element(key.begin(), key.end());
    const uint64_t base = static_cast<uint64_t>(*least), range = static_cast<uint64_t>(*most) - base;
    for (int part = 0; part < 2 && range >> (32 * part) != 0; ++part) {
      for (uint64_t& number : numbers) {
        const uint64_t place = number & kLower;
        number = ((static_cast<uint64_t>(key[place]) - base) >> (32 * part) & kLower) << 32 | place;
      }
      const int bits = std::min(32, static_cast<int>(std::bit_width(range >> (32 * part))));
      RadixSort(32, bits, parallel, &numbers, &scratch);
    }
  }
  for (int64_t i = 0; i < n; ++i) order[i] = offset + static_cast<int64_t>(numbers[i] & kLower);
}

// Returns false if the values are not in a strict weak order.
bool SortByKeys(SortLines& lines, absl::Span<const SortKey> keys, absl::Span<const PrimitiveType> types) {
  std::vector<KeyLoop> loops(keys.size());
  std::vector<int64_t> widths(keys.size()), strides(keys.size());
  for (size_t k = 0; k < keys.size(); ++k) {
    loops[k] = KeyLoopOf(types[keys[k].operand], &widths[k], &strides[k]);
    if (loops[k] == nullptr) return false;
  }
  const bool narrow = keys.size() == 1 && widths[0] <= 4;
  std::atomic<bool> ordered = true;
  const auto sort = [&](int64_t line, bool parallel) {
    std::vector<std::vector<int64_t>> values(keys.size(), std::vector<int64_t>(lines.length));
    for (size_t k = 0; k < keys.size(); ++k) {
      const char* data = lines.arrays[keys[k].operand].data() + line * lines.length * widths[k] * strides[k] +
                         (keys[k].part == SortKey::Part::kImag ? widths[k] : 0);
      if (!loops[k](data, strides[k], keys[k], absl::MakeSpan(values[k]))) ordered = false;
    }
    const absl::Span<int64_t> order = absl::MakeSpan(lines.order).subspan(line * lines.length, lines.length);
    if (lines.length >= kRadixLine && lines.length <= std::numeric_limits<uint32_t>::max()) {
      SortLongLine(values, parallel, order);
    } else {
      SortShortLine(values, narrow && lines.length < kRadixLine, order);
    }
  };
  if (lines.length >= kLongLine) {
    for (int64_t line = 0; line < lines.lines && ordered; ++line) sort(line, /*parallel=*/true);
  } else {
    ParallelFor(lines.lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, lines.length)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t line = begin; line < end && ordered; ++line) sort(line, /*parallel=*/false);
                });
  }
  if (!ordered) std::iota(lines.order.begin(), lines.order.end(), 0);
  return ordered;
}

template <typename T>
void TakeWords(const char* from, absl::Span<const int64_t> order, char* to) {
  const T* values = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  for (size_t p = 0; p < order.size(); ++p) out[p] = values[order[p]];
}

// to[p] = from[order[p]], elements of `width` bytes.
void TakeInOrder(const char* from, const std::vector<int64_t>& order, int64_t width, char* to) {
  ParallelFor(static_cast<int64_t>(order.size()), 16384, [&](int64_t begin, int64_t end) {
    const absl::Span<const int64_t> part = absl::MakeConstSpan(order).subspan(begin, end - begin);
    char* out = to + begin * width;
    if (width == 4) return TakeWords<uint32_t>(from, part, out);
    if (width == 8) return TakeWords<uint64_t>(from, part, out);
    for (const int64_t place : part) {
      std::memcpy(out, from + place * width, width);
      out += width;
    }
  });
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

// Bytes of the order, and of what makes it: by `keys` a number for each of them, another for key and place, and as much for the
// radix sort's other side.
int64_t OrderingBytes(int64_t length, int64_t lines, const std::optional<std::vector<SortKey>>& keys) {
  const int64_t order = length * lines * static_cast<int64_t>(sizeof(int64_t));
  if (!keys.has_value()) return order;
  const int64_t at_work =
      length >= kLongLine ? std::min<int64_t>(1, lines) : std::min<int64_t>(NumThreads(), lines);
  const int64_t numbers = static_cast<int64_t>(keys->size()) + (length >= kRadixLine ? 2 : 1);
  return order + at_work * length * numbers * static_cast<int64_t>(sizeof(int64_t));
}

// Bytes of an element of each operand that a comparator looks at.
int64_t ComparedWidth(const Computation& comparator) {
  std::vector<bool> compared(comparator.num_parameters() / 2, false);
  for (const auto& instruction : comparator.instructions()) {
    for (const Instruction* operand : instruction->operands()) {
      if (operand->opcode() == Opcode::kParameter) compared[operand->parameter_number() / 2] = true;
    }
  }
  int64_t width = 0;
  for (size_t i = 0; i < compared.size(); ++i) {
    if (compared[i])
      width += ByteWidth(comparator.parameter(2 * static_cast<int>(i))->shape().element_type());
  }
  return width;
}

}  // namespace

int64_t SortScratchBytes(const Instruction& sort, absl::Span<const int64_t> rows) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t length = shape.dim(static_cast<int>(sort.dimension()));
  if (shape.NumElements() == 0) return 0;
  const int64_t most_rows = *std::max_element(rows.begin(), rows.end());
  int64_t arrays = 0, widest = 0;
  for (const Instruction* operand : sort.operands()) {
    const int64_t bytes = SaturatingMultiply(operand->shape().ByteSize(), most_rows);
    arrays = SaturatingAdd(arrays, bytes);
    widest = std::max(widest, bytes);
  }
  const int64_t lines = most_rows * (shape.NumElements() / length);
  const int64_t order = OrderingBytes(length, lines, std::nullopt);
  const std::optional<std::vector<SortKey>> keys = SortKeysOf(*sort.called(0));
  const int64_t ordering = keys.has_value()
                               ? OrderingBytes(length, lines, keys)
                               : ComparatorSortBytes(length * lines, ComparedWidth(*sort.called(0)));
  // While the lines are sorted there are no results yet; then one sorted operand stands beside them.
  return std::max(ordering, SaturatingAdd(order, SaturatingAdd(arrays, widest)));
}

absl::Status ExecuteSort(OpCall& call) {
  const Shape& shape = call.operand_shape(0);
  const int operands = call.num_operands(), d = static_cast<int>(call.instruction().dimension());
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  std::vector<MeshBuffer> results(operands);
  SortLines lines;
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
  const std::optional<std::vector<SortKey>> keys = SortKeysOf(*call.instruction().called(0));
  RETURN_IF_ERROR(call.CheckMemory(OrderingBytes(lines.length, lines.lines, keys)));
  lines.order.resize(lines.size());
  std::iota(lines.order.begin(), lines.order.end(), 0);
  std::vector<PrimitiveType> types;
  for (int i = 0; i < operands; ++i) types.push_back(call.operand_shape(i).element_type());
  if (!keys.has_value() || !SortByKeys(lines, *keys, types)) {
    RETURN_IF_ERROR(SortByComparator(call, lines));
  }
  for (int i = 0; i < operands; ++i) {
    const int64_t width = lines.widths[i];
    MeshBuffer sorted;
    RETURN_IF_ERROR(call.New(call.operand_shape(i).ByteSize(), uniform, &sorted));
    TakeInOrder(lines.arrays[i].data(), lines.order, width, sorted.mutable_data());
    RETURN_IF_ERROR(call.New(call.operand_shape(i).ByteSize(), uniform, &results[i]));
    RETURN_IF_ERROR(call.CheckMemory(OrderingBytes(lines.length, lines.lines, std::nullopt)));
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
