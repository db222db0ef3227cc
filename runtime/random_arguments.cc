#include "runtime/random_arguments.h"

#include <algorithm>
#include <utility>

#include "runtime/kernels/convert_value.h"

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

template <typename T>
T RandomValue(Generator& generator, int64_t int_bound) {
  if constexpr (kIsPred<T>) {
    return (generator.Next() & 1) != 0;
  } else if constexpr (kIsInt<T>) {
    return T(static_cast<int64_t>(generator.Next() % static_cast<uint64_t>(int_bound)));
  } else if constexpr (IsComplexType<T>::value) {
    const double real = generator.Signed();
    return ConvertValue<T>(complex128(real, generator.Signed()));
  } else {
    return ConvertValue<T>(generator.Signed());
  }
}

Literal RandomLiteral(const Shape& shape, int64_t int_bound, Generator& generator) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes())
      elements.push_back(RandomLiteral(element, int_bound, generator));
    return Literal::Tuple(std::move(elements));
  }
  Literal literal(shape);
  VisitArrayType(
      shape.element_type(),
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (T& value : literal.mutable_data<T>()) value = RandomValue<T>(generator, int_bound);
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
        if (d >= 0 && d < shape.rank()) bound = std::min(bound, shape.dim(static_cast<int>(d)));
      };
      if (opcode == Opcode::kGather) {
        for (const int64_t d : instruction->attrs().gather_dimension_numbers().start_index_map()) limit(d);
      } else if (opcode == Opcode::kScatter) {
        for (const int64_t d :
             instruction->attrs().scatter_dimension_numbers().scatter_dims_to_operand_dims()) {
          limit(d);
        }
      }
    }
  }
  return std::max<int64_t>(bound, 1);
}

std::vector<Literal> RandomLiterals(absl::Span<const Shape> shapes, int64_t int_bound, uint64_t seed) {
  Generator generator(seed);
  std::vector<Literal> literals;
  for (const Shape& shape : shapes) literals.push_back(RandomLiteral(shape, int_bound, generator));
  return literals;
}

}  // namespace toroid
