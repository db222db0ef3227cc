#include "explain/kept_gathers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/author_names.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/analysis/work.h"
#include "hlo/base/text_table.h"
#include "hlo/ir/parameter_name.h"

namespace toroid {
namespace {

constexpr size_t kMostNotes = 3, kMostSteps = 16;
constexpr int64_t kLeastShare = 16;

// Ops that give an array another form, and take no time of their own.
bool IsForm(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kGetTupleElement:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

bool Computes(const Instruction& op) {
  return !IsForm(op) && !IsCollective(op.opcode()) && op.opcode() != Opcode::kParameter &&
         op.opcode() != Opcode::kConstant && op.opcode() != Opcode::kTuple;
}

// The entry's parameter that the collective gathers; null if it gathers something else.
const Instruction* GatheredParameter(const Instruction& gather, int array) {
  const Instruction* op = gather.operand(array);
  for (size_t i = 0; i < kMostSteps && IsForm(*op); ++i) op = op->operand(0);
  return op->opcode() == Opcode::kParameter ? op : nullptr;
}

// The first and the last op that computes with the array.
struct Uses {
  const Instruction *first = nullptr, *last = nullptr;
};

// `array`: which of the arrays of a merged collective.
Uses UsesOf(const Instruction& gather, int array, const UserMap& users) {
  const bool is_merged = gather.shape().IsTuple();
  std::vector<const Instruction*> reached = {&gather};
  Uses uses;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Instruction* user : users.users(*reached[i])) {
      if (is_merged && i == 0 && user->opcode() == Opcode::kGetTupleElement && user->tuple_index() != array)
        continue;
      if (IsForm(*user)) {
        if (std::find(reached.begin(), reached.end(), user) == reached.end()) reached.push_back(user);
        continue;
      }
      if (!Computes(*user)) continue;
      if (uses.first == nullptr || user->index() < uses.first->index()) uses.first = user;
      if (uses.last == nullptr || user->index() > uses.last->index()) uses.last = user;
    }
  }
  return uses;
}

// "fsdp.py:7"; the name of an op without a line.
std::string PlaceOf(const Instruction& op, SourceFrames* frames) {
  std::string place = frames->LineOf(op.metadata());
  if (place.empty()) place = NameFromMetadata(op);
  return place.empty() ? op.name() : place;
}

// JAX names the ops of a gradient after those that they transpose.
bool IsBackward(const Instruction& op) {
  return op.metadata() != nullptr && absl::StrContains(op.metadata()->op_name(), "transpose(");
}

}  // namespace

std::vector<ExplainedNote> KeptGathers(const Module& module,
                                       const std::vector<CollectiveRecord>& collectives) {
  const Computation& entry = *module.entry();
  std::optional<UserMap> users;
  SourceFrames frames(module);
  std::vector<int64_t> computing(1, 0);  // How many of the first ops of the entry compute.
  for (const auto& op : entry.instructions()) computing.push_back(computing.back() + (Computes(*op) ? 1 : 0));
  std::vector<std::pair<int64_t, ExplainedNote>> kept;
  for (const CollectiveRecord& record : collectives) {
    const Instruction& gather = *record.op;
    if (gather.opcode() != Opcode::kAllGather || gather.computation() != &entry ||
        record.array >= gather.num_operands())
      continue;
    const Instruction* parameter = GatheredParameter(gather, record.array);
    if (parameter == nullptr) continue;
    if (!users) users.emplace(entry);
    const Uses uses = UsesOf(gather, record.array, *users);
    if (uses.first == uses.last || IsBackward(*uses.first) || !IsBackward(*uses.last)) continue;
    const int64_t between = computing[uses.last->index()] - computing[uses.first->index() + 1];
    if (between == 0) continue;
    const Shape& shape = gather.shape().IsTuple() ? gather.shape().tuple_shape(record.array) : gather.shape();
    ExplainedNote note;
    note.kind = "kept";
    note.name = ParameterName(*parameter);
    note.names = {note.name};
    note.detail = absl::StrCat(shape.ToString(), " ", BytesText(ArrayBytes(shape)));
    note.source = PlaceOf(*uses.first, &frames);
    const std::string last = PlaceOf(*uses.last, &frames);
    note.reason =
        absl::StrCat("used again ", CountText(between), between == 1 ? " op" : " ops",
                     " later, in the backward pass", last == note.source ? "" : absl::StrCat(" of ", last));
    kept.emplace_back(ArrayBytes(shape), std::move(note));
  }
  std::stable_sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ExplainedNote> notes;
  for (auto& [bytes, note] : kept) {
    if (notes.size() == kMostNotes || bytes < kept.front().first / kLeastShare) break;
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace toroid
