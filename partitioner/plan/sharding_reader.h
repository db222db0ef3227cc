// Reads shardings as ProgramNames::Text prints them: [{"x"}, {}] partial over {"y"}.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/devices/mesh.h"
#include "partitioner/provenance/program_names.h"

namespace toroid {

class ShardingReader {
 public:
  ShardingReader(const Mesh& mesh, const ProgramNames& names);

  // A sharding of an array of `rank` dimensions; without brackets none of them is cut. Manual axes are left out.
  // Errors: kInvalidArgument for another text, an axis that the program does not name, or another number of dimensions.
  absl::StatusOr<Sharding> Read(absl::string_view text, int rank) const;

 private:
  // "{"x", "y"}" at the front of `*text`.
  absl::StatusOr<AxisList> TakeAxes(absl::string_view* text) const;

  absl::flat_hash_map<std::string, AxisList> axes_of_;  // By name, parts of named axes among them.
};

}  // namespace toroid
