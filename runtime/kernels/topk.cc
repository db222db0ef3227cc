// BUILD: copts = ["-O3"]
#include "runtime/kernels/topk.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/scalar_ops.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/loops/total_order.h"

namespace toroid {
namespace {

// An unsigned integer that has the order of x.
template <typename T>
auto OrderKey(T x) {
  if constexpr (kIsPred<T>) {
    return static_cast<uint32_t>(x);
  } else {
    using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
    if constexpr (!kIsInt<T>) {
      return static_cast<Key>(ToTotalOrder(x)) ^ kSign;
    } else if constexpr (IntOps<T>::kSigned) {
      return static_cast<Key>(static_cast<typename IntBits<T>::Storage>(x)) ^ kSign;
    } else {
      return static_cast<Key>(static_cast<typename IntBits<T>::Storage>(x));
    }
  }
}

// The first k elements of a line, as numbers of a key and the element's place: no two are alike, so that the result does not
// depend on how they are found.
template <typename T>
class Selection {
 public:
  using Key = decltype(OrderKey(T{}));
  using Number = std::conditional_t<sizeof(Key) == 8, unsigned __int128, uint64_t>;

  Selection(int64_t k, bool largest)
      : k_(k), largest_(largest), candidates_(std::max<int64_t>(4 * k, 64) + kBlock) {}

  // Drops all elements.
  void Clear() {
    count_ = 0;
    limited_ = false;
  }

  // Adds the elements line[begin] .. line[end - 1], which stand behind all others. One that k others go before is dropped.
  void Add(const T* line, int64_t begin, int64_t end) {
    Key keys[kBlock];
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t n = std::min(kBlock, end - first);
      Key least = std::numeric_limits<Key>::max();
      for (int64_t i = 0; i < n; ++i) {
        keys[i] = largest_ ? ~OrderKey(line[first + i]) : OrderKey(line[first + i]);
        least = std::min(least, keys[i]);
      }
      if (limited_ && least >= limit_) continue;
      for (int64_t i = 0; i < n; ++i) {  // Without a branch on the values.
        candidates_[count_] = static_cast<Number>(keys[i]) << 32 | static_cast<Number>(first + i);
        count_ += !limited_ | (keys[i] < limit_);
      }
      if (count_ + kBlock > static_cast<int64_t>(candidates_.size())) Shrink();
    }
  }

  // Adds what `other` holds.
  void Add(const Selection& other) {
    candidates_.resize(std::max<size_t>(candidates_.size(), count_ + other.count_ + kBlock));
    std::copy_n(other.candidates_.begin(), other.count_, candidates_.begin() + count_);
    count_ += other.count_;
    Shrink();
  }

  // The places of the first k elements, in order.
  void Places(int32_t* places) {
    Shrink();
    std::sort(candidates_.begin(), candidates_.begin() + k_);
    for (int64_t i = 0; i < k_; ++i) places[i] = static_cast<int32_t>(candidates_[i] & 0xffffffff);
  }

 private:
  static constexpr int64_t kBlock = 128;

  // Leaves the first k candidates.
  void Shrink() {
    if (count_ <= k_ || k_ == 0) {
      if (k_ == 0) count_ = 0;
      return;
    }
    std::nth_element(candidates_.begin(), candidates_.begin() + (k_ - 1), candidates_.begin() + count_);
    limit_ = static_cast<Key>(candidates_[k_ - 1] >> 32);
    limited_ = true;
    count_ = k_;
  }

  const int64_t k_;
  const bool largest_;
  std::vector<Number> candidates_;  // Room for one more block.
  int64_t count_ = 0;
  Key limit_ = 0;         // The key of the last of k candidates,
  bool limited_ = false;  // if there are as many.
};

constexpr int64_t kLongLine = 1 << 18;  // Elements of a line that several threads share.

template <typename T>
void FirstOfLines(const T* in, int64_t lines, int64_t n, int64_t k, bool largest, T* values,
                  int32_t* places) {
  const auto store = [&](int64_t line) {
    for (int64_t i = 0; i < k; ++i) values[line * k + i] = in[line * n + places[line * k + i]];
  };
  const int64_t threads = NumThreads();
  if (n < kLongLine || lines >= threads) {
    ParallelFor(lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
      Selection<T> selection(k, largest);
      for (int64_t line = begin; line < end; ++line) {
        selection.Clear();
        selection.Add(in + line * n, 0, n);
        selection.Places(places + line * k);
        store(line);
      }
    });
    return;
  }
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<Selection<T>> parts(threads, Selection<T>(k, largest));
    ParallelFor(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        parts[part].Add(in + line * n, n * part / threads, n * (part + 1) / threads);
      }
    });
    for (int64_t part = 1; part < threads; ++part) parts[0].Add(parts[part]);
    parts[0].Places(places + line * k);
    store(line);
  }
}

}  // namespace

absl::Status ExecuteTopK(OpCall& call) {
  const Shape& shape = call.operand_shape(0);
  if (call.num_operands() != 1 || shape.rank() < 1 || call.shape().tuple_shapes().size() != 2 ||
      call.shape().tuple_shape(1).element_type() != xla::S32) {
    return absl::UnimplementedError("topk takes one array and gives values and s32 positions");
  }
  const int64_t n = shape.dim(shape.rank() - 1);
  const Shape& result = call.shape().tuple_shape(0);
  const int64_t k = result.dim(result.rank() - 1);
  if (k > n || n > INT32_MAX)
    return absl::InvalidArgumentError(absl::StrCat("the first ", k, " of ", n, " elements"));
  const bool largest = call.opcode() == Opcode::kCustomCall || call.attrs().largest();
  const bool uniform = call.uniform(0);
  MeshBuffer values, positions;
  RETURN_IF_ERROR(call.New(result.ByteSize(), uniform, &values));
  RETURN_IF_ERROR(call.New(result.NumElements() * sizeof(int32_t), uniform, &positions));
  // The candidates of each thread: at most 4 k, a block, and as many as another thread has.
  RETURN_IF_ERROR(call.CheckMemory(CheckedMultiply(NumThreads() * 16, 8 * k + 256).value_or(INT64_MAX)));
  const int64_t lines = n == 0 ? 0 : call.rows(0) * (shape.NumElements() / n);
  const bool ordered = VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (IsComplexType<T>::value) {
          return false;
        } else {
          FirstOfLines(reinterpret_cast<const T*>(call.data(0)), lines, n, k, largest,
                       reinterpret_cast<T*>(values.mutable_data()),
                       reinterpret_cast<int32_t*>(positions.mutable_data()));
          return true;
        }
      },
      false);
  if (!ordered) return absl::UnimplementedError(absl::StrCat("topk of ", TypeName(shape.element_type())));
  MeshBuffer tuple = MeshBuffer::Tuple(2);
  tuple.mutable_element(0) = std::move(values);
  tuple.mutable_element(1) = std::move(positions);
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

}  // namespace toroid
