// Where the arguments of a run and the values of its infeeds come from.
#ifndef TOROID_RUNTIME_ARGUMENTS_RUN_ARGUMENTS_H_
#define TOROID_RUNTIME_ARGUMENTS_RUN_ARGUMENTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/io/file.h"
#include "hlo/ir/literal.h"
#include "runtime/mesh/infeed.h"
#include "runtime/mesh/outfeed.h"

namespace toroid {

struct RunArguments {
  std::vector<Literal> values;    // Global, one per entry parameter.
  std::optional<Literal> result;  // Recorded with them.
};

// True if FindArguments makes the arguments of a run up.
bool AreArgumentsGenerated(const HloFile& file, const std::string& args);

// What the entry's parameters are before they are cut.
absl::StatusOr<std::vector<Shape>> GlobalArgumentShapes(const Module& module);

// The arguments in the file `args`: an HloSnapshot, .npz or .npy. Without one (""): those recorded with the
// module, or generated ones, by `seed`. Neither the arguments, nor the file unpacked beyond what is not
// values, may take more than `max_bytes`. Errors: kInvalidArgument "ARGS: ..." for files that hold none or do
// not fit; kResourceExhausted for too many bytes.
absl::StatusOr<RunArguments> FindArguments(const HloFile& file, const std::string& args, uint64_t seed,
                                           int64_t max_bytes);

// What `--outfeed` writes: arrays arr_0, arr_1, ..., and beside each one that only some devices fed an array
// arr_K_devices of their numbers.
absl::StatusOr<std::string> OutfeedArchive(const Outfeed& outfeed);

// The arrays of an .npz file in the order infeeds take them: arr_0, arr_1, ... by number, others as the
// archive has them; but for arr_K_devices. Null for the empty path.
// Errors: kResourceExhausted for more than `max_bytes`.
absl::StatusOr<std::shared_ptr<const Infeed>> ReadInfeed(const std::string& path, int64_t max_bytes);

}  // namespace toroid

#endif  // TOROID_RUNTIME_ARGUMENTS_RUN_ARGUMENTS_H_
