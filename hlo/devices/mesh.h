// The algebra of shardings: which mesh axes cut which dimension of an array.
//
// A mesh of N devices has prime-sized axes, ordered major to minor: axis a has a size and a stride, position
// p of the mesh has coordinate p / stride % size along it, and a device order gives the device at each
// position.
// An array sharded over the list [a, b] of axes in one dimension is cut into size(a) * size(b) tiles there, a
// the major one. Work on shardings does not depend on N.
//
// Example: mesh "x"=4, "y"=6 over 24 devices: axes 2 2 2 3 (strides 12 6 3 1); {"x"} on a dimension is the
// list [0, 1].
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo/devices/device_limit.h"
#include "hlo/devices/hlo_sharding.h"

namespace toroid {

// A set of axes, one bit each.
using AxisSet = uint32_t;

// An ordered list of distinct axes, major to minor.
class AxisList {
 public:
  static constexpr int kMaxAxes = kMaxDeviceAxes;

  AxisList() = default;
  AxisList(std::initializer_list<int> axes) {
    for (const int axis : axes) push_back(axis);
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int operator[](int i) const { return axes_[i]; }
  int back() const { return axes_[size_ - 1]; }
  const uint8_t* begin() const { return axes_; }
  const uint8_t* end() const { return axes_ + size_; }
  void push_back(int axis) { axes_[size_++] = static_cast<uint8_t>(axis); }
  void pop_back() { axes_[--size_] = 0; }
  void Append(const AxisList& other) {
    for (const int axis : other) push_back(axis);
  }
  // The first `n` axes.
  AxisList Prefix(int n) const {
    AxisList list;
    for (int i = 0; i < n; ++i) list.push_back(axes_[i]);
    return list;
  }
  AxisList Suffix(int from) const {
    AxisList list;
    for (int i = from; i < size_; ++i) list.push_back(axes_[i]);
    return list;
  }
  // The axes in `set`, in order.
  AxisList Only(AxisSet set) const {
    AxisList list;
    for (int i = 0; i < size_; ++i) {
      if (set >> axes_[i] & 1) list.push_back(axes_[i]);
    }
    return list;
  }
  bool IsPrefixOf(const AxisList& other) const {
    return size_ <= other.size_ && std::memcmp(axes_, other.axes_, size_) == 0;
  }
  AxisSet Set() const {
    AxisSet set = 0;
    for (int i = 0; i < size_; ++i) set |= AxisSet{1} << axes_[i];
    return set;
  }
  bool operator==(const AxisList& other) const {
    return size_ == other.size_ && std::memcmp(axes_, other.axes_, size_) == 0;
  }
  bool operator!=(const AxisList& other) const { return !(*this == other); }
  template <typename H>
  friend H AbslHashValue(H h, const AxisList& list) {
    return H::combine(H::combine_contiguous(std::move(h), list.axes_, list.size_), list.size_);
  }

 private:
  uint8_t size_ = 0;
  uint8_t axes_[kMaxAxes] = {};
};

// How the partial values of devices combine into the true one.
enum class Reducer : uint8_t { kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr };

// How an array is distributed. Axes in none of the fields replicate it.
struct Sharding {
  absl::InlinedVector<AxisList, 4> dims;  // Per dimension of the array.
  AxisSet partial = 0;                    // True value: `reducer` over these axes.
  Reducer reducer = Reducer::kAdd;        // kAdd if partial is empty.
  AxisSet manual = 0;                     // The array is local with respect to these axes.

  static Sharding Replicated(int rank) {
    Sharding sharding;
    sharding.dims.resize(rank);
    return sharding;
  }
  // Axes that cut some dimension.
  AxisSet DimAxes() const {
    AxisSet set = 0;
    for (const AxisList& dim : dims) set |= dim.Set();
    return set;
  }
  bool IsReplicated() const { return DimAxes() == 0 && partial == 0; }
  bool operator==(const Sharding& other) const {
    return dims == other.dims && partial == other.partial && reducer == other.reducer &&
           manual == other.manual;
  }
  bool operator!=(const Sharding& other) const { return !(*this == other); }
  template <typename H>
  friend H AbslHashValue(H h, const Sharding& s) {
    return H::combine(std::move(h), s.dims, s.partial, s.reducer, s.manual);
  }
};

class Mesh {
 public:
  // A mesh of 1 device.
  Mesh() = default;
  // `cuts` are strides at which axes must end, each dividing `num_devices`; a cut that does not form a chain
  // of divisors with those before it is left out. Requires num_devices <= kMaxDevices.
  Mesh(int64_t num_devices, absl::Span<const int64_t> cuts, DeviceOrder order);

  int64_t num_devices() const { return num_devices_; }
  int num_axes() const { return static_cast<int>(sizes_.size()); }
  int64_t size(int axis) const { return sizes_[axis]; }
  int64_t stride(int axis) const { return strides_[axis]; }
  // position -> device.
  const DeviceOrder& order() const { return order_; }
  // The same axes over other devices: device d of this mesh becomes relabel[d].
  absl::StatusOr<Mesh> Relabeled(absl::Span<const int64_t> relabel) const;
  AxisSet AllAxes() const { return num_axes() == 0 ? 0 : (AxisSet{2} << (num_axes() - 1)) - 1; }

  // Number of tiles that a list or set of axes cuts.
  int64_t Product(const AxisList& axes) const {
    int64_t product = 1;
    for (const int axis : axes) product *= sizes_[axis];
    return product;
  }
  int64_t Product(AxisSet axes) const {
    int64_t product = 1;
    for (; axes != 0; axes &= axes - 1) product *= sizes_[__builtin_ctz(axes)];
    return product;
  }
  // The axes of a set, in mesh order.
  AxisList InOrder(AxisSet axes) const {
    AxisList list;
    for (; axes != 0; axes &= axes - 1) list.push_back(__builtin_ctz(axes));
    return list;
  }
  // Tile index of a mesh position along a list of axes.
  int64_t Coordinate(int64_t position, const AxisList& axes) const {
    int64_t coordinate = 0;
    for (const int axis : axes)
      coordinate = coordinate * sizes_[axis] + position / strides_[axis] % sizes_[axis];
    return coordinate;
  }

  // By coordinate along a list of axes: the position with coordinate 0 along all other axes.
  std::vector<int64_t> Positions(const AxisList& axes) const;

  // The axes that form the part (size, stride) of the position numbering; nullopt if the mesh is not cut
  // there.
  std::optional<AxisList> AxesOfPart(int64_t size, int64_t stride) const;

  // The sharding in this algebra; nullopt if it cuts the devices where no axis of the mesh ends (another
  // device order). Unknown, maximal and replicated give no axes; manual gives all axes as manual.
  std::optional<Sharding> FromHlo(const HloSharding& sharding, int rank) const;
  HloSharding ToHlo(const Sharding& sharding) const;

  // Dimensions of the shard of an array: ceil(n / tiles) each.
  Dims ShardDims(absl::Span<const int64_t> dims, const Sharding& sharding) const;

  // "[{0,1}, {}] partial add {2}", for messages.
  std::string ToString(const Sharding& sharding) const;

 private:
  int64_t num_devices_ = 1;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  DeviceOrder order_{1};
};

// Strides of mesh positions at which a sharding cuts the devices, for Mesh's constructor. `order` defines the
// positions. Empty if the sharding is not a product of strided parts under that order.
std::vector<int64_t> CutsOf(const HloSharding& sharding, const DeviceOrder& order);

}  // namespace toroid
