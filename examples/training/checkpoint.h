// The state of a training run in a file, from which the run can be resumed.
//
// A .npz archive: one array per array of the state, by name, and "configuration.json", u8[bytes], JSON text
// that describes the model. Every member has a checksum.
#pragma once

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
  std::vector<Literal> arrays;  // In the order of `names`.
};

// Writes the file so that, whatever happens meanwhile, it is the old one or the new one, whole
// (ReplaceFileDurably).
// Errors: kUnavailable "PATH: why".
absl::Status SaveCheckpoint(const std::string& path, const Checkpoint& checkpoint);

// Loads the checkpoint of a run with this configuration and these arrays, in their order. Other arrays whose
// names begin with one of `prefixes` follow them.
// Errors, each "PATH: ..." with what to do: kNotFound; kInvalidArgument for a file that is damaged or no
// checkpoint, another configuration, or an array that is missing, has another shape, or does not belong to
// the run.
absl::StatusOr<Checkpoint> LoadCheckpoint(const std::string& path, const nlohmann::json& configuration,
                                          absl::Span<const NamedShape> arrays,
                                          absl::Span<const std::string> prefixes = {});

// The description of the model. Errors: those of LoadCheckpoint for a file that is damaged or no checkpoint.
absl::StatusOr<nlohmann::json> LoadConfiguration(const std::string& path);

// These arrays of a checkpoint; others are ignored. Errors: those of LoadCheckpoint, except for other
// configurations.
absl::StatusOr<std::vector<Literal>> LoadArrays(const std::string& path, absl::Span<const NamedShape> arrays);

}  // namespace toroid
