#include "hlo/analysis/memory_walk.h"

#include <algorithm>

#include "hlo/base/math.h"

namespace toroid {
namespace {

// Sums saturate, so that `bytes` may exceed `*sum`.
void Less(int64_t bytes, int64_t* sum) { *sum = std::max<int64_t>(0, *sum - bytes); }

}  // namespace

MemoryWalk::MemoryWalk(const Computation& computation, const MemorySteps& steps,
                       const std::vector<int>& order, const std::vector<int64_t>& peaks,
                       const std::vector<bool>& reserved, const BufferKind& kind)
    : computation_(computation),
      steps_(steps),
      order_(order),
      peaks_(peaks),
      reserved_(reserved),
      held_(buffers().size(), 0),
      passed_from_(buffers().size(), -1),
      kind_(buffers().size(), 0),
      during_(computation.size()) {
  FindLastUses();
  FindValuesInReserved();
  for (int b = 0; kind != nullptr && b < buffers().size(); ++b) kind_[b] = kind(buffers()[b]);
}

void MemoryWalk::FindLastUses() {
  const int n = static_cast<int>(order_.size());
  until_.assign(buffers().size(), -1);
  stays_.assign(buffers().size(), false);
  for (const Instruction* parameter : computation_.parameters()) {
    for (const int b : buffers().Of(*parameter)) until_[b] = 0;
  }
  for (int i = 0; i < n; ++i) {
    const MemoryStep& step = steps_.steps[order_[i]];
    for (const int b : buffers().Of(*step.op)) {
      if (buffers()[b].maker == step.op) until_[b] = i;
    }
    for (const int b : step.reads) until_[b] = i;
  }
  if (computation_.root() != nullptr) {
    for (const int b : buffers().Of(*computation_.root())) until_[b] = n;
  }
  if (!IsEntry()) return;
  const std::vector<bool> donated = DonatedParameters(*computation_.module());
  for (int p = 0; p < computation_.num_parameters(); ++p) {
    if (donated[p]) continue;
    for (const int b : buffers().Of(*computation_.parameter(p))) {
      until_[b] = n;
      stays_[b] = true;
    }
  }
}

void MemoryWalk::FindValuesInReserved() {
  in_reserved_.assign(buffers().size(), false);
  if (reserved_.empty()) return;
  std::vector<bool> has_place(buffers().size(), false);
  for (int i = static_cast<int>(order_.size()) - 1; i >= 0; --i) {
    for (const auto& [from, to] : steps_.steps[order_[i]].places) {
      if (!LiesInReserved(to) || has_place[to] || LiesInReserved(from)) continue;
      if (buffers()[from].maker->opcode() == Opcode::kParameter || !Dies(from, i)) continue;
      if (buffers()[from].bytes != buffers()[to].bytes) continue;
      in_reserved_[from] = true;
      has_place[to] = true;
    }
  }
}

void MemoryWalk::Run(const Instruction* stop, bool inside) {
  const int n = static_cast<int>(order_.size());
  for (const Instruction* parameter : computation_.parameters()) {
    if (IsEntry()) Take(*parameter);
  }
  for (int b = 0; b < buffers().size(); ++b) {
    if (!IsReserved(b)) continue;
    held_[b] = buffers()[b].bytes;
    now_.bytes = SaturatingAdd(now_.bytes, held_[b]);
  }
  Raise(0, nullptr);
  std::vector<std::vector<int>> last_used(n + 1);
  for (int b = 0; b < buffers().size(); ++b) {
    if (until_[b] >= 0) last_used[until_[b]].push_back(b);  // -1: nothing uses the buffer.
  }
  for (const int b : made_) Move(b, &now_.passes, &now_.stays);
  made_.clear();
  if (stop != nullptr && !IsStep(*stop)) return;  // The peak is before the first step.
  for (int i = 0; i < n; ++i) {
    const MemoryStep& step = steps_.steps[order_[i]];
    const Instruction& op = *step.op;
    stopped_at_ = i;
    for (const int b : last_used[i])
      if (!IsReserved(b)) Move(b, &now_.stays, &now_.passes);
    if (op.opcode() == Opcode::kParameter) {
      Raise(0, &op);  // Parameters are held from the start.
    } else {
      const bool body_makes_results = op.opcode() != Opcode::kWhile && HasTrait(op.opcode(), kRunsBody);
      if (body_makes_results) Raise(PeakOfCallees(op), &op);
      if (body_makes_results && &op == stop && inside) return;
      for (const auto& [from, to] : step.places) PassOn(from, to, i);
      Take(op);
      Raise(body_makes_results ? 0 : PeakOfCallees(op), &op);
    }
    if (&op == stop) return;
    for (const int b : last_used[i]) {
      if (!IsReserved(b)) Free(b);
    }
    for (const int b : made_) Move(b, &now_.passes, &now_.stays);
    made_.clear();
  }
}

ResultPlaces MemoryWalk::result_places() const {
  ResultPlaces places;
  if (computation_.root() == nullptr) return places;
  std::vector<int> argument(buffers().size(), -1);
  int leaf = 0;
  for (const Instruction* parameter : computation_.parameters()) {
    for (const int b : buffers().Of(*parameter)) argument[b] = leaf++;
  }
  for (int b : buffers().Of(*computation_.root())) {
    const bool is_argument = argument[b] >= 0;
    while (passed_from_[b] >= 0) b = passed_from_[b];
    places.push_back({argument[b], is_argument});
  }
  return places;
}

void MemoryWalk::AppendHeld(std::vector<HeldValue>* values) const {
  for (int b = 0; b < buffers().size(); ++b) {
    if (held_[b] > 0)
      values->push_back({buffers()[b].maker, buffers()[b].leaf, held_[b], until_[b] > stopped_at_});
  }
}

const Computation* MemoryWalk::Largest(const Instruction& instruction) const {
  const Computation* largest = nullptr;
  for (const Computation* callee : instruction.called()) {
    if (largest == nullptr || peaks_[callee->index()] > peaks_[largest->index()]) largest = callee;
  }
  return largest;
}

bool MemoryWalk::IsStep(const Instruction& op) const {
  return std::any_of(order_.begin(), order_.end(), [&](int step) { return steps_.steps[step].op == &op; });
}

bool MemoryWalk::PassOn(int from, int to, int at) {
  if (passed_from_[to] >= 0 || LiesInReserved(from) || LiesInReserved(to) || !Dies(from, at) ||
      buffers()[from].bytes != buffers()[to].bytes)
    return false;
  held_[to] = held_[from];
  Less(held_[from], &now_.passes[kind_[from]]);
  now_.passes[kind_[to]] = SaturatingAdd(now_.passes[kind_[to]], held_[to]);
  made_.push_back(to);
  held_[from] = 0;
  until_[from] = -1;  // A buffer is handed on once.
  passed_from_[to] = from;
  return true;
}

void MemoryWalk::Take(const Instruction& instruction) {
  for (const int b : buffers().Of(instruction)) {
    if (buffers()[b].maker != &instruction || passed_from_[b] >= 0 || IsReserved(b)) continue;
    held_[b] = in_reserved_[b] ? 0 : buffers()[b].bytes;
    now_.bytes = SaturatingAdd(now_.bytes, held_[b]);
    now_.passes[kind_[b]] = SaturatingAdd(now_.passes[kind_[b]], held_[b]);
    made_.push_back(b);
  }
}

void MemoryWalk::Free(int buffer) {
  Less(held_[buffer], &now_.bytes);
  Less(held_[buffer], &now_.passes[kind_[buffer]]);
  held_[buffer] = 0;
}

void MemoryWalk::Move(int buffer, std::array<int64_t, kBufferKinds>* from,
                      std::array<int64_t, kBufferKinds>* to) const {
  Less(held_[buffer], &(*from)[kind_[buffer]]);
  (*to)[kind_[buffer]] = SaturatingAdd((*to)[kind_[buffer]], held_[buffer]);
}

int64_t MemoryWalk::PeakOfCallees(const Instruction& instruction) const {
  if (!HasTrait(instruction.opcode(), kRunsBody)) return 0;
  const Computation* callee = Largest(instruction);
  return callee == nullptr ? 0 : peaks_[callee->index()];
}

void MemoryWalk::Raise(int64_t inside, const Instruction* at) {
  const int64_t bytes = SaturatingAdd(now_.bytes, inside);
  if (at != nullptr && bytes > during_[at->index()].bytes) {
    during_[at->index()] = now_;
    during_[at->index()].bytes = bytes;
  }
  if (bytes <= peak_ && at_ != nullptr) return;
  peak_ = bytes;
  at_ = at != nullptr ? at : computation_.size() > 0 ? computation_.instruction(0) : nullptr;
  is_inside_ = inside > 0;
}

}  // namespace toroid
