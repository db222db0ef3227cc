// Shardings given from outside: NAME=SHARDING lines of a command line or a file.
//
// NAME is an instruction of the entry or any other computation, `parameter(K)`, `output{K}`, or a glob (* and
// ?) on the metadata's op_name, which matches every instruction so named. SHARDING is any spelling of HLO
// text; it begins with the first `{` that stands right behind a `=`.
#ifndef TOROID_PARTITIONER_PREPARE_GIVEN_SHARDINGS_H_
#define TOROID_PARTITIONER_PREPARE_GIVEN_SHARDINGS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

struct GivenSharding {
  std::string line;   // NAME=SHARDING
  std::string where;  // What errors begin with, "FILE:LINE"; empty: the command line.
};

// The instructions of a module that were given their sharding: it counts in either dialect, where an ordinary one is
// ignored under Shardy.
using GivenShardings = absl::flat_hash_set<const Instruction*>;

// Puts the shardings on the module's instructions, and returns those; PartitionModule takes them. A glob shards the
// arrays it matches whose rank is the sharding's; how many is said in `notes`, a line for each glob. An output is
// sharded by an annotation behind it, which is added.
// Errors: kInvalidArgument for a line without '=', a sharding that does not parse or has another rank than what is
// named, and kNotFound for a name that matches nothing, with the nearest one that does.
absl::StatusOr<GivenShardings> ApplyGivenShardings(const std::vector<GivenSharding>& shardings,
                                                   Module* module, std::vector<std::string>* notes = nullptr);

// The name by which a line gives a sharding to this entry parameter and to nothing else: its op_name, its own name,
// or parameter(K).
std::string GivenNameOf(const Instruction& parameter);

// The lines of an annotations file, without blank lines and comments: `#` at the begin of a line or behind a
// blank.
std::vector<GivenSharding> GivenShardingLines(absl::string_view text, absl::string_view file);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_GIVEN_SHARDINGS_H_
