#include "examples/moe/adafactor.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

constexpr double kSquareFloor = 1e-30;
constexpr double kScaleFloor = 1e-3;
constexpr double kDecayLimit = 0.99;
constexpr double kDecayExponent = -0.8;

std::vector<int64_t> AllDimensions(Value x) {
  std::vector<int64_t> all(x->shape().rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Value Mean(Value x, const std::vector<int64_t>& dimensions, Builder* b) {
  double count = 1;
  for (const int64_t d : dimensions) count *= static_cast<double>(x->shape().dim(d));
  return b->MultiplyNumber(b->Sum(x, dimensions), 1 / count);
}

// sqrt(mean of x^2), f32[].
Value RootMeanSquare(Value x, Builder* b) {
  return b->Unary(Opcode::kSqrt, Mean(b->Multiply(x, x), AllDimensions(x), b));
}

// Multiplies every element by a scalar.
Value Times(Value x, Value factor, Builder* b) {
  return b->Multiply(x, b->Broadcast(factor, x->shape().dims()));
}

}  // namespace

Adafactor::Adafactor(const AdafactorOptions& options, Value step, Builder* b) : options_(options), b_(*b) {
  Value t = b_.AddNumber(b_.Convert(step, xla::F32), 1);
  Value schedule =
      b_.Subtract(b_.FullLike(t, 1), b_.Binary(Opcode::kPower, t, b_.FullLike(t, kDecayExponent)));
  decay_ = b_.Minimum(schedule, b_.FullLike(t, kDecayLimit));
  Value late = b_.Maximum(t, b_.FullLike(t, static_cast<double>(options.flat_steps)));
  rate_ = b_.MultiplyNumber(b_.Rsqrt(late), options.rate);
}

// Shards a slot like the weight, along the dimensions that the slot has.
Value Adafactor::Place(Value slot, Value weight, int64_t removed) {
  const bool is_whole = removed >= 0 && options_.replicated_slots;
  const xla::OpSharding* sharding = weight->sharding();
  if (is_whole || sharding == nullptr || sharding->type() != xla::OpSharding::OTHER)
    return b_.Replicate(slot);
  if (removed < 0) return b_.Annotate(slot, *sharding);
  if (sharding->tile_assignment_dimensions(static_cast<int>(removed)) > 1) return b_.Replicate(slot);
  xla::OpSharding rest = *sharding;
  auto* tiles = rest.mutable_tile_assignment_dimensions();
  tiles->erase(tiles->begin() + removed);
  return b_.Annotate(slot, rest);
}

Slot Adafactor::MovingAverage(Value now, Value weight, int64_t removed, const std::string& name) {
  Slot slot;
  slot.name = name;
  slot.old_value = Place(b_.Parameter(now->shape(), name), weight, removed);
  Value kept = Times(slot.old_value, decay_, &b_);
  Value added = Times(now, b_.Subtract(b_.FullLike(decay_, 1), decay_), &b_);
  slot.new_value = Place(b_.Add(kept, added), weight, removed);
  return slot;
}

AdafactorUpdate Adafactor::Update(Value weight, Value gradient, const std::string& name) {
  Builder::Scope scope(&b_, "adafactor");
  AdafactorUpdate update;
  Value square = b_.AddNumber(b_.Multiply(gradient, gradient), kSquareFloor);
  Value scaled;
  if (weight->shape().rank() < 2) {
    update.slots.push_back(MovingAverage(square, weight, -1, absl::StrCat(name, ".square")));
    scaled = b_.Multiply(gradient, b_.Rsqrt(update.slots[0].new_value));
  } else {
    std::vector<int64_t> by_size = AllDimensions(weight);
    const absl::Span<const int64_t> dims = weight->shape().dims();
    std::stable_sort(by_size.begin(), by_size.end(), [&](int64_t x, int64_t y) { return dims[x] < dims[y]; });
    const int64_t largest = by_size[by_size.size() - 1], second = by_size[by_size.size() - 2];
    update.slots.push_back(
        MovingAverage(Mean(square, {largest}, &b_), weight, largest, absl::StrCat(name, ".row")));
    update.slots.push_back(
        MovingAverage(Mean(square, {second}, &b_), weight, second, absl::StrCat(name, ".column")));
    Value row = update.slots[0].new_value, column = update.slots[1].new_value;
    const int64_t second_in_row = second - (second > largest ? 1 : 0);
    Value mean_row = b_.BroadcastOver(Mean(row, {second_in_row}, &b_), row->shape().dims(), {second_in_row});
    Value row_factor = b_.BroadcastOver(b_.Rsqrt(b_.Divide(row, mean_row)), dims, {largest});
    Value column_factor = b_.BroadcastOver(b_.Rsqrt(column), dims, {second});
    scaled = b_.Multiply(b_.Multiply(gradient, row_factor), column_factor);
  }
  Value excess = b_.MultiplyNumber(RootMeanSquare(scaled, &b_), 1 / options_.clip);
  Value scale = RootMeanSquare(weight, &b_);
  scale = b_.Multiply(b_.Maximum(scale, b_.FullLike(scale, kScaleFloor)), rate_);
  scale = b_.Divide(scale, b_.Maximum(excess, b_.FullLike(excess, 1)));
  update.weight = Place(b_.Subtract(weight, Times(scaled, scale, &b_)), weight, -1);
  return update;
}

}  // namespace toroid
