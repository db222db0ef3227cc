// Adafactor: gradient descent scaled by a factored estimate of the squared gradient.
//
// Per weight X with gradient G, at step t = 1, 2, ...:
//   decay b = min(0.99, 1 - t^-0.8)
//   R = b R + (1 - b) mean of (G^2 + 1e-30) over the largest dimension, C likewise over the second largest
//   V = R C / mean of R                           (weights of one dimension: V itself is kept)
//   U = G / sqrt(V),  U / max(1, RMS(U) / clip)
//   X - U * max(1e-3, RMS(X)) * rate / sqrt(max(t, flat_steps))
// Source: Shazeer and Stern, "Adafactor", arXiv:1804.04235, algorithms 4 to 6; settings of GShard,
// arXiv:2006.16668, A.2: no first moment, update clipping 1.0, rate 1.0 with square-root decay after 10,000
// steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/builder/builder.h"

namespace toroid {

struct AdafactorOptions {
  double rate = 1;
  int64_t flat_steps = 10000;  // After these steps the rate decays as 1 / sqrt(t).
  double clip = 1;
  // If true, every device keeps all of R, C and V, as in the runs of the paper (figure 7's weights include
  // them). Otherwise they are cut like their weight, along the dimensions that they have.
  bool replicated_slots = false;
};

// One array of the optimizer's state.
struct Slot {
  std::string name;  // "WEIGHT.row", "WEIGHT.column" or "WEIGHT.square"
  Value old_value;   // A new parameter, f32.
  Value new_value;
};

struct AdafactorUpdate {
  Value weight;
  std::vector<Slot> slots;
};

class Adafactor {
 public:
  // step: s32[], the number of steps done before this one.
  Adafactor(const AdafactorOptions& options, Value step, Builder* b);

  // weight, gradient: f32 arrays of the same shape.
  AdafactorUpdate Update(Value weight, Value gradient, const std::string& name);

 private:
  // `removed`: the dimension of the weight that `now` lacks; -1 if it has all.
  Slot MovingAverage(Value now, Value weight, int64_t removed, const std::string& name);
  Value Place(Value slot, Value weight, int64_t removed);

  const AdafactorOptions& options_;
  Builder& b_;
  Value decay_, rate_;  // f32[]
};

}  // namespace toroid
