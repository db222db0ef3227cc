// Cutting global values into the shards of a mesh, and putting shards together again.
//
// Tile i of t in a dimension of size n holds [i*s, (i+1)*s) with s = ceil(n / t), cut at n; what a shard
// holds beyond n is padding. Padding of cut values is poison (NaN, the largest integer, true) that a program
// which let it into a result would betray. Example: f32[5] over 4 devices: shards of 2, device 2 holds
// element 4 and a NaN, device 3 NaNs.
//
// Of an unreduced (partial) value the first of the devices that share a tile holds it, and the others zeros;
// put together, the shards are added up.
#ifndef TOROID_RUNTIME_PARTITIONED_SHARD_LITERAL_H_
#define TOROID_RUNTIME_PARTITIONED_SHARD_LITERAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_sharding.h"
#include "hlo/ir/literal.h"
#include "runtime/mesh/mesh_value.h"

namespace toroid {

// What every device holds of a value of shape `global`; `shardings` has one entry per leaf.
// Errors: kInvalidArgument for shardings that do not fit the shape or the number of devices; kUnimplemented
// for manual ones.
absl::StatusOr<Shape> ShardShape(const Shape& global, absl::Span<const HloSharding> shardings,
                                 int64_t num_devices);

// The smallest shape that has shards of shape `local` with no padding.
absl::StatusOr<Shape> GlobalShape(const Shape& local, absl::Span<const HloSharding> shardings,
                                  int64_t num_devices);

// Errors: as ShardShape, kResourceExhausted.
absl::StatusOr<MeshValue> CutLiteral(const Literal& global, absl::Span<const HloSharding> shardings,
                                     int64_t num_devices);
// What devices [begin, end) of them hold; device number num_devices is the first of a second replica of them, and so on.
absl::StatusOr<MeshValue> CutLiteral(const Literal& global, absl::Span<const HloSharding> shardings,
                                     int64_t num_devices, int64_t begin, int64_t end);

struct AssembleOptions {
  // Devices that hold the same tile must hold the same bits (SameBits); else the first device's are taken.
  bool check_replicas = false;
  // How far values may be apart, relative to the largest of the tile, for the difference to be one of
  // rounding: for each array leaf, one for all, or by their types (compare.h).
  absl::Span<const double> tolerances;
  // If given, differences by rounding are put here, one for each output that has some, and are no errors.
  std::vector<std::string>* rounding = nullptr;
};

// Errors: as ShardShape; kInvalidArgument if the value's shape is not that of shards of `global`; kDataLoss
// "devices 0 and 2 disagree on element [1,0] of output 3: 1.5 and 2.5 ...", or ".. differ by rounding on ..",
// with check_replicas.
absl::StatusOr<Literal> AssembleLiteral(const MeshValue& shards, const Shape& global,
                                        absl::Span<const HloSharding> shardings,
                                        const AssembleOptions& options = {});

}  // namespace toroid

#endif  // TOROID_RUNTIME_PARTITIONED_SHARD_LITERAL_H_
