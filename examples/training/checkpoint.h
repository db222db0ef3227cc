// The state of a training run in a file, to go on from.
//
// A .npz archive: an array for each of the state's, by name, and "configuration.json", u8[bytes], JSON text that says of what
// model they are. Every member has a check sum.
#ifndef TOROID_EXAMPLES_TRAINING_CHECKPOINT_H_
#define TOROID_EXAMPLES_TRAINING_CHECKPOINT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "nlohmann/json.hpp"

namespace toroid {

struct NamedShape {
  std::string name;
  Shape shape;
};

struct Checkpoint {
  nlohmann::json configuration;  // An object.
  std::vector<std::string> names;
  std::vector<Literal> arrays;  // By these names.
};

// Whatever happens meanwhile, the file is the old one or the new one, whole (ReplaceFileDurably).
// Errors: kUnavailable "PATH: why".
absl::Status SaveCheckpoint(const std::string& path, const Checkpoint& checkpoint);

// The checkpoint of a run with this configuration and these arrays, in their order; arrays named otherwise that begin with
// one of `prefixes` come behind them.
// Errors, each "PATH: ..." with what to do: kNotFound; kInvalidArgument for a file that is damaged or no checkpoint, another
// configuration, an array that is missing, has another shape, or does not belong to the run.
absl::StatusOr<Checkpoint> LoadCheckpoint(const std::string& path, const nlohmann::json& configuration,
                                          absl::Span<const NamedShape> arrays,
                                          absl::Span<const std::string> prefixes = {});

// What is said of the model. Errors: those of LoadCheckpoint for a file that is damaged or no checkpoint.
absl::StatusOr<nlohmann::json> LoadConfiguration(const std::string& path);

// These arrays of a checkpoint, whatever else it holds. Errors: those of LoadCheckpoint, but for other configurations.
absl::StatusOr<std::vector<Literal>> LoadArrays(const std::string& path, absl::Span<const NamedShape> arrays);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_TRAINING_CHECKPOINT_H_
