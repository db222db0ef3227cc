#include "runtime/kernels/rng.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/counter_random.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
uint64_t Join(uint32_t low, uint32_t high) { return low | static_cast<uint64_t>(high) << 32; }
constexpr int64_t kBlocks = 512;  // Counters at a time.

// How the blocks of Threefry become elements narrower than 64 bits: block i, row-major over [outer, half, inner], gives
// elements 2t and 2t + 1 along the middle dimension of [outer, size, inner].
struct ThreefryOrder {
  int64_t outer = 1, size = 1, half = 1, inner = 1;

  explicit ThreefryOrder(const Shape& shape) {
    int split = -1;
    for (int d = 0; d < shape.rank() && split < 0; ++d) {
      if (shape.dim(d) % 2 == 0) split = d;
    }
    for (int d = 0; d < shape.rank() && (split < 0 || shape.dim(split) % 2 != 0); ++d) {
      if (split < 0 || shape.dim(d) > shape.dim(split)) split = d;
    }
    if (split < 0) return;
    size = shape.dim(split);
    half = (size + 1) / 2;
    for (int d = 0; d < split; ++d) outer *= shape.dim(d);
    for (int d = split + 1; d < shape.rank(); ++d) inner *= shape.dim(d);
  }
};

// Stores the words of blocks begin .. begin + n - 1, cut to T.
template <typename T>
void StorePairs(const ThreefryOrder& order, int64_t begin, int64_t n, const uint32_t* first,
                const uint32_t* second, T* out) {
  const auto [outer, size, half, inner] = order;
  for (int64_t done = 0; done < n;) {
    const int64_t i = begin + done, o = i / (half * inner), h = i / inner % half, j = i % inner;
    T* at = out + (o * size + 2 * h) * inner + j;
    const uint32_t *a = first + done, *b = second + done;
    int64_t run = 0;
    if (inner == 1) {
      run = std::min(n - done, half - h);
      const int64_t pairs = std::min(run, (size - 2 * h) / 2);
      for (int64_t r = 0; r < pairs; ++r) {
        at[2 * r] = static_cast<T>(a[r]);
        at[2 * r + 1] = static_cast<T>(b[r]);
      }
      if (pairs < run) at[2 * pairs] = static_cast<T>(a[pairs]);
    } else {
      run = std::min(n - done, inner - j);
      for (int64_t r = 0; r < run; ++r) at[r] = static_cast<T>(a[r]);
      if (2 * h + 1 < size) {
        for (int64_t r = 0; r < run; ++r) at[inner + r] = static_cast<T>(b[r]);
      }
    }
    done += run;
  }
}

// Calls body(begin, n) for pieces of `blocks` counters, on several threads.
template <typename Body>
void ForEachPiece(int64_t blocks, Body&& body) {
  ParallelFor((blocks + kBlocks - 1) / kBlocks, 8, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      body(piece * kBlocks, std::min(kBlocks, blocks - piece * kBlocks));
    }
  });
}

// Fills one row; returns the new counter.
uint64_t FillThreefry(const Shape& shape, uint64_t key, uint64_t counter, char* out) {
  const std::array<uint32_t, 2> k = {Low(key), High(key)};
  const int64_t width = ByteWidth(shape.element_type()), n = shape.NumElements();
  if (n == 0) return counter;
  const ThreefryOrder order(shape);
  const int64_t blocks = width == 8 ? n : order.outer * order.half * order.inner;
  ForEachPiece(blocks, [&](int64_t begin, int64_t count) {
    uint32_t first[kBlocks], second[kBlocks];
    ThreefryBlocks(k, counter + static_cast<uint64_t>(begin), count, first, second);
    if (width == 8) {
      uint64_t* words = reinterpret_cast<uint64_t*>(out) + begin;
      for (int64_t i = 0; i < count; ++i) words[i] = Join(first[i], second[i]);
    } else if (width == 4) {
      StorePairs(order, begin, count, first, second, reinterpret_cast<uint32_t*>(out));
    } else if (width == 2) {
      StorePairs(order, begin, count, first, second, reinterpret_cast<uint16_t*>(out));
    } else {
      StorePairs(order, begin, count, first, second, reinterpret_cast<uint8_t*>(out));
    }
  });
  return counter + static_cast<uint64_t>(blocks);
}

// Fills one row; advances the counter.
void FillPhilox(int64_t n, int64_t width, uint64_t key, uint64_t* low, uint64_t* high, char* out) {
  const std::array<uint32_t, 2> k = {Low(key), High(key)};
  const int64_t per_block = width == 8 ? 2 : 4, blocks = (n + per_block - 1) / per_block;
  ForEachPiece(blocks, [&](int64_t begin, int64_t count) {
    uint32_t words[4 * kBlocks];
    const uint64_t from = *low + static_cast<uint64_t>(begin);
    PhiloxBlocks(k, from, *high + (from < *low), count, words);
    const int64_t first = begin * per_block, elements = std::min(count * per_block, n - first);
    if (width >= 4) {  // The words in order, as the processor stores numbers from the least significant byte.
      std::memcpy(out + first * width, words, elements * width);
    } else {
      for (int64_t i = 0; i < elements; ++i) std::memcpy(out + (first + i) * width, &words[i], width);
    }
  });
  const uint64_t before = *low;
  *low += static_cast<uint64_t>(blocks);
  *high += *low < before;
}

// A number in [0, 1) with 53 random bits.
double Fraction(uint32_t a, uint32_t b) { return static_cast<double>(Join(a, b) >> 11) * 0x1p-53; }

// n numbers of one row, from number `first` on.
template <typename T>
void DrawNumbers(bool normal, double a, double b, uint64_t draw, int64_t first, int64_t n, T* out) {
  uint32_t words[4 * kBlocks];
  PhiloxOfIndices({0x746f726f, 0x69640000}, static_cast<uint64_t>(first), draw, n, words);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t* w = words + 4 * i;
    const double u = Fraction(w[0], w[1]), v = Fraction(w[2], w[3]);
    const double value =
        normal ? a + b * std::sqrt(-2 * std::log1p(-u)) * std::cos(6.283185307179586 * v) : a + u * (b - a);
    out[i] = ConvertValue<T>(kIsReal<T> ? value : std::floor(value));
    // Rounding to the type may give b, which is excluded.
    if (!normal && kIsReal<T> && ConvertValue<double>(out[i]) >= b && b > a) out[i] = ConvertValue<T>(a);
  }
}

}  // namespace

absl::Status ExecuteRngBitGenerator(OpCall& call) {
  if (call.shape().tuple_shapes().size() != 2) {
    return absl::UnimplementedError("gives a tuple of the new state and the bits");
  }
  const Shape& bits_shape = call.shape().tuple_shape(1);
  const Shape& state_shape = call.operand_shape(0);
  const int64_t words = state_shape.NumElements(), width = ByteWidth(bits_shape.element_type());
  const bool threefry = call.attrs().rng_algorithm() == xla::RNG_THREE_FRY;
  if (state_shape.element_type() != xla::U64 || (words != 2 && (threefry || words != 3))) {
    return absl::UnimplementedError(absl::StrCat("a state of ", state_shape.ToString()));
  }
  if (!IsInt(bits_shape.element_type()) || BitWidth(bits_shape.element_type()) < 8) {
    return absl::UnimplementedError(absl::StrCat("random bits as ", TypeName(bits_shape.element_type())));
  }
  const bool uniform = call.uniform(0);
  const int64_t rows = call.rows(0), n = bits_shape.NumElements();
  MeshBuffer state, bits;
  RETURN_IF_ERROR(call.New(words * sizeof(uint64_t), uniform, &state));
  RETURN_IF_ERROR(call.New(n * width, uniform, &bits));
  for (int64_t row = 0; row < rows; ++row) {
    const uint64_t* old = reinterpret_cast<const uint64_t*>(call.data(0)) + row * words;
    uint64_t* next = reinterpret_cast<uint64_t*>(state.mutable_data()) + row * words;
    char* out = bits.mutable_data() + row * n * width;
    std::copy_n(old, words, next);
    if (threefry) {
      next[1] = FillThreefry(bits_shape, old[0], old[1], out);
    } else {
      uint64_t low = old[1], high = words == 3 ? old[2] : old[0];
      FillPhilox(n, width, old[0], &low, &high, out);
      next[1] = low;
      if (words == 3) next[2] = high;
    }
  }
  MeshBuffer tuple = MeshBuffer::Tuple(2);
  tuple.mutable_element(0) = std::move(state);
  tuple.mutable_element(1) = std::move(bits);
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

absl::Status ExecuteRng(OpCall& call) {
  const Shape& shape = call.shape();
  const bool normal = call.attrs().distribution() == xla::RNG_NORMAL;
  const bool uniform = call.AllUniform();
  const uint64_t draw = call.mesh().run->rng_draws++;
  RETURN_IF_ERROR(call.NewResult(uniform));
  const int64_t n = call.result_elements();
  const bool known = VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (IsComplexType<T>::value) {
          return false;
        } else {
          if (normal && !kIsReal<T>) return false;
          for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
            const double a =
                ConvertValue<double>(reinterpret_cast<const T*>(call.data(0))[call.uniform(0) ? 0 : row]);
            const double b =
                ConvertValue<double>(reinterpret_cast<const T*>(call.data(1))[call.uniform(1) ? 0 : row]);
            T* out = reinterpret_cast<T*>(call.result().mutable_data()) + row * n;
            ForEachPiece(n, [&](int64_t begin, int64_t count) {
              DrawNumbers(normal, a, b, draw, begin, count, out + begin);
            });
          }
          return true;
        }
      },
      false);
  if (!known)
    return absl::UnimplementedError(absl::StrCat("random numbers of ", TypeName(shape.element_type())));
  return absl::OkStatus();
}

absl::Status ExecuteRngGetAndUpdateState(OpCall& call) {
  if (call.shape().element_type() != xla::U64 || call.result_elements() != 2) {
    return absl::InvalidArgumentError("the state is u64[2]");
  }
  RETURN_IF_ERROR(call.NewResult(/*uniform=*/true));
  uint64_t* state = call.mesh().run->rng_state;
  std::memcpy(call.result().mutable_data(), state, 2 * sizeof(uint64_t));
  const uint64_t before = state[0];
  state[0] += static_cast<uint64_t>(call.attrs().delta());
  state[1] += state[0] < before;
  return absl::OkStatus();
}

}  // namespace toroid
