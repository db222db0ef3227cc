// Makes groups of the steps that were chosen for them.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/groups/group.h"
#include "runtime/groups/plan_views.h"
#include "runtime/plan/plan.h"

namespace toroid {

// The steps of a group, and how it sees its elements (Group).
struct GroupMembers {
  struct Place {
    bool per_row = false;
    bool ends = false;  // Complete only after all blocks: no member reads it.
  };
  int64_t elements = 0, row_length = 0, segment_rows = 0;
  bool long_rows = false;
  std::vector<int> steps;
  size_t inputs = 0;                      // At most.
  absl::flat_hash_map<int, Place> place;  // By slot of a member's result.
};

// Whether a member that reads the slot finds its value in the block: its element for each element, its row's value for each
// element, or, if the member has one element per row, its row's value for each row.
bool IsInside(const PlanViews& views, int slot, const GroupMembers& group, bool reader_per_row);

class GroupBuilder {
 public:
  // `group_of` is the group of each step; -1 for none.
  GroupBuilder(const Plan& plan, const PlanViews& views, const std::vector<int>& group_of,
               const std::vector<GroupMembers>& groups);

  // Steps that the plan keeps: those outside groups, but for views that only groups read.
  const std::vector<bool>& steps_that_stay() const { return stays_; }
  // The step that runs a group. Its members are in program order.
  Step Build(const GroupMembers& members) const;

 private:
  bool ReadsRows(const Step& step, const GroupMembers& group) const;
  int Source(Step& step, Group& group, int slot, bool per_row) const;
  void AddNode(Step& step, Group& group, const GroupMembers& members, const Step& member,
               absl::flat_hash_map<int, int>& node_of) const;
  void AddOutputs(Step& step, Group& group, const GroupMembers& members,
                  const absl::flat_hash_map<int, int>& node_of) const;

  const Plan& plan_;
  const PlanViews& views_;
  std::vector<bool> stays_;
  std::vector<bool> read_outside_;  // By slot: outside the group that makes it.
};

}  // namespace toroid
