// Inlines every `call`, so that a computation is entered only by control flow and by reductions.
//
// Before: r = call(a, b), to_apply=f     After: the instructions of f over a and b
// Shardings, metadata and attributes stay; an inlined instruction takes the source line that it lacks from the
// call, and under JAX its op_name stands behind the call's. The
// sharding of a call, or of a parameter of its callee, goes to a Sharding annotation behind the value that
// takes its place.
// Every loop and conditional gets bodies, conditions and branches of its own, so that each of them is entered
// from one place: two loops over one body may need it cut in two ways. Copies have names of their own.
// Asynchronous pairs become the op they carry out, or what their computation holds.
// Bitcasts between layouts become transposes, so that layouts carry no meaning in the copy; vectors of starts
// become scalars.
#ifndef TOROID_HLO_PASSES_INLINE_CALLS_PASS_H_
#define TOROID_HLO_PASSES_INLINE_CALLS_PASS_H_

#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// A copy of `module` without calls; computations that nothing reaches are left out.
// `given`: instructions whose ordinary sharding counts under Shardy too, where it is ignored otherwise; their copies
// and the annotations that take their place come in their stead.
// Errors: kResourceExhausted, before anything is built, if more than 16 million instructions are inlined.
absl::StatusOr<std::unique_ptr<Module>> InlineCalls(const Module& module,
                                                    absl::flat_hash_set<const Instruction*>* given = nullptr);

class InlineCallsPass : public RebuildingPass {
 public:
  explicit InlineCallsPass(absl::flat_hash_set<const Instruction*>* given = nullptr) : given_(given) {}
  absl::string_view name() const override { return "inline_calls"; }
  absl::StatusOr<std::unique_ptr<Module>> Rebuild(const Module& source) override {
    return InlineCalls(source, given_);
  }

 private:
  absl::flat_hash_set<const Instruction*>* const given_;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_INLINE_CALLS_PASS_H_
