#include "runtime/partitioned/where_devices_part.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/analysis/author_names.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/status.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/parameter_name.h"
#include "hlo/passes/dce_pass.h"
#include "runtime/numerics/compare.h"

namespace toroid {
namespace {

// Groups of a collective that are printed.
constexpr int64_t kMostGroups = 8;

// The instruction that makes array leaf `leaf` of the root, as far as tuples lead to it.
const Instruction* MakerOf(const Instruction* root, int64_t leaf) {
  if (root->opcode() != Opcode::kTuple) return root;
  for (const Instruction* element : root->operands()) {
    const int64_t leaves = element->shape().IsTuple() ? element->shape().NumLeaves() : 1;
    if (leaf < leaves) return element->shape().IsTuple() ? MakerOf(element, leaf) : element;
    leaf -= leaves;
  }
  return root;
}

// The arrays that `output` depends on, itself included, by index.
std::vector<bool> ConeOf(const Computation& entry, const Instruction& output) {
  std::vector<bool> in_cone(entry.instructions().size(), false);
  in_cone[output.index()] = true;
  for (int64_t i = static_cast<int64_t>(in_cone.size()) - 1; i >= 0; --i) {
    if (!in_cone[i]) continue;
    for (const Instruction* operand : entry.instructions()[i]->operands()) in_cone[operand->index()] = true;
  }
  return in_cone;
}

// A collective of several arrays returns a tuple, of which users take elements.
const Instruction* WithoutElement(const Instruction* instruction) {
  while (instruction->opcode() == Opcode::kGetTupleElement) instruction = instruction->operand(0);
  return instruction;
}

class DifferenceTrail {
 public:
  DifferenceTrail(const Module& module, const Disagreement& pair, const RunOptions& options)
      : module_(module), pair_(pair), options_(options), frames_(module) {}

  absl::Status KeepValues(absl::Span<const Literal> arguments) {
    const Computation& entry = *module_.entry();
    output_ = MakerOf(entry.root(), pair_.leaf);
    if (!output_->shape().IsArray()) return absl::UnimplementedError("the output is made inside a tuple");
    const std::vector<bool> in_cone = ConeOf(entry, *output_);
    const std::unique_ptr<Module> all = CloneModule(module_);
    std::vector<Instruction*> kept;
    std::vector<Shape> shapes;
    for (const auto& instruction : entry.instructions()) {
      if (!in_cone[instruction->index()] || !instruction->shape().IsArray()) continue;
      kept_.push_back(instruction.get());
      kept.push_back(all->entry()->instructions()[instruction->index()].get());
      shapes.push_back(instruction->shape());
    }
    all->entry()->set_root(all->entry()->Add(Opcode::kTuple, Shape::Tuple(shapes), kept));
    EliminateDeadCode(all.get());
    RunOptions run = options_;
    run.num_replicas = std::max<int64_t>(1, ReplicasOf(module_));
    ASSIGN_OR_RETURN(run.num_partitions, PartitionsOf(module_));
    Outfeed unread;
    run.outfeed = &unread;
    run.progress = nullptr;
    run.profile = nullptr;
    std::vector<MeshValue> values;
    for (int i = 0; i < entry.num_parameters(); ++i) {
      ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, ParameterShardings(module_, i));
      ASSIGN_OR_RETURN(MeshValue value,
                       CutLiteral(arguments[i], shardings, run.num_partitions, 0, run.num_devices()));
      values.push_back(std::move(value));
    }
    ASSIGN_OR_RETURN(const MeshValue results, RunModule(*all, std::move(values), run));
    differs_.assign(entry.instructions().size(), false);
    for (size_t k = 0; k < kept_.size(); ++k) {
      const MeshValue value = results.element(static_cast<int>(k));
      if (!value.uniform() && !Agree(value)) MarkDifferent(*kept_[k]);
    }
    for (const auto& instruction : entry.instructions()) {
      if (instruction->opcode() == Opcode::kTuple && FirstDifferent(*instruction) != nullptr) {
        differs_[instruction->index()] = true;
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Follow() const {
    const Instruction* at = output_;
    std::string parting;
    while (true) {
      const Instruction* op = WithoutElement(at);
      if (parting.empty() && IsCollective(op->opcode())) {
        ASSIGN_OR_RETURN(parting, PartingOf(*op));
      }
      const Instruction* next = FirstDifferent(*op);
      if (next == nullptr) return ByOrigin(*op, parting);
      at = next;
    }
  }

 private:
  // The first operand of which the two devices hold different values; null if there is none.
  const Instruction* FirstDifferent(const Instruction& op) const {
    for (const Instruction* operand : op.operands()) {
      if (differs_[operand->index()]) return operand;
    }
    return nullptr;
  }

  // What the origin of the difference and the collective on the way from it say together.
  std::string ByOrigin(const Instruction& origin, const std::string& parting) const {
    const bool is_argument = origin.opcode() == Opcode::kParameter;
    if (!is_argument && origin.opcode() != Opcode::kPartitionId && origin.opcode() != Opcode::kReplicaId) {
      return absl::StrCat("the first op whose results differ is ", NameOf(origin));
    }
    if (!parting.empty()) return parting;
    return absl::StrCat(
        "no collective joins the two between ",
        is_argument ? absl::StrCat("parameter ", origin.parameter_number(), " (", ParameterName(origin), ")")
                    : NameOf(origin),
        " and the output");
  }

  // An element of a tuple that an op makes is its result.
  void MarkDifferent(const Instruction& array) {
    differs_[array.index()] = true;
    differs_[WithoutElement(&array)->index()] = true;
  }

  bool Agree(const MeshValue& value) const {
    return Compare(value.ToLiteral(pair_.second), value.ToLiteral(pair_.first)).equal;
  }

  std::string NameOf(const Instruction& op) const {
    const std::string line = SourceFrames(frames_).LineOf(op.metadata());
    std::string name = NameFromMetadata(op);
    if (name.empty()) name = op.name();
    return absl::StrCat(OpcodeName(op.opcode()), name.empty() ? "" : " ", name,
                        line.empty() ? "" : absl::StrCat(" (", line, ")"));
  }

  // The sentence on a collective over groups that part the two devices; "" if it joins them or has no groups.
  absl::StatusOr<std::string> PartingOf(const Instruction& op) const {
    if (op.opcode() == Opcode::kCollectivePermute) return std::string();
    ASSIGN_OR_RETURN(const int64_t partitions, PartitionsOf(module_));
    ASSIGN_OR_RETURN(const DeviceGroups groups,
                     ExpandDeviceGroups(op, std::max<int64_t>(1, ReplicasOf(module_)), partitions));
    std::vector<std::string> texts;
    for (int64_t g = 0; g < groups.size(); ++g) {
      const absl::Span<const int64_t> group = groups.group(g);
      if (absl::c_linear_search(group, pair_.first) && absl::c_linear_search(group, pair_.second)) {
        return std::string();
      }
      if (g < kMostGroups) texts.push_back(absl::StrCat("{", absl::StrJoin(group, ","), "}"));
    }
    if (groups.size() > kMostGroups) texts.push_back("...");
    return absl::StrCat(NameOf(op), " joins devices ", absl::StrJoin(texts, ", "), ", not ", pair_.first,
                        " with ", pair_.second);
  }

  const Module& module_;
  const Disagreement pair_;
  const RunOptions& options_;
  SourceFrames frames_;
  const Instruction* output_ = nullptr;
  std::vector<const Instruction*> kept_;
  std::vector<bool> differs_;  // By index in the entry: values that differ between the two devices.
};

}  // namespace

absl::StatusOr<std::string> WhereDevicesPart(const Module& partitioned, absl::Span<const Literal> arguments,
                                             const Disagreement& disagreement, const RunOptions& options) {
  DifferenceTrail trail(partitioned, disagreement, options);
  RETURN_IF_ERROR(trail.KeepValues(arguments));
  return trail.Follow();
}

}  // namespace toroid
