// Passes, which change a module and keep what it computes, and pipelines of passes.
//
// To add a pass: a class with a name and a Run, in a file of its own, added to the pipelines that shall run
// it (docs/adding_a_pass.md).
#pragma once

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
  // In lower case with underscores. It appears in lists of passes, dumps and messages.
  virtual absl::string_view name() const = 0;
  // Changes or replaces the module; returns whether it did. After an error the module may be in any state.
  virtual absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) = 0;
  // Runs on a copy of `source`, and returns the copy; null if nothing changed.
  virtual absl::StatusOr<std::unique_ptr<Module>> RunOnCopy(const Module& source);
};

// A pass that builds a new module. RunOnCopy then needs no extra copy.
class RebuildingPass : public Pass {
 public:
  // The module that replaces `source`; null if nothing changes.
  virtual absl::StatusOr<std::unique_ptr<Module>> Rebuild(const Module& source) = 0;

  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) final;
  absl::StatusOr<std::unique_ptr<Module>> RunOnCopy(const Module& source) final { return Rebuild(source); }
};

// Sees a module after each pass of a pipeline, and after phases that are no passes. For dumps, tests and debugging.
struct PassObserver {
  // Called with the name of the pass or phase and the module after it, whether it changed the module or not.
  std::function<absl::Status(absl::string_view phase, const Module& module)> see;
  // Whether the verifier then runs on a module that has changed.
  bool verify = false;

  bool IsIdle() const { return !see && !verify; }
  // Errors: those of `see`; those of the verifier as kInternal "PHASE: what".
  absl::Status After(absl::string_view phase, const Module& module, bool changed = true) const;
};

struct PassReport {
  std::string pass;
  bool changed = false;
  double seconds = 0;  // Without the observer.
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
                                              const PassObserver& observer = {});

  // Like Run, but leaves `source` unchanged and sets *result to another module, which may share attributes
  // with `source`.
  absl::StatusOr<std::vector<PassReport>> RunOnCopy(const Module& source, std::unique_ptr<Module>* result,
                                                    const PassObserver& observer = {});

 private:
  // Starts from *source while *module is null.
  absl::StatusOr<std::vector<PassReport>> RunFrom(const Module* source, std::unique_ptr<Module>* module,
                                                  const PassObserver& observer);

  std::vector<std::unique_ptr<Pass>> passes_;
};

// An option of a pass: a number from `least` to `most`.
struct PassOption {
  absl::string_view key;
  int64_t by_default;
  int64_t least = 0;
  int64_t most = INT64_MAX;
};

// A pass that lists of passes can name, as NAME or NAME:KEY=NUMBER:..., with a KEY for each option.
struct NamedPass {
  absl::string_view name;
  // `numbers`: by option, in the order of `options`.
  std::unique_ptr<Pass> (*make)(absl::Span<const int64_t> numbers);
  absl::Span<const PassOption> options = {};
};

template <typename P>
std::unique_ptr<Pass> MakePass(absl::Span<const int64_t> /*numbers*/) {
  return std::make_unique<P>();
}

// For a pass with one option.
template <typename P>
std::unique_ptr<Pass> MakePassWith(absl::Span<const int64_t> numbers) {
  return std::make_unique<P>(numbers[0]);
}

// The name in an entry of a list of passes: "loop_collectives" of "loop_collectives:bytes=1M".
absl::string_view PassOfEntry(absl::string_view entry);

// The pipeline of a list of passes, in its order; a pass may be in it more than once. A number may end in K, M or G, for
// 2^10, 2^20 or 2^30.
// Errors: kInvalidArgument for an unknown name or key (the message lists the known ones), for a malformed number, and for
// one out of its range.
absl::StatusOr<PassPipeline> MakePipeline(absl::Span<const std::string> entries,
                                          absl::Span<const NamedPass> known);

}  // namespace toroid
