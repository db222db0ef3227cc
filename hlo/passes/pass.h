// A change of a module that keeps what it computes, and several of them in a row.
//
// To add a pass: a file of its own in the folder of what it needs, a class with a name and a Run, its name in the
// pipelines that shall run it (docs/adding_a_pass.md).
#ifndef TOROID_HLO_PASSES_PASS_H_
#define TOROID_HLO_PASSES_PASS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

class Pass {
 public:
  virtual ~Pass() = default;
  // In lower case with underscores, for lists of passes, dumps and messages.
  virtual absl::string_view name() const = 0;
  // Changes the module, or puts another in its place; returns whether it did. Errors leave the module in any state.
  virtual absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) = 0;
  // What Run makes of a copy of `source`, which stays as it is; null if nothing changes.
  virtual absl::StatusOr<std::unique_ptr<Module>> RunOnCopy(const Module& source);
};

// A pass that builds another module, and so can leave its source alone at no cost.
class RebuildingPass : public Pass {
 public:
  // The module that takes the place of `source`; null if that may stay.
  virtual absl::StatusOr<std::unique_ptr<Module>> Rebuild(const Module& source) = 0;

  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) final;
  absl::StatusOr<std::unique_ptr<Module>> RunOnCopy(const Module& source) final { return Rebuild(source); }
};

struct PipelineOptions {
  // Called after each pass, whether it changed something or not.
  std::function<absl::Status(absl::string_view pass, const Module& module)> after_pass;
  // Then the verifier runs, if the pass changed something: an error names the pass. For tests and for looking.
  bool verify = false;
};

// What pipelines do after a pass, for phases that are none. Errors: those of after_pass; of the verifier, kInternal
// "PHASE: what".
absl::Status LookAfter(absl::string_view phase, const Module& module, const PipelineOptions& options);

struct PassReport {
  std::string pass;
  bool changed = false;
  double seconds = 0;  // Without what looks at the module after it.
};

class PassPipeline {
 public:
  template <typename P, typename... Arguments>
  PassPipeline& Add(Arguments&&... arguments) {
    return Add(std::make_unique<P>(std::forward<Arguments>(arguments)...));
  }
  PassPipeline& Add(std::unique_ptr<Pass> pass) {
    passes_.push_back(std::move(pass));
    return *this;
  }

  // Runs the passes in order, each once.
  // Errors: those of a pass, or of the verifier after it (kInternal), as "PASS: what".
  absl::StatusOr<std::vector<PassReport>> Run(std::unique_ptr<Module>* module,
                                              const PipelineOptions& options = {});

  // The same for a module that stays as it is: *result is another one, which may share attributes with it.
  absl::StatusOr<std::vector<PassReport>> RunOnCopy(const Module& source, std::unique_ptr<Module>* result,
                                                    const PipelineOptions& options = {});

 private:
  // Of *source while *module is null.
  absl::StatusOr<std::vector<PassReport>> RunFrom(const Module* source, std::unique_ptr<Module>* module,
                                                  const PipelineOptions& options);

  std::vector<std::unique_ptr<Pass>> passes_;
};

// A pass as lists of passes name it.
struct NamedPass {
  absl::string_view name;
  std::unique_ptr<Pass> (*make)();
  std::unique_ptr<Pass> (*make_with)(int64_t number) =
      nullptr;  // Of NAME:NUMBER, where the pass has a number.
  // Collectives may come out fewer, smaller or of another kind: programs are compared behind the pass.
  bool changes_what_is_sent = false;
};

template <typename P>
std::unique_ptr<Pass> MakePass() {
  return std::make_unique<P>();
}

template <typename P>
std::unique_ptr<Pass> MakePassWith(int64_t number) {
  return std::make_unique<P>(number);
}

// The pipeline that a list of names asks for, in its order; a pass may stand in it more than once.
// Errors: kInvalidArgument for a name that none of `known` has, with those that there are; for a number that is none, or of a
// pass that has none.
absl::StatusOr<PassPipeline> MakePipeline(absl::Span<const std::string> names,
                                          absl::Span<const NamedPass> known);

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_PASS_H_
