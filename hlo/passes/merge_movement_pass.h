// Makes one op of two that move or choose elements one after the other.
//
//   slice(slice(x))                        => slice(x)
//   slice(pad(x, v))                       => pad(x, v) by less, or slice(x); the pad is read by nothing else
//   slice(concatenate(x, y))               => slice(x), where that has all of it
//   slice(broadcast(x))                    => broadcast(x), of whole dimensions of x
//   pad(pad(x, v), v)                      => pad(x, v), where the outer one takes away no more than the inner one added
//   reshape(reshape(x)), transpose(transpose(x)), broadcast(broadcast(x)) => one
//   select(m, select(m, a, b), c)          => select(m, a, c), and so for the other side
//   select(m, a, a), and(m, m), or(m, m)   => what both sides are
// and nothing at all for what then changes nothing. Of an exchange between neighbours that is cut out of a padded array, a padded
// tile that is masked twice, and the like. Ops with layouts of their own, or dimensions sized at run time, stay.
#ifndef TOROID_HLO_PASSES_MERGE_MOVEMENT_PASS_H_
#define TOROID_HLO_PASSES_MERGE_MOVEMENT_PASS_H_

#include <functional>
#include <memory>
#include <utility>

#include "hlo/passes/pass.h"

namespace toroid {

class MergeMovementPass : public Pass {
 public:
  struct Options {
    // Instructions that stay, and so does what reads through them; empty: none more than said above.
    std::function<bool(const Instruction&)> stays;
    // Slices of pads alone; a sharding that such a slice has goes with it.
    bool shifts_alone = false;
  };

  MergeMovementPass() = default;
  explicit MergeMovementPass(Options options) : options_(std::move(options)) {}

  absl::string_view name() const override { return "merge_movement"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  Options options_;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_MERGE_MOVEMENT_PASS_H_
