#include "tests/planted_faults.h"

#include <algorithm>
#include <utility>

#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/verify_module.h"

namespace toroid {
namespace {

bool IsGroupCollective(Opcode opcode) {
  return opcode == Opcode::kAllReduce || opcode == Opcode::kAllGather || opcode == Opcode::kReduceScatter ||
         opcode == Opcode::kAllToAll;
}

bool IsFolding(Opcode opcode) {
  return opcode == Opcode::kAllReduce || opcode == Opcode::kReduceScatter || opcode == Opcode::kReduce ||
         opcode == Opcode::kReduceWindow;
}

// The opcode of a computation of two scalars that is one op.
Opcode ReducerOpcode(const Computation& reducer) {
  return reducer.size() == 3 ? reducer.root()->opcode() : Opcode::kUnknown;
}

// Whether x is a broadcast scalar or a constant, as in the masks of the partitioner.
bool IsFill(const Instruction* x) {
  return x->opcode() == Opcode::kConstant ||
         (x->opcode() == Opcode::kBroadcast && x->operand(0)->shape().IsScalar());
}

// Plants one fault in a copy of a module.
class Planter {
 public:
  Planter(Module* module, const FaultSite& site)
      : site_(site),
        computation_(module->computations()[site.computation].get()),
        target_(computation_->instructions()[site.instruction].get()),
        b_(computation_) {}

  // Returns false if the fault cannot be planted here.
  bool Plant() {
    switch (site_.fault) {
      case Fault::kCollectiveDropped:
        return Replace(OwnPart());
      case Fault::kGroupHalved:
        return target_->opcode() == Opcode::kCollectivePermute ? HalvePairs() : HalveGroups();
      case Fault::kMaskRemoved:
        return Replace(target_->operand(IsFill(target_->operand(2)) ? 1 : 2));
      case Fault::kHaloTooShort:
        return Replace(WithoutLastRow());
      case Fault::kReducedTwice:
        return Replace(b_.Clone(*target_, target_->shape(), {target_}));
      case Fault::kWrongReducer:
        return ChangeReducer();
      case Fault::kIndexOffByOne:
        return MoveIndex();
    }
    return false;
  }

 private:
  bool Replace(Instruction* now) {
    if (now == nullptr || !b_.status().ok()) return false;
    const Instruction* reads_target = target_;
    for (const auto& instruction : computation_->instructions()) {
      // Instructions made from the target keep reading it.
      if (instruction->index() >= first_new_) continue;
      for (int i = 0; i < instruction->num_operands(); ++i) {
        if (instruction->operand(i) == reads_target) instruction->set_operand(i, now);
      }
    }
    if (computation_->root() == target_) computation_->set_root(now);
    return SortInstructions(computation_).ok();
  }

  // The device's own data without the collective, in the shape of the collective's result.
  Instruction* OwnPart() {
    Instruction* operand = target_->operand(0);
    if (target_->num_operands() != 1 || !target_->shape().IsArray()) return nullptr;
    if (operand->shape().Compatible(target_->shape())) return operand;
    for (int d = 0; d < target_->shape().rank(); ++d) {
      const int64_t from = operand->shape().dim(d), to = target_->shape().dim(d);
      if (from == to) continue;
      if (from > to) return b_.SliceAlong(operand, d, 0, to);
      return b_.Concatenate(std::vector<Value>(to / from, operand), d);
    }
    return nullptr;
  }

  bool HalveGroups() {
    const int64_t partitions = target_->module()->config().num_partitions;
    const auto groups = ExpandDeviceGroups(*target_, 1, partitions);
    if (!groups.ok()) return false;
    xla::HloInstructionProto* attrs = target_->MutableAttrs();
    attrs->clear_replica_groups();
    attrs->clear_collective_device_list();
    attrs->clear_iota_collective_device_list();
    bool halved = false;
    for (int64_t i = 0; i < groups->size(); ++i) {
      const absl::Span<const int64_t> group = groups->group(i);
      const size_t half = group.size() < 2 ? group.size() : group.size() / 2;
      halved |= half < group.size();
      for (size_t first = 0; first < group.size(); first += half) {
        auto* ids = attrs->add_replica_groups();
        for (const int64_t id : group.subspan(first, half)) ids->add_replica_ids(id);
      }
    }
    return halved;
  }

  bool HalvePairs() {
    auto* pairs = target_->MutableAttrs()->mutable_source_target_pairs();
    if (pairs->size() < 2) return false;
    pairs->DeleteSubrange(0, pairs->size() / 2);
    return true;
  }

  Instruction* WithoutLastRow() {
    const Shape& shape = target_->shape();
    if (!shape.IsArray() || shape.rank() == 0) return nullptr;
    // The rows of a halo are sliced along one dimension of their source: the last row is along it.
    int d = 0;
    const Instruction* slice = target_->operand(0);
    for (int i = 0; slice->opcode() == Opcode::kSlice && i < shape.rank(); ++i) {
      if (slice->shape().dim(i) != slice->operand(0)->shape().dim(i)) d = i;
    }
    if (shape.dim(d) == 1) return b_.Zeros(shape.element_type(), shape.dims());
    return b_.PadAlong(b_.SliceAlong(target_, d, 0, shape.dim(d) - 1), d, 0, 1);
  }

  // Changes the reducer of all ops that call this computation.
  bool ChangeReducer() {
    Computation* reducer = target_->called(0);
    const Opcode other = ReducerOpcode(*reducer) == Opcode::kAdd ? Opcode::kMaximum : Opcode::kAdd;
    InstructionBuilder b(reducer);
    reducer->set_root(b.Binary(other, reducer->parameter(0), reducer->parameter(1)));
    return b.status().ok();
  }

  bool MoveIndex() {
    Instruction* index = target_->operand(site_.operand);
    target_->set_operand(site_.operand, b_.AddNumber(index, 1));
    return b_.status().ok() && SortInstructions(computation_).ok();
  }

  const FaultSite& site_;
  Computation* const computation_;
  Instruction* const target_;
  InstructionBuilder b_;
  const int first_new_ = computation_->size();
};

// The operands of an op that are indices: the number of the first, and how many.
std::pair<int, int> IndexOperands(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kDynamicSlice:
      return {1, instruction.num_operands() - 1};
    case Opcode::kDynamicUpdateSlice:
      return {2, instruction.num_operands() - 2};
    case Opcode::kGather:
    case Opcode::kScatter:
      return {1, 1};
    default:
      return {0, 0};
  }
}

void AddSites(const Instruction& instruction, std::vector<FaultSite>* sites) {
  const auto add = [&](Fault fault, int operand = 0) {
    sites->push_back({fault, instruction.computation()->index(), instruction.index(), operand});
  };
  const Opcode opcode = instruction.opcode();
  const bool permutes = opcode == Opcode::kCollectivePermute;
  if (IsGroupCollective(opcode) || permutes) {
    add(Fault::kCollectiveDropped);
    add(Fault::kGroupHalved);
  }
  if (permutes) add(Fault::kHaloTooShort);
  if (opcode == Opcode::kAllReduce && instruction.num_operands() == 1 &&
      ReducerOpcode(*instruction.called(0)) == Opcode::kAdd) {
    add(Fault::kReducedTwice);
  }
  if (IsFolding(opcode) && instruction.called().size() == 1 && instruction.shape().IsArray()) {
    const Opcode reducer = ReducerOpcode(*instruction.called(0));
    if (reducer == Opcode::kAdd || reducer == Opcode::kMaximum) add(Fault::kWrongReducer);
  }
  if (opcode == Opcode::kSelect && instruction.shape().rank() > 0 &&
      (IsFill(instruction.operand(1)) || IsFill(instruction.operand(2)))) {
    add(Fault::kMaskRemoved);
  }
  const auto [first, count] = IndexOperands(instruction);
  for (int i = first; i < first + count; ++i) add(Fault::kIndexOffByOne, i);
}

}  // namespace

const char* FaultName(Fault fault) {
  switch (fault) {
    case Fault::kCollectiveDropped:
      return "collective dropped";
    case Fault::kGroupHalved:
      return "group halved";
    case Fault::kMaskRemoved:
      return "mask removed";
    case Fault::kHaloTooShort:
      return "halo too short";
    case Fault::kReducedTwice:
      return "partial reduced twice";
    case Fault::kWrongReducer:
      return "wrong reducer";
    case Fault::kIndexOffByOne:
      break;
  }
  return "index off by one";
}

std::vector<FaultSite> FaultSites(const Module& module) {
  std::vector<FaultSite> sites;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) AddSites(*instruction, &sites);
  }
  return sites;
}

std::unique_ptr<Module> PlantFault(const Module& module, const FaultSite& site) {
  std::unique_ptr<Module> faulty = CloneModule(module);
  if (!Planter(faulty.get(), site).Plant() || !VerifyModule(*faulty).ok()) return nullptr;
  return faulty;
}

}  // namespace toroid
