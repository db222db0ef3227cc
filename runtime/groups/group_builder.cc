#include "runtime/groups/group_builder.h"

#include <utility>

#include "runtime/groups/run_group.h"

namespace toroid {
namespace {

// One value per row, used for all elements of its row.
bool IsExpansion(const View& view, int64_t row_length) {
  const View::Dim& inner = view.dims.back();
  return view.offset == 0 && inner.stride == 0 && inner.size == row_length &&
         (view.dims.size() == 1 || (view.dims.size() == 2 && view.dims[0].stride == 1));
}

bool SameView(const View& a, const View& b) {
  if (a.offset != b.offset || a.dims.size() != b.dims.size()) return false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i].size != b.dims[i].size || a.dims[i].stride != b.dims[i].stride) return false;
  }
  return true;
}

bool IsReduce(const Step& step) { return step.instruction->opcode() == Opcode::kReduce; }

}  // namespace

bool IsInside(const PlanViews& views, int slot, const GroupMembers& group, bool reader_per_row) {
  const PlanViews::Root& root = views.RootOf(slot);
  const auto it = group.place.find(root.slot);
  if (it == group.place.end() || it->second.ends || root.counts) return false;
  if (it->second.per_row == reader_per_row) return root.view.IsWhole();
  return it->second.per_row && IsExpansion(root.view, group.row_length);
}

GroupBuilder::GroupBuilder(const Plan& plan, const PlanViews& views, const std::vector<int>& group_of,
                           const std::vector<GroupMembers>& groups)
    : plan_(plan), views_(views), stays_(plan.steps.size(), false), read_outside_(plan.values.size(), false) {
  std::vector<bool> read(plan.values.size(), false);  // By a step that stays, as it is.
  read[plan.root] = true;
  for (int s = static_cast<int>(plan.steps.size()) - 1; s >= 0; --s) {
    const Step& step = plan.steps[s];
    if (group_of[s] < 0) {
      stays_[s] = !views.IsView(step.result) || read[step.result];
      if (!stays_[s]) continue;
      for (const int slot : step.operands) read[slot] = true;
      continue;
    }
    const GroupMembers& group = groups[group_of[s]];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const bool start_value = IsReduce(step) && i == 1;
      if (!start_value && IsInside(views, step.operands[i], group, ReadsRows(step, group))) continue;
      read_outside_[views.RootOf(step.operands[i]).slot] = true;
    }
  }
  for (size_t slot = 0; slot < read.size(); ++slot) {
    if (read[slot]) read_outside_[slot] = true;
  }
}

bool GroupBuilder::ReadsRows(const Step& step, const GroupMembers& group) const {
  return !IsReduce(step) && group.place.at(step.result).per_row;
}

int GroupBuilder::Source(Step& step, Group& group, int slot, bool per_row) const {
  const PlanViews::Root& root = views_.RootOf(slot);
  const Instruction& value = *plan_.values[root.slot];
  GroupNode node;
  node.per_row = per_row;
  node.type = value.shape().element_type();
  node.view = root.view;
  const int64_t elements = per_row ? group.elements / group.row_length : group.elements;
  // An operand of one element, used for all.
  if (node.view.elements() != elements) node.view.dims = {{elements, 0}};
  if (root.counts) {
    node.kind = GroupNode::Kind::kCount;
  } else {
    node.kind = GroupNode::Kind::kSource;
    node.input_elements = value.shape().NumElements();
    while (node.input < static_cast<int>(step.operands.size()) && step.operands[node.input] != root.slot)
      ++node.input;
    if (node.input == static_cast<int>(step.operands.size())) step.operands.push_back(root.slot);
  }
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    const GroupNode& other = group.nodes[i];
    if (other.kind == node.kind && other.input == node.input && other.per_row == per_row &&
        other.type == node.type && SameView(other.view, node.view)) {
      return static_cast<int>(i);
    }
  }
  group.nodes.push_back(std::move(node));
  return static_cast<int>(group.nodes.size()) - 1;
}

void GroupBuilder::AddNode(Step& step, Group& group, const GroupMembers& members, const Step& member,
                           absl::flat_hash_map<int, int>& node_of) const {
  GroupNode node;
  const GroupMembers::Place place = members.place.at(member.result);
  const bool reduces = IsReduce(member), reads_rows = ReadsRows(member, members);
  node.per_row = place.per_row;
  node.type = member.instruction->shape().element_type();
  node.instruction = member.instruction;
  for (size_t i = 0; i < member.operands.size(); ++i) {
    const int slot = member.operands[i];
    if (reduces && i == 1) {
      // The start value: one per device. Sums of rows add it to each row's.
      node.operands.push_back(Source(step, group, slot, place.per_row && !place.ends));
      continue;
    }
    if (!IsInside(views_, slot, members, reads_rows)) {
      node.operands.push_back(Source(step, group, slot, reads_rows));
      continue;
    }
    const int inner = node_of.at(views_.RootOf(slot).slot);
    if (group.nodes[inner].per_row == reads_rows) {
      node.operands.push_back(inner);
      continue;
    }
    GroupNode expand;
    expand.kind = GroupNode::Kind::kExpand;
    expand.type = group.nodes[inner].type;
    expand.operands.push_back(inner);
    group.nodes.push_back(std::move(expand));
    node.operands.push_back(static_cast<int>(group.nodes.size()) - 1);
  }
  if (reduces) {
    const ReduceForm form = ReduceFormOf(*member.instruction);
    node.kind = form.kind == ReduceForm::Kind::kLines ? GroupNode::Kind::kReduceLines
                : place.ends                          ? GroupNode::Kind::kReduceLong
                                                      : GroupNode::Kind::kReduceRows;
    node.folds = form.opcode;
    node.line = form.line;
    node.fold = form.fold;
  } else {
    node.op = ElementOpOf(*member.instruction);
  }
  group.nodes.push_back(std::move(node));
  node_of[member.result] = static_cast<int>(group.nodes.size()) - 1;
}

void GroupBuilder::AddOutputs(Step& step, Group& group, const GroupMembers& members,
                              const absl::flat_hash_map<int, int>& node_of) const {
  std::vector<uint64_t> depends(group.nodes.size(), 0);
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    if (group.nodes[i].kind == GroupNode::Kind::kSource) depends[i] = uint64_t{1} << group.nodes[i].input;
    for (const int operand : group.nodes[i].operands) depends[i] |= depends[operand];
  }
  for (const int s : members.steps) {
    const int slot = plan_.steps[s].result;
    if (!read_outside_[slot]) continue;
    const int node = node_of.at(slot);
    if (group.outputs.empty()) {
      step.result = slot;
      step.elements = plan_.steps[s].elements;
      step.bytes = plan_.steps[s].bytes;
    } else {
      step.more_results.push_back(slot);
    }
    group.outputs.push_back({node, plan_.steps[s].bytes, depends[node]});
  }
}

Step GroupBuilder::Build(const GroupMembers& members) const {
  Step step;
  auto group = std::make_unique<Group>();
  group->elements = members.elements;
  group->row_length = members.row_length;
  group->long_rows = members.long_rows;
  group->segment_rows = members.segment_rows;
  absl::flat_hash_map<int, int> node_of;
  for (const int s : members.steps) AddNode(step, *group, members, plan_.steps[s], node_of);
  AddOutputs(step, *group, members, node_of);
  group->num_inputs = static_cast<int>(step.operands.size());
  step.kernel = ExecuteGroup;
  step.handles_no_rows = true;
  step.instruction = plan_.steps[members.steps.back()].instruction;
  step.instructions = static_cast<int>(members.steps.size());
  step.cache = std::move(group);
  return step;
}

}  // namespace toroid
