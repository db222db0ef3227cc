#include "simulator/rules/compiler_scope.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/ir/module.h"
#include "simulator/machines/tpu_v3_core.h"

namespace toroid {
namespace {

const CompilerScope::State& Default() {
  static const auto* state = [] {
    auto* all = new CompilerScope::State{&TpuV3Core().compiler(), {}, nullptr};
    all->rules.set();
    return all;
  }();
  return *state;
}

thread_local const CompilerScope::State* current = nullptr;

const CompilerScope::State& Current() { return current == nullptr ? Default() : *current; }

}  // namespace

CompilerScope::CompilerScope(const CoreSpec& core, Decisions* decisions)
    : state_{core.has_compiler() ? &core.compiler() : Default().spec, {}, decisions}, before_(current) {
  state_.rules.set();
  for (const std::string& name : core.compiler().without_rule()) {
    if (const auto rule = FindRule(name)) state_.rules.reset(static_cast<int>(*rule));
  }
  current = &state_;
}

CompilerScope::~CompilerScope() { current = before_; }

bool IsOn(Rule rule) {
  const CompilerScope::State& now = Current();
  if (!now.rules[static_cast<int>(rule)]) return false;
  if (now.decisions != nullptr) now.decisions->asked.set(static_cast<int>(rule));
  return true;
}

bool Decides(Rule rule, const Instruction& op) {
  if (!IsOn(rule)) return false;
  if (Decisions* decisions = Current().decisions) {
    decisions->of[&op].set(static_cast<int>(rule));
    decisions->decided.set(static_cast<int>(rule));
  }
  return true;
}

void MarkDecided(const RuleSet& rules, Instruction* op) {
  if (rules.none()) return;
  const RuleSet before = RulesMarkedOn(*op), all = before | rules;
  if (all == before) return;
  xla::FrontendAttributes attributes;
  if (op->frontend_attributes() != nullptr) attributes = *op->frontend_attributes();
  std::string names;
  for (int i = 0; i < kRules; ++i) {
    if (all[i]) absl::StrAppend(&names, names.empty() ? "" : ",", RowOf(static_cast<Rule>(i)).name);
  }
  (*attributes.mutable_map())[kRulesAttribute] = names;
  op->set_frontend_attributes(op->module()->New(attributes));
}

void MarkDecided(Rule rule, Instruction* op) {
  if (Current().decisions == nullptr) return;
  RuleSet one;
  one.set(static_cast<int>(rule));
  Current().decisions->decided |= one;
  MarkDecided(one, op);
}

Instruction* Marked(Rule rule, Instruction* op) {
  if (op != nullptr) MarkDecided(rule, op);
  return op;
}

void MarkRecorded(const Computation& computation) {
  Decisions* decisions = Current().decisions;
  if (decisions == nullptr) return;
  for (const auto& op : computation.instructions()) {
    const auto found = decisions->of.find(op.get());
    if (found != decisions->of.end()) MarkDecided(found->second, op.get());
  }
}

RuleSet RulesMarkedOn(const Instruction& op) {
  RuleSet rules;
  const std::string* names = op.FrontendAttribute(kRulesAttribute);
  if (names == nullptr) return rules;
  for (const absl::string_view name : absl::StrSplit(*names, ',')) {
    if (const auto rule = FindRule(name)) rules.set(static_cast<int>(*rule));
  }
  return rules;
}

const CompilerSpec& Thresholds() { return *Current().spec; }

void ForgetRecorded() {
  if (Decisions* decisions = Current().decisions) decisions->of.clear();
}

bool IsRecording() { return Current().decisions != nullptr; }

void ReportLimit(const WalkLimit& limit) {
  Decisions* decisions = Current().decisions;
  if (decisions == nullptr) return;
  const auto met =
      absl::c_find_if(decisions->limits, [&](const auto& one) { return one.name == limit.name; });
  if (met != decisions->limits.end()) {
    ++met->times;
  } else {
    decisions->limits.push_back({limit.name, 1});
  }
}

}  // namespace toroid
