// Cuts global values into the shards of a mesh, and assembles shards into global values.
//
// Tile i of t in a dimension of size n holds [i*s, (i+1)*s) with s = ceil(n / t), cut at n; the rest of a
// shard, beyond n, is padding. Cutting fills padding with poison (NaN, the largest integer, true), which
// shows in the result of a program that uses it. Example: f32[5] over 4 devices: shards of 2, device 2 holds
// element 4 and a NaN, device 3 NaNs.
//
// An unreduced (partial) value is held by the first of the devices that share a tile; the others hold zeros.
// Assembling adds these shards up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/ir/literal.h"
#include "runtime/mesh/mesh_value.h"

namespace toroid {

// The shape that every device holds of a value of shape `global`; `shardings` has one entry per leaf.
// Errors: kInvalidArgument for shardings that do not fit the shape or the number of devices; kUnimplemented
// for manual ones.
absl::StatusOr<Shape> ShardShape(const Shape& global, absl::Span<const HloSharding> shardings,
                                 int64_t num_devices);

// The smallest global shape whose shards have shape `local` and no padding.
absl::StatusOr<Shape> GlobalShape(const Shape& local, absl::Span<const HloSharding> shardings,
                                  int64_t num_devices);

// Errors: as ShardShape, kResourceExhausted.
absl::StatusOr<MeshValue> CutLiteral(const Literal& global, absl::Span<const HloSharding> shardings,
                                     int64_t num_devices);
// The shards of devices [begin, end); devices num_devices to 2 * num_devices - 1 are a second replica, and so
// on.
absl::StatusOr<MeshValue> CutLiteral(const Literal& global, absl::Span<const HloSharding> shardings,
                                     int64_t num_devices, int64_t begin, int64_t end);

// Two devices whose shards of an output should be the same and are not.
struct Disagreement {
  int64_t leaf = 0;  // Number of the output among all leaves.
  int64_t first = 0, second = 0;
};

struct AssembleOptions {
  // If true, devices that hold the same tile must hold the same bits (SameBits); if false, the first device's
  // are taken.
  bool check_replicas = false;
  // Largest difference, relative to the largest value of the tile, that counts as rounding: one per array
  // leaf, one for all, or, if empty, by element type (compare.h).
  absl::Span<const double> tolerances;
  // If given, receives one line per output that differs by rounding, and such a difference is no error.
  std::vector<std::string>* rounding = nullptr;
  // If given: set when two devices disagree beyond rounding, in arrays of static shape.
  std::optional<Disagreement>* disagreement = nullptr;
};

// Errors: as ShardShape; kInvalidArgument if `shards` does not have the shape of shards of `global`; with
// check_replicas, kDataLoss "devices 0 and 2 disagree on element [1,0] of output 3: 1.5 and 2.5 ...", or "..
// differ by rounding on ..".
absl::StatusOr<Literal> AssembleLiteral(const MeshValue& shards, const Shape& global,
                                        absl::Span<const HloSharding> shardings,
                                        const AssembleOptions& options = {});

}  // namespace toroid
