// A change of a module that keeps what it computes, and several of them in a row.
//
// To add a pass: a file of its own in the folder of what it needs, a class with a name and a Run, its name in the
// pipelines that shall run it (docs/adding_a_pass.md).
#ifndef TOROID_HLO_PASSES_PASS_H_
#define TOROID_HLO_PASSES_PASS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace toroid {

class Pass {
 public:
  virtual ~Pass() = default;
  // In lower case with underscores, for dumps and messages.
  virtual absl::string_view name() const = 0;
  // Changes the module, or puts another in its place; returns whether it did. Errors leave the module in any state.
  virtual absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) = 0;
};

struct PipelineOptions {
  // The verifier runs after each pass that changed something: an error names the pass. For tests and for looking.
  bool verify = false;
  // Called after each pass, whether it changed something or not.
  std::function<absl::Status(absl::string_view pass, const Module& module)> after_pass;
};

struct PassReport {
  std::string pass;
  bool changed = false;
  double seconds = 0;
};

class PassPipeline {
 public:
  template <typename P, typename... Arguments>
  PassPipeline& Add(Arguments&&... arguments) {
    passes_.push_back(std::make_unique<P>(std::forward<Arguments>(arguments)...));
    return *this;
  }

  // Runs the passes in order, each once.
  // Errors: those of a pass, or of the verifier after it (kInternal), as "PASS: what".
  absl::StatusOr<std::vector<PassReport>> Run(std::unique_ptr<Module>* module, const PipelineOptions& options = {});

 private:
  std::vector<std::unique_ptr<Pass>> passes_;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_PASS_H_
