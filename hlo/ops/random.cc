#include "hlo/ops/random.h"

#include "hlo/ops/constraint.h"

namespace toroid {

absl::StatusOr<Shape> InferRngShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const PrimitiveType type = given.element_type();
  if (!IsInt(type) && !IsFloat(type) && type != xla::PRED) {
    return Violates("C1", absl::StrCat("random numbers of type ", given.ToString()));
  }
  RETURN_IF_ERROR(CheckScalar("C1", "operand 0", instruction.operand(0)->shape(), type));
  RETURN_IF_ERROR(CheckScalar("C1", "operand 1", instruction.operand(1)->shape(), type));
  const xla::RandomDistribution distribution = instruction.attrs().distribution();
  if (distribution != xla::RNG_UNIFORM && distribution != xla::RNG_NORMAL) {
    return Violates("C2", "unknown distribution", "use rng_uniform or rng_normal");
  }
  return given.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferRngGetAndUpdateStateShape(const Instruction&) { return Shape(xla::U64, {2}); }

absl::StatusOr<Shape> InferRngBitGeneratorShape(const Instruction& instruction) {
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& state = instruction.operand(0)->shape();
  const xla::RandomAlgorithm algorithm = instruction.attrs().rng_algorithm();
  if (algorithm < xla::RNG_DEFAULT || algorithm > xla::RNG_PHILOX) return Violates("C3", "unknown algorithm");
  const bool two = SameShape(state, Shape(xla::U64, {2}));
  const bool three = SameShape(state, Shape(xla::U64, {3}));
  if (!two && (!three || algorithm == xla::RNG_THREE_FRY)) {
    return Violates("C1", absl::StrCat("state ", state.ToString()), "use u64[2], or u64[3] for philox");
  }
  const bool pair = given.IsTuple() && given.tuple_shapes().size() == 2;
  if (!pair || !SameShape(given.tuple_shape(0), state) || !IsInt(given.tuple_shape(1).element_type()) ||
      BitWidth(given.tuple_shape(1).element_type()) < 8) {
    return Violates("C2", absl::StrCat("result ", given.ToString()), "give (state, array of integers)");
  }
  return given.WithRowMajorLayout();
}

}  // namespace toroid
