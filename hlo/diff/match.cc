#include "hlo/diff/match.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace toroid {
namespace {

// Of a value's users, and of a user's operands, only so many are looked at, so that values with many of them cost no more than
// others.
constexpr size_t kMostUsers = 32;

std::vector<size_t> Begins(const Module& module) {
  std::vector<size_t> begins;
  size_t next = 0;
  for (const auto& computation : module.computations()) {
    begins.push_back(next);
    next += computation->size();
  }
  begins.push_back(next);
  return begins;
}

// Hashes of the op_name of each instruction, and of op_name and source line; 0 for instructions without an op_name.
void FindOrigins(const Module& module, SourceFrames* frames, std::vector<size_t>* names,
                 std::vector<size_t>* lines) {
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      const bool is_known = op->metadata() != nullptr && !op->metadata()->op_name().empty();
      names->push_back(is_known ? absl::HashOf(op->metadata()->op_name()) : 0);
      lines->push_back(is_known ? absl::HashOf(names->back(), frames->LineOf(op->metadata())) : 0);
    }
  }
}

// The first users that `is_free` holds for.
std::vector<const Instruction*> FewUsers(const UserMap& users, const Instruction& op,
                                         const std::function<bool(const Instruction&)>& is_free) {
  const auto all = users.users(op);
  std::vector<const Instruction*> few;
  for (size_t i = 0; i < std::min(all.size(), kMostUsers); ++i) {
    if (is_free(*all[i])) few.push_back(all[i]);
  }
  return few;
}

// Of a user with many operands only so many are told apart.
int64_t PositionOf(const Instruction& operand, const Instruction& user) {
  const auto operands = user.operands().subspan(0, kMostUsers);
  return std::find(operands.begin(), operands.end(), &operand) - operands.begin();
}

// The instructions of the entry, bodies, branches and fusions.
std::vector<const Instruction*> InstructionsThatRun(const Module& module) {
  std::vector<bool> runs(module.num_computations(), false);
  runs[module.entry()->index()] = true;
  for (int c = module.num_computations() - 1; c >= 0; --c) {  // Callers come after their callees.
    if (!runs[c]) continue;
    for (const auto& op : module.computation(c)->instructions()) {
      if (!CallsParts(op->opcode())) continue;
      for (const Computation* part : op->called()) runs[part->index()] = true;
    }
  }
  std::vector<const Instruction*> ops;
  for (const auto& computation : module.computations()) {
    if (!runs[computation->index()]) continue;
    for (const auto& op : computation->instructions()) ops.push_back(op.get());
  }
  return ops;
}

}  // namespace

// Matches the instructions of two computations.
class ComputationMatcher {
 public:
  // What instructions that are matched have in common besides: op_name and source line, the op_name, or nothing.
  enum class Origin { kLine, kName, kAny };
  using Key = std::function<size_t(const Fingerprints&, const Instruction&)>;
  using Callees = std::deque<std::pair<const Computation*, const Computation*>>;

  ComputationMatcher(const Computation& a, const Computation& b, ModuleMatch* match, Callees* callees)
      : a_(a), b_(b), match_(*match), callees_(*callees), users_a_(a), users_b_(b) {}

  void Run() {
    const Key whole = [](const Fingerprints& prints, const Instruction& op) { return prints.Whole(op); };
    for (const Origin origin : {Origin::kLine, Origin::kName}) MatchByOrigin(origin, whole);
    MatchByKey(whole);
    for (int i = 0; i < std::min(a_.num_parameters(), b_.num_parameters()); ++i) {
      MatchIfFree(*a_.parameter(i), *b_.parameter(i));
    }
    if (a_.root()->opcode() == b_.root()->opcode()) MatchIfFree(*a_.root(), *b_.root());
    for (const Origin origin : {Origin::kLine, Origin::kName}) {
      MatchAndSpread(origin,
                     [](const Fingerprints& prints, const Instruction& op) { return prints.Own(op); });
      MatchAndSpread(origin, [](const Fingerprints&, const Instruction& op) {
        return absl::HashOf(op.opcode_name(), op.shape().ToString());
      });
      MatchAndSpread(
          origin, [](const Fingerprints&, const Instruction& op) { return absl::HashOf(op.opcode_name()); });
    }
    fresh_ = all_;
    Spread(Origin::kAny);
    MatchByKey([](const Fingerprints& prints, const Instruction& op) { return prints.Own(op); });
    Spread(Origin::kAny);
  }

 private:
  bool IsFreeA(const Instruction& op) const { return match_.PartnerOf(op) == nullptr; }
  bool IsFreeB(const Instruction& op) const { return match_.PartnerInA(op) == nullptr; }

  // Matches free instructions of equal keys, in order. Key 0: none.
  void MatchByKey(const Key& key) {
    absl::flat_hash_map<size_t, std::vector<const Instruction*>> of_b;
    for (int i = b_.size() - 1; i >= 0; --i) {  // The first comes last, to be taken first.
      const Instruction& op = *b_.instruction(i);
      if (op.opcode() == Opcode::kParameter || !IsFreeB(op)) continue;
      const size_t k = key(match_.prints_b_, op);
      if (k != 0) of_b[k].push_back(&op);
    }
    if (of_b.empty()) return;
    for (const auto& op : a_.instructions()) {
      if (op->opcode() == Opcode::kParameter || !IsFreeA(*op)) continue;
      const auto found = of_b.find(key(match_.prints_a_, *op));
      if (found == of_b.end() || found->second.empty()) continue;
      Match(*op, *found->second.back());
      found->second.pop_back();
    }
  }

  // The same for instructions of one origin.
  void MatchByOrigin(Origin origin, const Key& key) {
    MatchByKey([&](const Fingerprints& prints, const Instruction& op) -> size_t {
      const size_t from = &prints == &match_.prints_a_ ? OriginOfA(op, origin) : OriginOfB(op, origin);
      return from == 0 ? 0 : absl::HashOf(from, key(prints, op));
    });
  }

  // The same, and then of what is around them.
  void MatchAndSpread(Origin origin, const Key& key) {
    MatchByOrigin(origin, key);
    Spread(origin);
  }

  void MatchIfFree(const Instruction& a, const Instruction& b) {
    if (IsFreeA(a) && IsFreeB(b)) Match(a, b);
  }

  void Match(const Instruction& a, const Instruction& b) {
    match_.partner_of_a_[match_.Place(a)] = &b;
    match_.partner_of_b_[match_.PlaceB(b)] = &a;
    fresh_.push_back({&a, &b});
    all_.push_back({&a, &b});
    if (!CallsParts(a.opcode()) || a.called().size() != b.called().size()) return;
    for (size_t i = 0; i < a.called().size(); ++i) callees_.push_back({a.called(i), b.called(i)});
  }

  size_t OriginOfA(const Instruction& op, Origin origin) const {
    return (origin == Origin::kLine ? match_.lines_a_ : match_.names_a_)[match_.Place(op)];
  }
  size_t OriginOfB(const Instruction& op, Origin origin) const {
    return (origin == Origin::kLine ? match_.lines_b_ : match_.names_b_)[match_.PlaceB(op)];
  }
  bool HaveOneOrigin(const Instruction& a, const Instruction& b, Origin origin) const {
    return origin == Origin::kAny || OriginOfA(a, origin) == OriginOfB(b, origin);
  }

  // Matches operands and users of what was matched, as long as there are any of one origin.
  void Spread(Origin origin) {
    while (!fresh_.empty()) {
      const auto [a, b] = fresh_.front();
      fresh_.pop_front();
      if (a->opcode() == b->opcode() && a->num_operands() == b->num_operands()) {
        for (int i = 0; i < a->num_operands(); ++i) {
          const Instruction &of_a = *a->operand(i), &of_b = *b->operand(i);
          if (of_a.opcode() == of_b.opcode() && HaveOneOrigin(of_a, of_b, origin)) MatchIfFree(of_a, of_b);
        }
      }
      MatchUsers(*a, *b, origin);
    }
  }

  void MatchUsers(const Instruction& a, const Instruction& b, Origin origin) {
    const auto of_a = FewUsers(users_a_, a, [&](const Instruction& op) { return IsFreeA(op); });
    if (of_a.empty()) return;
    const auto of_b = FewUsers(users_b_, b, [&](const Instruction& op) { return IsFreeB(op); });
    for (const Fit fit : {Fit::kAlike, Fit::kShape, Fit::kOpcode}) {
      if (fit == Fit::kOpcode && origin != Origin::kAny) return;
      for (const Instruction* user : of_a) {
        if (!IsFreeA(*user)) continue;
        const auto partner = std::find_if(of_b.begin(), of_b.end(), [&](const Instruction* other) {
          return IsFreeB(*other) && user->opcode() == other->opcode() &&
                 HaveOneOrigin(*user, *other, origin) && PositionOf(a, *user) == PositionOf(b, *other) &&
                 Fits(*user, *other, fit);
        });
        if (partner != of_b.end()) Match(*user, **partner);
      }
    }
  }

  // What users of one opcode need to have in common.
  enum class Fit { kAlike, kShape, kOpcode };
  bool Fits(const Instruction& a, const Instruction& b, Fit fit) const {
    if (fit == Fit::kOpcode) return true;
    return fit == Fit::kShape ? a.shape().Compatible(b.shape())
                              : match_.prints_a_.Own(a) == match_.prints_b_.Own(b);
  }

  const Computation &a_, &b_;
  ModuleMatch& match_;
  Callees& callees_;
  const UserMap users_a_, users_b_;
  std::deque<std::pair<const Instruction*, const Instruction*>> all_,
      fresh_;  // Matched; not spread from yet.
};

ModuleMatch::ModuleMatch(const Module& a, const Module& b, SourceFrames* frames_a, SourceFrames* frames_b)
    : a_(a),
      b_(b),
      prints_a_(a),
      prints_b_(b),
      begin_a_(Begins(a)),
      begin_b_(Begins(b)),
      partner_of_a_(begin_a_.back(), nullptr),
      partner_of_b_(begin_b_.back(), nullptr),
      is_same_program_(prints_a_.Of(*a.entry()) == prints_b_.Of(*b.entry())) {
  FindOrigins(a, frames_a, &names_a_, &lines_a_);
  FindOrigins(b, frames_b, &names_b_, &lines_b_);
  std::vector<bool> done_a(a.num_computations(), false), done_b(b.num_computations(), false);
  ComputationMatcher::Callees pairs = {{a.entry(), b.entry()}};
  while (!pairs.empty()) {
    const auto [of_a, of_b] = pairs.front();
    pairs.pop_front();
    if (done_a[of_a->index()] || done_b[of_b->index()]) continue;
    done_a[of_a->index()] = done_b[of_b->index()] = true;
    ComputationMatcher(*of_a, *of_b, this, &pairs).Run();
  }
}

Likeness ModuleMatch::LikenessOf(const Instruction& of_a) const {
  const Instruction* partner = PartnerOf(of_a);
  if (partner == nullptr) return Likeness::kNone;
  if (prints_a_.Whole(of_a) == prints_b_.Whole(*partner)) return Likeness::kSame;
  return prints_a_.Own(of_a) == prints_b_.Own(*partner) ? Likeness::kAlike : Likeness::kChanged;
}

MatchCounts ModuleMatch::Count() const {
  MatchCounts counts;
  for (const Instruction* op : InstructionsThatRun(a_)) {
    const Likeness likeness = LikenessOf(*op);
    counts.only_a += likeness == Likeness::kNone;
    counts.changed += likeness == Likeness::kChanged;
    counts.alike += likeness == Likeness::kAlike;
    counts.same += likeness == Likeness::kSame;
  }
  counts.only_b = static_cast<int64_t>(OnlyInB().size());
  return counts;
}

std::vector<const Instruction*> ModuleMatch::OnlyInA() const {
  std::vector<const Instruction*> only;
  for (const Instruction* op : InstructionsThatRun(a_)) {
    if (PartnerOf(*op) == nullptr) only.push_back(op);
  }
  return only;
}

std::vector<const Instruction*> ModuleMatch::OnlyInB() const {
  std::vector<const Instruction*> only;
  for (const Instruction* op : InstructionsThatRun(b_)) {
    if (PartnerInA(*op) == nullptr) only.push_back(op);
  }
  return only;
}

}  // namespace toroid
