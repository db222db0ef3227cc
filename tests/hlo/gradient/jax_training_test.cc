// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax"]
// Training steps recorded from JAX, with Toroid's gradients in place of JAX's: the gradients agree, and so do
// the updated weights.
#include <cmath>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/gradient/gradient.h"
#include "hlo/gradient/remat/remat_policy.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/verify_module.h"
#include "hlo/passes/dce_pass.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Relative to an array's largest value.
constexpr double kTolerance = 5e-5;

void ExpectNear(const Literal& actual, const Literal& expected, const std::string& what) {
  SCOPED_TRACE(what);
  ASSERT_TRUE(actual.shape().Compatible(expected.shape())) << actual.shape().ToString();
  if (expected.shape().element_type() != xla::F32) {
    EXPECT_TRUE(actual == expected);
    return;
  }
  const absl::Span<const float> a = actual.data<float>(), e = expected.data<float>();
  double largest = 0, difference = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(e[i])));
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - e[i]));
  }
  EXPECT_LE(difference, kTolerance * std::max(largest, 1e-7));
}

bool IsBackward(const Instruction& op) {
  return op.metadata() != nullptr && absl::StrContains(op.metadata()->op_name(), "transpose(jvp");
}

// The value of JAX's backward pass from which the optimizer computes `updated`.
const Instruction* GradientBehind(const Instruction& updated) {
  const Instruction* found = nullptr;
  std::vector<const Instruction*> todo = {&updated};
  absl::flat_hash_map<const Instruction*, bool> seen;
  while (!todo.empty()) {
    const Instruction* now = todo.back();
    todo.pop_back();
    if (!seen.insert({now, true}).second) continue;
    if (!IsBackward(*now)) {
      todo.insert(todo.end(), now->operands().begin(), now->operands().end());
      continue;
    }
    if (found != nullptr) return nullptr;
    found = now;
  }
  return found;
}

struct Step {
  HloFile file;
  std::vector<Literal> arguments;
  Literal recorded;
  std::vector<int64_t> parameters;      // The trained parameters: parameter i becomes result i + 1.
  std::vector<Instruction*> gradients;  // JAX's gradient of each.
};

absl::StatusOr<Step> ReadStep(absl::string_view name) {
  Step step;
  ASSIGN_OR_RETURN(step.file, ReadHloFile(absl::StrCat("tests/corpus/jax/", name, ".gspmd.snapshot.pb")));
  ASSIGN_OR_RETURN(step.arguments, step.file.Arguments());
  ASSIGN_OR_RETURN(const std::optional<Literal> recorded, step.file.Result());
  step.recorded = *recorded;
  const Computation& entry = *step.file.module->entry();
  for (int i = 0; i + 1 < entry.root()->num_operands() && i < entry.num_parameters(); ++i) {
    const Instruction* gradient = GradientBehind(*entry.root()->operand(i + 1));
    if (gradient == nullptr || !gradient->shape().SameDims(entry.parameter(i)->shape())) break;
    step.parameters.push_back(i);
    step.gradients.push_back(entry.instruction(gradient->index()));
  }
  return step;
}

struct Program {
  const char* name;
  int weights;
};

class JaxTrainingTest : public ::testing::TestWithParam<Program> {};

// JAX's gradients, computed by the original module.
absl::StatusOr<Literal> JaxGradients(absl::string_view name) {
  ASSIGN_OR_RETURN(Step step, ReadStep(name));
  Module& module = *step.file.module;
  InstructionBuilder b(module.entry());
  b.Finish(b.Tuple(std::vector<Value>(step.gradients.begin(), step.gradients.end())));
  EliminateDeadCode(&module);
  return RunSingle(module, step.arguments);
}

// The step with Toroid's gradients in place of JAX's; they are its last results.
absl::StatusOr<Step> StepOfOwnGradients(absl::string_view name, bool recomputes) {
  ASSIGN_OR_RETURN(Step step, ReadStep(name));
  Module& module = *step.file.module;
  Computation* entry = module.entry();
  std::vector<Value> results(entry->root()->operands().begin(), entry->root()->operands().end());
  std::vector<Value> weights;
  for (const int64_t number : step.parameters) weights.push_back(entry->parameter(number));
  InstructionBuilder b(entry);
  GradientOptions options;
  if (recomputes) KeepDots(&options);
  ASSIGN_OR_RETURN(const std::vector<Value> gradients, Gradients(results[0], weights, options, &b));
  std::vector<Instruction*> now(entry->size(), nullptr);
  for (size_t i = 0; i < gradients.size(); ++i) now[step.gradients[i]->index()] = gradients[i];
  ReplaceUses(entry, now);
  const xla::OpSharding* sharding = entry->root()->sharding();
  std::vector<Value> all(entry->root()->operands().begin(), entry->root()->operands().end());
  all.insert(all.end(), gradients.begin(), gradients.end());
  const Value root = b.Finish(b.Tuple(all))->root();
  if (sharding != nullptr) {
    auto* of_all = module.New<xla::OpSharding>(*sharding);
    for (const Value weight : weights) *of_all->add_tuple_shardings() = *weight->sharding();
    root->set_sharding(of_all);
  }
  RETURN_IF_ERROR(SortInstructions(entry));
  EliminateDeadCode(&module);
  return step;
}

TEST_P(JaxTrainingTest, OwnGradientsAreThoseOfJaxAndMakeTheRecordedStep) {
  ASSERT_OK_AND_ASSIGN(const Literal expected, JaxGradients(GetParam().name));
  for (const bool recomputes : {false, true}) {
    SCOPED_TRACE(recomputes ? "all but dots computed again" : "all kept");
    ASSERT_OK_AND_ASSIGN(const Step step, StepOfOwnGradients(GetParam().name, recomputes));
    const Module& module = *step.file.module;
    ASSERT_OK(VerifyModule(module));
    ASSERT_EQ(static_cast<int>(step.parameters.size()), GetParam().weights);
    for (const auto& op : module.entry()->instructions()) {
      ASSERT_FALSE(IsBackward(*op) && op->opcode() == Opcode::kDot &&
                   !absl::StartsWith(op->metadata()->op_name(), "gradient/"))
          << op->Path() << ": JAX's backward pass is still there";
    }
    ASSERT_OK_AND_ASSIGN(const Literal whole, RunSingle(module, step.arguments));
    const int64_t first = step.recorded.shape().NumLeaves();
    for (int64_t i = 0; i < first; ++i)
      ExpectNear(whole.element(i), step.recorded.element(i), absl::StrCat("result ", i));
    for (int64_t i = 0; i < expected.shape().NumLeaves(); ++i) {
      ExpectNear(whole.element(first + i), expected.element(i), absl::StrCat("gradient ", i));
    }
    for (const bool reordered : {false, true}) {
      SCOPED_TRACE(reordered ? "permuted devices" : "devices in order");
      PartitionOptions options;
      if (reordered) options.device_order_seed = 3;
      options.on_local_value = PoisonPadding;
      ASSERT_OK_AND_ASSIGN(const Literal cut, PartitionAndRun(module, options, step.arguments));
      for (int64_t i = 0; i < whole.shape().NumLeaves(); ++i) {
        ExpectNear(cut.element(i), whole.element(i), absl::StrCat("result ", i));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, JaxTrainingTest,
                         ::testing::Values(Program{"lm_data_tensor_parallel", 17},
                                           Program{"lm_fsdp_tensor_parallel", 17},
                                           Program{"moe_transformer_train", 55}));

}  // namespace
}  // namespace toroid
