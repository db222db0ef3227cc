#include "runtime/kernels/rng.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"

namespace toroid {
namespace {

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
uint64_t Join(uint32_t low, uint32_t high) { return low | static_cast<uint64_t>(high) << 32; }
uint32_t RotateLeft(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

// Writes the low bits of a word as element i of an integer type of `width` bytes.
void Store(char* out, int64_t i, int64_t width, uint64_t word) { std::memcpy(out + i * width, &word, width); }

// Fills one row; returns the new counter.
uint64_t FillThreefry(const Shape& shape, uint64_t key, uint64_t counter, char* out) {
  const std::array<uint32_t, 2> k = {Low(key), High(key)};
  const int64_t width = ByteWidth(shape.element_type()), n = shape.NumElements();
  const auto block = [&](uint64_t i) { return Threefry2x32(k, {Low(counter + i), High(counter + i)}); };
  if (width == 8) {
    for (int64_t i = 0; i < n; ++i) {
      const auto words = block(i);
      Store(out, i, width, Join(words[0], words[1]));
    }
    return counter + n;
  }
  if (n == 0) return counter;
  int split = -1;
  for (int d = 0; d < shape.rank() && split < 0; ++d) {
    if (shape.dim(d) % 2 == 0) split = d;
  }
  for (int d = 0; d < shape.rank() && (split < 0 || shape.dim(split) % 2 != 0); ++d) {
    if (split < 0 || shape.dim(d) > shape.dim(split)) split = d;
  }
  const int64_t size = split < 0 ? 1 : shape.dim(split), half = (size + 1) / 2;
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < split; ++d) outer *= shape.dim(d);
  for (int d = split + 1; d < shape.rank() && split >= 0; ++d) inner *= shape.dim(d);
  uint64_t i = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t h = 0; h < half; ++h) {
      for (int64_t j = 0; j < inner; ++j, ++i) {
        const auto words = block(i);
        const int64_t at = (o * size + 2 * h) * inner + j;
        Store(out, at, width, words[0]);
        if (2 * h + 1 < size) Store(out, at + inner, width, words[1]);
      }
    }
  }
  return counter + i;
}

// The 128-bit number (high, low) plus i, as words from the least significant.
std::array<uint32_t, 4> CounterWords(uint64_t low, uint64_t high, uint64_t i) {
  const uint64_t sum = low + i;
  const uint64_t carried = high + (sum < low);
  return {Low(sum), High(sum), Low(carried), High(carried)};
}

// Fills one row; advances the counter.
void FillPhilox(int64_t n, int64_t width, uint64_t key, uint64_t* low, uint64_t* high, char* out) {
  const std::array<uint32_t, 2> k = {Low(key), High(key)};
  const int64_t per_block = width == 8 ? 2 : 4;
  const int64_t blocks = (n + per_block - 1) / per_block;
  for (int64_t i = 0; i < blocks; ++i) {
    const auto words = Philox4x32(k, CounterWords(*low, *high, i));
    for (int64_t j = 0; j < per_block && i * per_block + j < n; ++j) {
      Store(out, i * per_block + j, width, width == 8 ? Join(words[2 * j], words[2 * j + 1]) : words[j]);
    }
  }
  const uint64_t before = *low;
  *low += blocks;
  *high += *low < before;
}

// A number in [0, 1) with 53 random bits.
double Fraction(uint32_t a, uint32_t b) { return static_cast<double>(Join(a, b) >> 11) * 0x1p-53; }

}  // namespace

std::array<uint32_t, 2> Threefry2x32(std::array<uint32_t, 2> key, std::array<uint32_t, 2> input) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  uint32_t x0 = input[0] + k[0], x1 = input[1] + k[1];
  for (uint32_t block = 1; block <= 5; ++block) {
    for (const int rotation : kRotations[(block - 1) % 2]) {
      x0 += x1;
      x1 = RotateLeft(x1, rotation) ^ x0;
    }
    x0 += k[block % 3];
    x1 += k[(block + 1) % 3] + block;
  }
  return {x0, x1};
}

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 2> key, std::array<uint32_t, 4> c) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {High(b) ^ c[1] ^ key[0], Low(b), High(a) ^ c[3] ^ key[1], Low(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

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
            for (int64_t i = 0; i < n; ++i) {
              const auto words = Philox4x32({0x746f726f, 0x69640000}, CounterWords(i, draw, 0));
              const double u = Fraction(words[0], words[1]), v = Fraction(words[2], words[3]);
              const double value =
                  normal ? a + b * std::sqrt(-2 * std::log1p(-u)) * std::cos(6.283185307179586 * v)
                         : a + u * (b - a);
              out[i] = ConvertValue<T>(kIsReal<T> ? value : std::floor(value));
              // Rounding to the type may give b, which is excluded.
              if (!normal && kIsReal<T> && ConvertValue<double>(out[i]) >= b && b > a)
                out[i] = ConvertValue<T>(a);
            }
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
