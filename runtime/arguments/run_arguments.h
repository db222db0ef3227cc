// Finds the arguments of a run and the values of its infeeds.
#pragma once

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
  std::optional<Literal> result;  // The result recorded with them.
};

// Whether FindArguments generates the arguments of a run.
bool AreArgumentsGenerated(const HloFile& file, const std::string& args);

// The shapes of the entry's parameters before they are cut.
absl::StatusOr<std::vector<Shape>> GlobalArgumentShapes(const Module& module);

// The arguments in the file `args`: an HloSnapshot, .npz or .npy. For "": the arguments recorded with the
// module, or generated ones, by `seed`. `max_bytes` limits the arguments, and the unpacked file up to 16 MiB
// more for what is not values. Errors: kInvalidArgument "ARGS: ..." for a file that holds no arguments or
// whose arguments do not fit; kResourceExhausted for too many bytes.
absl::StatusOr<RunArguments> FindArguments(const HloFile& file, const std::string& args, uint64_t seed,
                                           int64_t max_bytes);

// The result in the file `path`, to compare that of a run with: .npz, .npy or an HloSnapshot.
// Errors: kInvalidArgument "PATH: ..." if the file holds no result of the module; kResourceExhausted for too many bytes.
absl::StatusOr<Literal> ReadExpected(const Module& module, const std::string& path, int64_t max_bytes);

// The file that `--outfeed` writes: arrays arr_0, arr_1, ...; an array K that only some devices fed is
// followed by arr_K_devices, the numbers of these devices.
absl::StatusOr<std::string> OutfeedArchive(const Outfeed& outfeed);

// The arrays of an .npz file in the order infeeds take them: by number if they are named arr_0, arr_1, ...,
// else in the archive's order. Skips arr_K_devices. Null for the empty path.
// Errors: kResourceExhausted for more than `max_bytes`.
absl::StatusOr<std::shared_ptr<const Infeed>> ReadInfeed(const std::string& path, int64_t max_bytes);

}  // namespace toroid
