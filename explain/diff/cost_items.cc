#include "explain/diff/cost_items.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "explain/diff/shape_leaves.h"
#include "explain/explanation.h"
#include "hlo/analysis/author_names.h"
#include "hlo/analysis/collective.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/ir/parameter_name.h"

namespace toroid {
namespace {

// So many ops between partial sums and the collective that sums them are looked through.
constexpr int kMostSteps = 16;

// So many ops behind one without a line are looked at, and before it.
constexpr size_t kMostNear = 64;

// Sums of seconds are read as equal up to this.
constexpr double kNoSeconds = 1e-12;

bool IsSpreadScalar(const Instruction& op) {
  return op.opcode() == Opcode::kBroadcast && op.num_operands() == 1 && op.operand(0)->shape().dims().empty();
}

// The operand that an op hands on as it is, moved, converted or scaled; -1 for ops that compute more.
int64_t OperandHandedOn(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kGetTupleElement:
    case Opcode::kNegate:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return 0;
    case Opcode::kMultiply:
      return IsSpreadScalar(*op.operand(0)) ? 1 : IsSpreadScalar(*op.operand(1)) ? 0 : -1;
    case Opcode::kDivide:
      return IsSpreadScalar(*op.operand(1)) ? 0 : -1;
    default:
      return HasTrait(op.opcode(), kExchangesData) ? 0 : -1;
  }
}

bool SumsUp(Opcode opcode) {
  return opcode == Opcode::kAllReduce || opcode == Opcode::kAllReduceStart ||
         opcode == Opcode::kReduceScatter;
}

// The op that computes array `array` of a collective, behind ops that hand it on.
const Instruction& ProducerOf(const Instruction& collective, int64_t array) {
  const Instruction* op = &collective;
  int64_t operand = array;
  for (int step = 0; step < kMostSteps && operand >= 0 && operand < op->num_operands(); ++step) {
    const Instruction* next = op->operand(operand);
    // An array of a collective of several.
    const bool picks = next->opcode() == Opcode::kGetTupleElement && next->operand(0)->num_operands() > 1 &&
                       HasTrait(next->operand(0)->opcode(), kExchangesData);
    operand = picks ? next->tuple_index() : OperandHandedOn(*next);
    op = picks ? next->operand(0) : next;
  }
  return *op;
}

std::string NameOf(const Instruction& op) {
  if (op.opcode() == Opcode::kParameter) return ParameterName(op);
  std::string name = NameFromMetadata(op);
  return name.empty() ? op.name() : name;
}

// True for a collective of several arrays of which only the whole has a record: a compiler that combines collectives keeps no
// causes of their arrays. The operands of an all-to-all are parts of one array.
bool IsCombined(const CollectiveRecord& record) {
  return record.op->num_operands() > 1 && record.array == 0 && record.share == 1 && record.sent_bytes > 0 &&
         record.op->opcode() != Opcode::kAllToAll;
}

// The items of the arrays of a combined collective, named after what computes them.
void AppendArrays(const CostItem& whole, Collective collective, SourceFrames* frames,
                  std::vector<CostItem>* items) {
  const int64_t all_bytes = std::exchange(collective.operand_bytes, 0);
  int64_t sent_before = 0;
  for (int k = 0; k < whole.op->num_operands(); ++k) {
    const int64_t bytes = ArrayBytes(whole.op->operand(k)->shape());
    const Instruction& producer = ProducerOf(*whole.op, k);
    CostItem item = whole;
    item.array = k;
    item.name = NameOf(producer);
    item.place = frames->LineOf(producer.metadata());
    if (item.place.empty()) item.place = item.source;
    // Differences of running sums, so that the arrays' bytes add up to those of the collective.
    collective.operand_bytes = SaturatingAdd(collective.operand_bytes, bytes);
    item.cost = collective.sent_bytes() - sent_before;
    sent_before += item.cost;
    item.seconds = whole.seconds * static_cast<double>(bytes) / static_cast<double>(all_bytes);
    items->push_back(std::move(item));
  }
}

// The lines of the ops around one that has none.
class NearLines {
 public:
  explicit NearLines(SourceFrames* frames) : frames_(frames) {}

  // The line of the nearest op behind `op` that has one, or else of the nearest before it; "" if there is none near.
  std::string Of(const Instruction& op) {
    auto& users = users_[op.computation()];
    if (users == nullptr) users = std::make_unique<UserMap>(*op.computation());
    std::string line = Nearest(op, [&](const Instruction& reached) { return users->users(reached); });
    if (!line.empty()) return line;
    return Nearest(op, [](const Instruction& reached) { return reached.operands(); });
  }

 private:
  template <typename NeighboursOf>
  std::string Nearest(const Instruction& op, const NeighboursOf& neighbours_of) {
    std::vector<const Instruction*> reached = {&op};
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const Instruction* next : neighbours_of(*reached[i])) {
        if (std::string line = frames_->LineOf(next->metadata()); !line.empty()) return line;
        if (reached.size() == kMostNear) break;
        if (std::find(reached.begin(), reached.end(), next) == reached.end()) reached.push_back(next);
      }
    }
    return "";
  }

  SourceFrames* frames_;
  absl::flat_hash_map<const Computation*, std::unique_ptr<UserMap>> users_;
};

// What the machine's own collectives take, so that the items' seconds add up to those of the program.
void AppendRest(const PredictedTimes& times, std::vector<CostItem>* items) {
  double rest = times.collective_seconds;
  for (const CostItem& item : *items) rest -= item.seconds;
  if (std::abs(rest) < kNoSeconds) return;
  items->push_back({.kind = "of the machine",
                    .what = "more, which the machine's compiler makes",
                    .name = "collectives that are none of the program's",
                    .seconds = rest});
}

}  // namespace

std::vector<CostItem> CollectiveItems(const Module& module, const PredictedTimes* times,
                                      SourceFrames* frames) {
  std::vector<CostItem> items;
  const DeviceCounts counts = DeviceCountsOf(module);
  NearLines near(frames);
  for (const CollectiveRecord& record : ListCollectives(module, frames)) {
    CostItem item;
    item.kind = item.what =
        record.group_size == 0 ? record.opcode : absl::StrCat(record.opcode, " over ", record.group_size);
    std::tie(item.name, item.step) = NameAndStep(record.cause);
    item.source = item.place = record.source;
    item.op = record.op;
    item.array = record.array;
    item.cost = record.sent_bytes;
    item.times = record.executions.times;
    if (times != nullptr) {
      const auto predicted = times->of_collective.find(record.op);
      if (predicted != times->of_collective.end()) item.seconds = predicted->second * record.share;
    }
    if (IsCombined(record)) {
      AppendArrays(item, *CollectiveOf(*record.op, counts), frames, &items);
      continue;
    }
    if (SumsUp(record.op->opcode()) || item.place.empty()) {
      const std::string line = frames->LineOf(ProducerOf(*record.op, record.array).metadata());
      if (!line.empty()) item.place = line;
    }
    if (item.place.empty()) item.place = near.Of(*record.op);
    items.push_back(std::move(item));
  }
  if (times != nullptr) AppendRest(*times, &items);
  return items;
}

std::vector<CostItem> ProductItems(const Module& module, SourceFrames* frames) {
  std::vector<CostItem> items;
  const std::vector<Executions> executions = CountExecutions(module);
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      const int64_t flops = MatrixFlops(*op);
      if (flops == 0) continue;
      CostItem item;
      item.kind = item.what = std::string(op->opcode_name());
      item.name = NameOf(*op);
      item.source = item.place = frames->LineOf(op->metadata());
      item.op = op.get();
      item.cost = flops;
      item.times = executions[computation->index()].times;
      items.push_back(std::move(item));
    }
  }
  return items;
}

std::vector<CostItem> PeakItems(const Module& module, SourceFrames* frames) {
  std::vector<CostItem> items;
  const PeakMemory peak = ComputeCompiledPeakMemory(module);
  absl::flat_hash_map<const Instruction*, std::vector<const Shape*>> leaves;
  int64_t rest = peak.bytes;
  for (const PeakMemory::Value& value : peak.live) {
    const auto [it, is_new] = leaves.try_emplace(value.maker);
    if (is_new) it->second = LeavesOf(value.maker->shape());
    if (value.bytes == 0 || value.leaf >= static_cast<int>(it->second.size())) continue;  // No array.
    CostItem item;
    item.kind = "array";
    item.what = it->second[value.leaf]->ToString();
    item.name = NameOf(*value.maker);
    item.source = item.place = frames->LineOf(value.maker->metadata());
    item.op = value.maker;
    item.array = value.leaf;
    item.cost = value.bytes;
    rest -= value.bytes;
    items.push_back(std::move(item));
  }
  if (rest != 0)
    items.push_back({.kind = "besides", .what = "memory", .name = "all else that is held", .cost = rest});
  return items;
}

}  // namespace toroid
