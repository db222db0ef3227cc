#include "hlo/analysis/memory_spaces.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "absl/algorithm/container.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

using LeafVisitor = std::function<void(const Shape& leaf)>;

void ForEachLeaf(const Shape& shape, const LeafVisitor& visit) {
  if (!shape.IsTuple()) return visit(shape);
  for (const Shape& element : shape.tuple_shapes()) ForEachLeaf(element, visit);
}

bool SaysHost(const xla::LayoutProto* layout) {
  return layout != nullptr && layout->memory_space() == kHostMemorySpace;
}

bool AnyLeafSaysHost(const Shape& shape) {
  if (!shape.IsTuple()) return SaysHost(shape.custom_layout());
  return std::any_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(), AnyLeafSaysHost);
}

bool AnyLeafSaysHost(const xla::ShapeProto& shape) {
  if (shape.element_type() != xla::TUPLE) return shape.has_layout() && SaysHost(&shape.layout());
  return std::any_of(shape.tuple_shapes().begin(), shape.tuple_shapes().end(),
                     [](const xla::ShapeProto& element) { return AnyLeafSaysHost(element); });
}

// Leaf by leaf: whether the entry's layout puts it on the host.
void AppendLeaves(const xla::ShapeProto& shape, std::vector<bool>* says) {
  if (shape.element_type() != xla::TUPLE) {
    says->push_back(shape.has_layout() && SaysHost(&shape.layout()));
    return;
  }
  for (const xla::ShapeProto& element : shape.tuple_shapes()) AppendLeaves(element, says);
}

// Reads parts of its first operand, each element once.
bool ReadsParts(Opcode opcode) {
  switch (opcode) {
    case Opcode::kDynamicSlice:
    case Opcode::kSlice:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kBitcastConvert:
      return true;
    default:
      return false;
  }
}

bool WritesNothing(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kBroadcast:
      return true;
    default:
      return HasTrait(opcode, kNoStorage) || HasTrait(opcode, kRunsBody);
  }
}

int64_t LeavesBefore(const Instruction& op, int operand) {
  int64_t leaves = 0;
  for (int k = 0; k < operand; ++k) leaves += op.operand(k)->shape().NumLeaves();
  return leaves;
}

}  // namespace

MemorySpaces::Move MemorySpaces::MoveOf(const Instruction& op) {
  if (op.opcode() != Opcode::kCustomCall || op.num_operands() != 1) return Move::kNone;
  const absl::string_view target = op.custom_call_target();
  if (target == "MoveToHost") return Move::kToHost;
  if (target == "MoveToDevice") return Move::kToDevice;
  if (target != "annotate_device_placement") return Move::kNone;
  const std::string* placement = op.FrontendAttribute("_xla_buffer_placement");
  if (placement == nullptr) return Move::kNone;
  if (*placement == "pinned_host" || *placement == "unpinned_host") return Move::kToHost;
  return *placement == "device" ? Move::kToDevice : Move::kNone;
}

bool MemorySpaces::RunsOnHost(const Instruction& op) {
  const std::string* type = op.FrontendAttribute("_xla_compute_type");
  return type != nullptr && *type == "host";
}

MemorySpaces::MemorySpaces(const Module& module) {
  if (module.entry() == nullptr || module.entry()->root() == nullptr || !FindMarks(module)) return;
  any_ = true;
  id_of_.resize(module.num_computations());
  is_view_.resize(module.num_computations());
  runs_on_host_.assign(module.num_computations(), false);
  int ids = 0;
  for (const auto& computation : module.computations()) {
    std::vector<int>& id_of = id_of_[computation->index()];
    for (const auto& op : computation->instructions()) {
      id_of.push_back(ids);
      ids += static_cast<int>(op->shape().NumLeaves());
    }
  }
  parent_.resize(ids);
  for (int id = 0; id < ids; ++id) parent_[id] = id;
  on_host_.assign(ids, false);
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      JoinNames(*op);
      JoinBodies(*op);
    }
  }
  MarkOpsOfHost(module);
  Spread(module);
}

// True if the module speaks of the host's memory at all.
bool MemorySpaces::FindMarks(const Module& module) {
  const auto& layout = module.proto().host_program_shape();
  const bool in_layout =
      AnyLeafSaysHost(layout.result()) ||
      std::any_of(layout.parameters().begin(), layout.parameters().end(),
                  [](const xla::ShapeProto& parameter) { return AnyLeafSaysHost(parameter); });
  if (in_layout) return true;
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (AnyLeafSaysHost(op->shape()) || MoveOf(*op) == Move::kToHost || RunsOnHost(*op)) return true;
    }
  }
  return false;
}

int MemorySpaces::Find(int id) {
  while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
  return id;
}

void MemorySpaces::Join(int a, int b) {
  a = Find(a);
  b = Find(b);
  if (a != b) parent_[std::max(a, b)] = std::min(a, b);
}

void MemorySpaces::JoinLeaves(const Instruction& a, int64_t begin_a, const Instruction& b, int64_t begin_b,
                              int64_t count) {
  if (begin_a + count > a.shape().NumLeaves() || begin_b + count > b.shape().NumLeaves()) return;
  const int first_a = id_of_[a.computation()->index()][a.index()] + static_cast<int>(begin_a);
  const int first_b = id_of_[b.computation()->index()][b.index()] + static_cast<int>(begin_b);
  for (int i = 0; i < count; ++i) Join(first_a + i, first_b + i);
}

void MemorySpaces::JoinNames(const Instruction& op) {
  const int64_t count = op.shape().NumLeaves();
  if (op.opcode() == Opcode::kTuple) {
    for (int k = 0; k < op.num_operands(); ++k) {
      JoinLeaves(op, LeavesBefore(op, k), *op.operand(k), 0, op.operand(k)->shape().NumLeaves());
    }
  } else if (op.opcode() == Opcode::kGetTupleElement && op.num_operands() == 1) {
    const Shape& tuple = op.operand(0)->shape();
    const int64_t element = op.tuple_index();
    if (!tuple.IsTuple() || element < 0 || element >= static_cast<int64_t>(tuple.tuple_shapes().size()))
      return;
    int64_t begin = 0;
    for (int64_t i = 0; i < element; ++i) begin += tuple.tuple_shape(i).NumLeaves();
    JoinLeaves(op, 0, *op.operand(0), begin, count);
  } else if (op.opcode() == Opcode::kDynamicUpdateSlice || op.opcode() == Opcode::kScatter) {
    JoinLeaves(op, 0, *op.operand(0), 0, std::min<int64_t>(count, op.operand(0)->shape().NumLeaves()));
  } else if (op.num_operands() > 0 && op.operand(0)->shape().NumLeaves() == count &&
             op.opcode() != Opcode::kParameter && op.opcode() != Opcode::kCopyDone &&
             (HasTrait(op.opcode(), kNoStorage) || (IsIdentityTarget(op) && MoveOf(op) == Move::kNone))) {
    JoinLeaves(op, 0, *op.operand(0), 0, count);
  } else if (op.opcode() == Opcode::kCopyDone && op.operand(0)->shape().IsTuple()) {
    JoinLeaves(op, 0, *op.operand(0), 0, count);
  } else if (op.opcode() == Opcode::kCopyStart && op.num_operands() == 1) {
    JoinLeaves(op, op.operand(0)->shape().NumLeaves(), *op.operand(0), 0, op.operand(0)->shape().NumLeaves());
  }
}

void MemorySpaces::JoinBodies(const Instruction& op) {
  if (!HasTrait(op.opcode(), kRunsBody) || RunsOnHost(op)) return;
  const int64_t count = op.shape().NumLeaves();
  if (op.opcode() == Opcode::kWhile) {
    if (op.num_operands() == 1) JoinLeaves(op, 0, *op.operand(0), 0, count);
    for (const Computation* callee : op.called()) {
      if (callee->num_parameters() == 1) JoinLeaves(op, 0, *callee->parameter(0), 0, count);
      if (callee->root()->shape().NumLeaves() == count && callee->root()->shape().Compatible(op.shape()))
        JoinLeaves(op, 0, *callee->root(), 0, count);
    }
    return;
  }
  for (size_t c = 0; c < op.called().size(); ++c) {
    const Computation& callee = *op.called(static_cast<int64_t>(c));
    // Branches take an operand each, behind the choice; calls all of them.
    const int first = op.opcode() == Opcode::kConditional ? 1 + static_cast<int>(c) : 0;
    for (int p = 0; p < callee.num_parameters() && first + p < op.num_operands(); ++p) {
      JoinLeaves(*op.operand(first + p), 0, *callee.parameter(p), 0,
                 callee.parameter(p)->shape().NumLeaves());
    }
    if (callee.root()->shape().Compatible(op.shape())) JoinLeaves(op, 0, *callee.root(), 0, count);
  }
}

// Results of ops that run on the host lie there if such ops alone, or moves to the host, read them.
void MemorySpaces::MarkOpsOfHost(const Module& module) {
  for (auto it = module.computations().rbegin(); it != module.computations().rend(); ++it) {
    const Computation& computation = **it;
    const bool whole = runs_on_host_[computation.index()];
    std::vector<bool> stays(computation.size(), true);  // On the host, as far as its readers say.
    std::vector<bool> is_read(computation.size(), false);
    for (int i = computation.size() - 1; i >= 0; --i) {
      const Instruction& op = *computation.instruction(i);
      const bool runs = whole || RunsOnHost(op);
      if (runs) {
        for (const Computation* callee : op.called()) runs_on_host_[callee->index()] = true;
      }
      if (whole || (runs && is_read[i] && stays[i])) {
        const int id = id_of_[computation.index()][i];
        for (int64_t leaf = 0; leaf < op.shape().NumLeaves(); ++leaf)
          on_host_[id + static_cast<int>(leaf)] = true;
      }
      const bool takes = runs || MoveOf(op) == Move::kToHost;
      for (const Instruction* operand : op.operands()) {
        is_read[operand->index()] = true;
        if (!takes) stays[operand->index()] = false;
      }
    }
  }
}

// Reads of parts that only moves, and other such reads, take further.
void MemorySpaces::FindViews(const Computation& computation) {
  std::vector<bool>& is_view = is_view_[computation.index()];
  is_view.assign(computation.size(), false);
  std::vector<bool> is_read(computation.size(), false), is_taken(computation.size(), true);
  for (int i = computation.size() - 1; i >= 0; --i) {
    const Instruction& op = *computation.instruction(i);
    is_view[i] = ReadsParts(op.opcode()) && op.shape().IsArray() && op.operand(0)->shape().IsArray() &&
                 (SaysHost(op.shape().custom_layout()) || (is_read[i] && is_taken[i]));
    if (is_view[i]) {
      views_.push_back({id_of_[computation.index()][op.operand(0)->index()], id_of_[computation.index()][i]});
    }
    const bool hands_on = is_view[i] || MoveOf(op) != Move::kNone || op.opcode() == Opcode::kBitcast;
    for (int k = 0; k < op.num_operands(); ++k) {
      is_read[op.operand(k)->index()] = true;
      if (k > 0 || !hands_on) is_taken[op.operand(k)->index()] = false;
    }
  }
}

void MemorySpaces::Spread(const Module& module) {
  const auto mark = [&](int id) { on_host_[Find(id)] = true; };
  for (int id = 0; id < static_cast<int>(parent_.size()); ++id) {
    if (on_host_[id]) mark(id);
  }
  for (const auto& computation : module.computations()) {
    FindViews(*computation);
    std::vector<bool> is_moved(computation->size(), false);  // To the host; whatever its shape then.
    for (const auto& op : computation->instructions()) {
      int id = id_of_[computation->index()][op->index()];
      is_moved[op->index()] =
          MoveOf(*op) == Move::kToHost || (ReadsParts(op->opcode()) && is_moved[op->operand(0)->index()]);
      if (is_moved[op->index()]) mark(id);
      ForEachLeaf(op->shape(), [&](const Shape& leaf) {
        if (SaysHost(leaf.custom_layout())) mark(id);
        ++id;
      });
      // A dynamic-update-slice into an array on the host: its update was moved to the host before.
      if (op->opcode() == Opcode::kDynamicUpdateSlice) {
        views_.push_back({id_of_[computation->index()][op->operand(1)->index()],
                          id_of_[computation->index()][op->index()]});
      }
    }
  }
  const auto& layout = module.proto().host_program_shape();
  const Computation& entry = *module.entry();
  const auto mark_by_layout = [&](const Instruction& op, const xla::ShapeProto& shape) {
    std::vector<bool> says;
    AppendLeaves(shape, &says);
    if (static_cast<int64_t>(says.size()) != op.shape().NumLeaves()) return;
    for (size_t leaf = 0; leaf < says.size(); ++leaf) {
      if (says[leaf]) mark(id_of_[entry.index()][op.index()] + static_cast<int>(leaf));
    }
  };
  mark_by_layout(*entry.root(), layout.result());
  for (int p = 0; p < std::min(entry.num_parameters(), layout.parameters_size()); ++p) {
    mark_by_layout(*entry.parameter(p), layout.parameters(p));
  }
  // To the readers of parts, until nothing changes: each round marks one at least.
  std::vector<std::vector<int>> readers(parent_.size());
  for (const auto& [from, to] : views_) readers[Find(from)].push_back(Find(to));
  std::vector<int> open;
  for (int id = 0; id < static_cast<int>(parent_.size()); ++id) {
    if (parent_[id] == id && on_host_[id]) open.push_back(id);
  }
  while (!open.empty()) {
    const int id = open.back();
    open.pop_back();
    for (const int to : readers[id]) {
      if (on_host_[to]) continue;
      on_host_[to] = true;
      open.push_back(to);
    }
  }
  for (int id = 0; id < static_cast<int>(parent_.size()); ++id) on_host_[id] = on_host_[Find(id)];
}

bool MemorySpaces::Moves(const Instruction& op) const {
  if (!any_ || MoveOf(op) == Move::kNone || !op.shape().IsArray() || !op.operand(0)->shape().IsArray())
    return false;
  return IsOnHost(op, 0) != IsOnHost(*op.operand(0), 0);
}

bool MemorySpaces::IsViewOfHost(const Instruction& op) const {
  return any_ && is_view_[op.computation()->index()][op.index()] && IsOnHost(op, 0) &&
         IsOnHost(*op.operand(0), 0);
}

int64_t MemorySpaces::LeafBytesOn(bool host, const Instruction& op) const {
  int64_t bytes = 0;
  int leaf = 0;
  ForEachLeaf(op.shape(), [&](const Shape& array) {
    if (IsOnHost(op, leaf++) == host && array.IsArray()) bytes = SaturatingAdd(bytes, array.ByteSize());
  });
  return bytes;
}

namespace {

// Of operand `i`: parts where a fusion reads parts alone, else all.
int64_t BytesReadInside(const Instruction& op, int64_t i) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  if (op.opcode() != Opcode::kFusion) return kAll;
  const Instruction* parameter = op.called(0)->parameter(i);
  int64_t bytes = 0;
  for (const auto& reader : op.called(0)->instructions()) {
    if (!absl::c_linear_search(reader->operands(), parameter)) continue;
    if (!ReadsParts(reader->opcode()) || reader->operand(0) != parameter) return kAll;
    bytes = SaturatingAdd(bytes, reader->shape().ByteSize());
  }
  return bytes;
}

}  // namespace

HostTraffic MemorySpaces::TrafficOf(const Instruction& op) const {
  HostTraffic traffic;
  const bool runs_on_host = any_ && (runs_on_host_[op.computation()->index()] || RunsOnHost(op));
  if (!any_ || op.num_operands() == 0 || (WritesNothing(op.opcode()) && !runs_on_host)) return traffic;
  if (op.opcode() == Opcode::kCustomCall && IsIdentityTarget(op) && !Moves(op)) return traffic;
  if (IsViewOfHost(op)) return traffic;
  const bool makes_on_host = LeafBytesOn(true, op) > 0, makes_on_device = LeafBytesOn(false, op) > 0;
  if (op.opcode() == Opcode::kDynamicUpdateSlice) {
    const int64_t update = op.operand(1)->shape().ByteSize();
    const bool from_host = IsOnHost(*op.operand(1), 0);
    if (makes_on_host && !from_host) traffic.to_host = update;
    if (makes_on_device && from_host) traffic.to_device = update;
    return traffic;
  }
  if (ReadsParts(op.opcode()) && makes_on_device && IsOnHost(*op.operand(0), 0)) {
    traffic.to_device = op.shape().ByteSize();
    return traffic;
  }
  if (runs_on_host) {
    for (const Instruction* operand : op.operands())
      traffic.to_host = SaturatingAdd(traffic.to_host, LeafBytesOn(false, *operand));
    traffic.to_device = LeafBytesOn(false, op);
    return traffic;
  }
  for (int64_t i = 0; i < static_cast<int64_t>(op.num_operands()); ++i) {
    const Instruction* operand = op.operand(i);
    if (makes_on_device) {
      const int64_t bytes = LeafBytesOn(true, *operand);
      traffic.to_device =
          SaturatingAdd(traffic.to_device, bytes == 0 ? 0 : std::min(bytes, BytesReadInside(op, i)));
    }
    if (makes_on_host && !makes_on_device)
      traffic.to_host = SaturatingAdd(traffic.to_host, LeafBytesOn(false, *operand));
  }
  return traffic;
}

HostTraffic ComputeHostTraffic(const Module& module, const MemorySpaces& spaces) {
  HostTraffic all;
  if (!spaces.any_on_host()) return all;
  const std::vector<Executions> executions = CountExecutions(module);
  for (const auto& computation : module.computations()) {
    if (computation->is_fusion()) continue;
    const int64_t times = executions[computation->index()].times;
    for (const auto& op : computation->instructions()) {
      const HostTraffic traffic = spaces.TrafficOf(*op);
      all.to_host = SaturatingAdd(all.to_host, SaturatingMultiply(times, traffic.to_host));
      all.to_device = SaturatingAdd(all.to_device, SaturatingMultiply(times, traffic.to_device));
    }
  }
  return all;
}

}  // namespace toroid
