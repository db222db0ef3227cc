// Tile-assignment shardings: the meaning of an OpSharding message, device by device.
//
// A tiled sharding is an array A of device numbers with dims t = [data tiles..., subgroup sizes...]; device d
// at A[i..., j...] holds tile i of the array. A is listed explicitly or is an iota:
// reshape(transpose(reshape(0..N-1, q), p), t). The shard shape is ceil(n_k / t_k) everywhere; the part of a
// shard beyond the array is padding.
// Example: f32[5,8] under {devices=[2,2]<=[4]}: shards [3,4]; device 2 holds rows 3..4 and columns 0..3.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/shape.h"

namespace toroid {

// An ordering of devices: position -> device, as an iota over `reshape` transposed by `perm`, or explicit.
class DeviceOrder {
 public:
  // 0..n-1.
  explicit DeviceOrder(int64_t n = 1) : size_(n), reshape_({n}), perm_({0}) {}
  // Errors: kInvalidArgument for sizes below 1, overflow, or a perm that is no permutation.
  static absl::StatusOr<DeviceOrder> Iota(absl::Span<const int64_t> reshape, absl::Span<const int> perm);
  // Errors: kInvalidArgument unless `devices` is a permutation of 0..n-1.
  static absl::StatusOr<DeviceOrder> Explicit(std::vector<int64_t> devices);

  int64_t size() const { return size_; }
  int64_t DeviceAt(int64_t position) const;
  int64_t PositionOf(int64_t device) const;

  bool is_iota() const { return devices_ == nullptr; }
  absl::Span<const int64_t> reshape() const { return reshape_; }
  absl::Span<const int> perm() const { return perm_; }

 private:
  int64_t size_ = 1;
  std::vector<int64_t> reshape_;
  std::vector<int> perm_;
  std::shared_ptr<const std::vector<int64_t>> devices_;    // Explicit form: position -> device,
  std::shared_ptr<const std::vector<int64_t>> positions_;  // and its inverse.
};

class HloSharding {
 public:
  enum class Kind { kReplicated, kMaximal, kTiled, kManual, kUnreduced, kUnknown };
  struct Subgroup {
    xla::OpSharding::Type type;  // REPLICATED, MANUAL or UNREDUCED
    int64_t size;
  };

  HloSharding() = default;  // Replicated.
  static HloSharding Replicated() { return HloSharding(); }
  // Reads a sharding, other than a tuple, in tile-assignment, iota or mesh form.
  // Errors: kInvalidArgument if the message is inconsistent.
  static absl::StatusOr<HloSharding> FromProto(const xla::OpSharding& proto);
  // One sharding per leaf of `shape`; a single sharding on a tuple holds for every leaf.
  // Errors: those of FromProto; kInvalidArgument if the number of entries is not the number of leaves.
  static absl::StatusOr<std::vector<HloSharding>> LeavesFromProto(const xla::OpSharding& proto,
                                                                  const Shape& shape);
  static HloSharding Tiled(std::vector<int64_t> tiles, std::vector<Subgroup> subgroups, DeviceOrder order);
  static HloSharding OfKind(Kind kind) {
    HloSharding sharding;
    sharding.kind_ = kind;
    return sharding;
  }
  // Writes the tile-assignment form: iota if the order is one, else explicit.
  void ToProto(xla::OpSharding* proto) const;

  Kind kind() const { return kind_; }
  bool IsTiled() const { return kind_ == Kind::kTiled; }
  // Number of devices named: the size of the tile assignment; 0 for kinds that name none.
  int64_t NumDevices() const { return IsTiled() ? order_.size() : 0; }
  int64_t maximal_device() const { return maximal_device_; }
  // Number of tiles per data dimension.
  absl::Span<const int64_t> tiles() const { return tiles_; }
  absl::Span<const Subgroup> subgroups() const { return subgroups_; }
  const DeviceOrder& order() const { return order_; }

  // Errors: kInvalidArgument if the rank of a tiled sharding is not the shape's.
  absl::Status Validate(const Shape& shape) const;
  // Dimensions of every shard of an array.
  Dims ShardDims(absl::Span<const int64_t> dims) const;
  // Tile index of a device per data dimension; all zero unless tiled.
  Dims TileIndex(int64_t device, int rank) const;
  // First index of the device's tile, per dimension; at most the size of the dimension.
  Dims TileOffset(absl::Span<const int64_t> dims, int64_t device) const;

  // Text form, e.g. "{devices=[2,4]<=[8] last_tile_dim_replicate}".
  std::string ToString() const;

 private:
  Kind kind_ = Kind::kReplicated;
  int64_t maximal_device_ = 0;
  std::vector<int64_t> tiles_;
  std::vector<Subgroup> subgroups_;
  DeviceOrder order_;
};

}  // namespace toroid
