#include "runtime/arguments/random_arguments.h"

#include <algorithm>
#include <complex>
#include <utility>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"

namespace toroid {
namespace {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // Uniform in [-1, 1), with few enough bits to be exact in f32.
  double Signed() { return static_cast<double>(Next() >> 41) * 0x1p-22 - 1; }

 private:
  uint64_t state_;
};

// Maps a number of [-1, 1) into the domain.
double InDomain(double number, Domain domain) {
  const double unit = (number + 1) / 2;
  if (domain & kBelowOne) return 0.0625 + unit * 0.875;
  if (domain & kPositive) return 0.0625 + unit * 0.9375;
  if (domain & kNegative) return -0.0625 - unit * 0.9375;
  return number;
}

template <typename T>
T RandomValue(Generator& generator, int64_t int_bound, Domain domain) {
  if constexpr (kIsPred<T>) {
    return (generator.Next() & 1) != 0;
  } else if constexpr (kIsInt<T>) {
    const int64_t least = domain & (kPositive | kBelowOne) ? 1 : 0;
    const uint64_t values = static_cast<uint64_t>(std::max<int64_t>(1, int_bound - least));
    return T(least + static_cast<int64_t>(generator.Next() % values));
  } else if constexpr (IsComplexType<T>::value) {
    const double real = generator.Signed();
    return ConvertValue<T>(complex128(real, generator.Signed()));
  } else {
    return ConvertValue<T>(InDomain(generator.Signed(), domain));
  }
}

// Makes square matrices in the last two dimensions Hermitian, with a large diagonal.
template <typename T>
void MakeDefinite(const Shape& shape, absl::Span<T> values) {
  const int rank = shape.rank();
  if (rank < 2 || shape.dim(rank - 1) != shape.dim(rank - 2)) return;
  const int64_t n = shape.dim(rank - 1);
  for (size_t matrix = 0; matrix < values.size(); matrix += n * n) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        const complex128 small =
            ConvertValue<complex128>(values[matrix + i * n + j]) / (2.0 * static_cast<double>(n));
        const complex128 value = i == j ? complex128(1 + std::abs(small)) : small;
        values[matrix + i * n + j] = ConvertValue<T>(value);
        values[matrix + j * n + i] = ConvertValue<T>(std::conj(value));
      }
    }
  }
}

Literal RandomLiteral(const Shape& shape, int64_t int_bound, Generator& generator, const Domain** domain) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes())
      elements.push_back(RandomLiteral(element, int_bound, generator, domain));
    return Literal::Tuple(std::move(elements));
  }
  const Domain asked = *domain == nullptr ? Domain{kAnyValue} : *(*domain)++;
  Literal literal(shape);
  VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (T& value : literal.mutable_data<T>()) value = RandomValue<T>(generator, int_bound, asked);
        if constexpr (!kIsPred<T> && !kIsInt<T>) {
          if (asked & kPositiveDefinite) MakeDefinite<T>(shape, literal.mutable_data<T>());
        }
        return 0;
      },
      0);
  return literal;
}

}  // namespace

int64_t IndexBound(const Module& module) {
  int64_t bound = 8;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      const Opcode opcode = instruction->opcode();
      const auto limit = [&](int64_t d) {
        const Shape& shape = instruction->operand(0)->shape();
        if (d >= 0 && d < shape.rank()) bound = std::min(bound, shape.dim(d));
      };
      if (opcode == Opcode::kGather) {
        for (const int64_t d : GatherView(*instruction).start_index_map()) limit(d);
      } else if (opcode == Opcode::kScatter) {
        for (const int64_t d : ScatterView(*instruction).scatter_dims_to_operand_dims()) limit(d);
      }
    }
  }
  return std::max<int64_t>(bound, 1);
}

std::vector<Literal> RandomLiterals(absl::Span<const Shape> shapes, int64_t int_bound, uint64_t seed,
                                    absl::Span<const std::vector<Domain>> domains) {
  Generator generator(seed);
  std::vector<Literal> literals;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Domain* domain = domains.empty() ? nullptr : domains[i].data();
    literals.push_back(RandomLiteral(shapes[i], int_bound, generator, &domain));
  }
  return literals;
}

}  // namespace toroid
