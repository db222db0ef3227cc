// The compiler that code of this thread follows: its rules, its thresholds, and a record of which rule decided what.
//
//   CompilerScope scope(core, &decisions);
//   if (IsQuantized(op) && Decides(Rule::kQuantizedIsWritten, op)) ...
// Outside of a scope it is the one of TPU v3, with all rules, and nothing is recorded.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction.h"
#include "simulator/machines/core.pb.h"
#include "simulator/rules/rule.h"
#include "simulator/rules/walk_limit.h"

namespace toroid {

// Which rules decided what, and which searches met their limits.
struct Decisions {
  absl::flat_hash_map<const Instruction*, RuleSet> of;  // While these instructions live.
  struct Limit {
    std::string name;
    int times;
  };
  std::vector<Limit> limits;  // How often each was met, in the order in which they first were.
  RuleSet decided;            // All that decided something, also of what is gone.
  RuleSet asked;              // All that were found to hold: without any other nothing changes.
};

class CompilerScope {
 public:
  // `core` and `decisions` outlive the scope; `decisions` may be null. Names of rules that do not exist are ignored: RulesOf
  // refuses them.
  explicit CompilerScope(const CoreSpec& core, Decisions* decisions = nullptr);
  ~CompilerScope();
  CompilerScope(const CompilerScope&) = delete;
  CompilerScope& operator=(const CompilerScope&) = delete;

  struct State {
    const CompilerSpec* spec;
    RuleSet rules;
    Decisions* decisions;
  };

 private:
  State state_;
  const State* const before_;
};

// The rule holds.
bool IsOn(Rule rule);
// The same, and if so it is recorded that it decided something of `op`: the last condition of a rule.
bool Decides(Rule rule, const Instruction& op);
// The same for an instruction that the rule made or changed: the frontend attribute kRulesAttribute says so from then on.
void MarkDecided(const RuleSet& rules, Instruction* op);
void MarkDecided(Rule rule, Instruction* op);
// The same, of an instruction that is not null; returns it.
Instruction* Marked(Rule rule, Instruction* op);
// What was recorded of instructions of the computation is marked on them.
void MarkRecorded(const Computation& computation);
// Before instructions are deleted.
void ForgetRecorded();

// Names of rules, separated by commas.
inline constexpr char kRulesAttribute[] = "toroid_rules";
// What that attribute of `op` says.
RuleSet RulesMarkedOn(const Instruction& op);

// Of the compiler that is followed.
const CompilerSpec& Thresholds();

// Rules are recorded and marked.
bool IsRecording();

}  // namespace toroid
