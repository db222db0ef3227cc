// The groups of devices of a collective.
//
// Program instance (replica r, partition p) has number r * num_partitions + p. An instruction lists groups of
// numbers in one of four wire forms (explicit in two fields, iota, mesh axes). Its channel id and
// use_global_device_ids decide what the numbers mean (GroupMode). Iota and mesh forms are expanded only on
// request. Example: iota [2,2]<=[2,2]T(1,0) is {0,2},{1,3}.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/instruction.h"

namespace toroid {

enum class GroupMode {
  kCrossReplica,              // Replica ids, for each partition separately.
  kCrossReplicaAndPartition,  // Replica ids, all partitions of those replicas together.
  kCrossPartition,            // Partition ids, for each replica separately.
  kFlattened,                 // Ids of program instances.
};

// Groups of any sizes.
class DeviceGroups {
 public:
  int64_t size() const { return static_cast<int64_t>(begin_.size()) - 1; }
  absl::Span<const int64_t> group(int64_t i) const {
    return absl::MakeConstSpan(members_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  // All members, group after group.
  absl::Span<const int64_t> members() const { return members_; }

  void Append(absl::Span<const int64_t> group) {
    members_.insert(members_.end(), group.begin(), group.end());
    begin_.push_back(static_cast<int64_t>(members_.size()));
  }

 private:
  std::vector<int64_t> members_;
  std::vector<int64_t> begin_ = {0};
};

// Errors: kInvalidArgument for global device ids without a channel.
absl::StatusOr<GroupMode> GroupModeOf(const Instruction& instruction);

// The groups as the instruction lists them, whatever its mode; empty if it lists none.
// Errors: kInvalidArgument for an iota or mesh that does not fit its numbers, or of more than kMaxDevices.
absl::StatusOr<DeviceGroups> ListedDeviceGroups(const Instruction& instruction);

// The groups as devices (program instances), for a run of `num_replicas` by `num_partitions`.
// Errors: kInvalidArgument for ids out of range, a device in two groups, an iota or mesh that does not fit
// its numbers, flattened mode without groups.
absl::StatusOr<DeviceGroups> ExpandDeviceGroups(const Instruction& instruction, int64_t num_replicas,
                                                int64_t num_partitions);

// Size of the largest group, without listing the devices.
// Errors: kInvalidArgument as for ExpandDeviceGroups, for those that sizes alone show.
absl::StatusOr<int64_t> DeviceGroupSize(const Instruction& instruction, int64_t num_replicas,
                                        int64_t num_partitions);

// Pairs (source, target) of a collective-permute as devices.
// Errors: kInvalidArgument for ids out of range, a source or a target that occurs twice.
absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ExpandSourceTargetPairs(
    const Instruction& instruction, int64_t num_replicas, int64_t num_partitions);

}  // namespace toroid
