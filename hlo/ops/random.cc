#include "hlo/ops/random.h"

#include "hlo/ops/constraint.h"

namespace toroid {

absl::StatusOr<Shape> InferRngShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const PrimitiveType type = given.element_type();
  if (!IsInt(type) && !IsFloat(type) && type != xla::PRED) {
    return Violates("C1", "the result", given.ToString(), "integers, floats or booleans");
  }
  for (const int i : {0, 1}) {
    RETURN_IF_ERROR(
        CheckShape("C2", absl::StrCat("operand ", i), instruction.operand(i)->shape(), Shape(type, {})));
  }
  const xla::RandomDistribution distribution = instruction.attrs().distribution();
  if (distribution != xla::RNG_UNIFORM && distribution != xla::RNG_NORMAL) {
    return Violates("C3", "distribution", absl::StrCat(static_cast<int>(distribution)),
                    "rng_uniform or rng_normal");
  }
  if (distribution == xla::RNG_NORMAL && !IsFloat(type)) {
    return Violates("C4", "the result of rng_normal", given.ToString(), "floats");
  }
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferRngGetAndUpdateStateShape(const Instruction&) { return Shape(xla::U64, {2}); }

absl::StatusOr<Shape> InferRngBitGeneratorShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& state = instruction.operand(0)->shape();
  const xla::RandomAlgorithm algorithm = instruction.attrs().rng_algorithm();
  if (algorithm < xla::RNG_DEFAULT || algorithm > xla::RNG_PHILOX) {
    return Violates("C1", "algorithm", absl::StrCat(static_cast<int>(algorithm)),
                    "rng_default, rng_three_fry or rng_philox");
  }
  const bool two = SameShape(state, Shape(xla::U64, {2}));
  const bool three = SameShape(state, Shape(xla::U64, {3}));
  if (!two && (!three || algorithm == xla::RNG_THREE_FRY)) {
    return Violates("C2", "the state", state.ToString(), "u64[2], or u64[3] but for rng_three_fry");
  }
  const bool pair = given.IsTuple() && given.tuple_shapes().size() == 2;
  if (!pair || !SameShape(given.tuple_shape(0), state) || !IsInt(given.tuple_shape(1).element_type()) ||
      BitWidth(given.tuple_shape(1).element_type()) < 8) {
    return Violates("C3", "the result", given.ToString(), "(state, array of integers of 8 to 64 bits)");
  }
  return given.WithRowMajorLayout();
}

}  // namespace toroid
