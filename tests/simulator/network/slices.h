// Slices and networks for tests.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "hlo/devices/replica_groups.h"
#include "simulator/machines/network.pb.h"

namespace toroid {

// `wrap` for every axis.
inline SliceSpec Slice(std::vector<int64_t> chips, bool wrap = false) {
  SliceSpec slice;
  slice.set_name("test");
  for (const int64_t n : chips) {
    slice.add_chips(n);
    slice.add_wrap(wrap);
  }
  return slice;
}

// 100 bytes per second on a link; nothing else takes time or is limited.
inline NetworkSpec PlainNetwork(double rate = 100) {
  NetworkSpec network;
  network.set_link_bytes_per_second(rate);
  network.set_injection_bytes_per_second(1e18);
  return network;
}

inline DeviceGroups Groups(std::initializer_list<std::vector<int64_t>> groups) {
  DeviceGroups result;
  for (const std::vector<int64_t>& group : groups) result.Append(group);
  return result;
}

inline std::vector<int64_t> Iota(int64_t n) {
  std::vector<int64_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace toroid
