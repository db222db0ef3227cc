// Shardings given from outside: NAME=SHARDING lines of a command line or a file.
//
// NAME is an instruction of the entry or any other computation, `parameter(K)`, `output{K}`, or a glob (* and
// ?) on the metadata's op_name, which matches every instruction so named. SHARDING is any spelling of HLO
// text; it begins with the first `{` that stands right behind a `=`.
#ifndef TOROID_PARTITIONER_GIVEN_SHARDINGS_H_
#define TOROID_PARTITIONER_GIVEN_SHARDINGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/module.h"

namespace toroid {

// Marks an instruction whose ordinary sharding counts in either dialect.
inline constexpr char kGivenSharding[] = "toroid.given_sharding";

struct GivenSharding {
  std::string line;   // NAME=SHARDING
  std::string where;  // What errors begin with, "FILE:LINE"; empty: the command line.
};

// Puts the shardings on the module's instructions. A glob shards the arrays it matches whose rank is the sharding's;
// how many is said in `notes`, a line for each glob.
// Errors: kInvalidArgument for a line without '=', a sharding that does not parse or has another rank than what is
// named, and kNotFound for a name that matches nothing, with the nearest one that does.
absl::Status ApplyGivenShardings(const std::vector<GivenSharding>& shardings, Module* module,
                                 std::vector<std::string>* notes = nullptr);

// The name by which a line gives a sharding to this entry parameter and to nothing else: its op_name, its own name,
// or parameter(K).
std::string GivenNameOf(const Instruction& parameter);

// The lines of an annotations file, without blank lines and comments: `#` at the begin of a line or behind a
// blank.
std::vector<GivenSharding> GivenShardingLines(absl::string_view text, absl::string_view file);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_GIVEN_SHARDINGS_H_
