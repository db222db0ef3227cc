#include "tests/hlo/passes/same_after_pass.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "hlo/passes/dce_pass.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {

std::string SameAfterPass(Pass* pass, absl::string_view body, absl::string_view computations, int64_t n,
                          bool changes) {
  std::unique_ptr<Module> module = MakeModule(body, computations);
  std::vector<std::vector<Literal>> arguments;
  for (const Instruction* parameter : module->entry()->parameters()) {
    arguments.emplace_back();
    for (int64_t d = 0; d < n; ++d) {
      arguments.back().push_back(
          Integers(parameter->shape(), static_cast<uint64_t>(17 * d + parameter->parameter_number())));
    }
  }
  const absl::StatusOr<std::vector<Literal>> expected = RunOnDevices(*module, arguments, n);
  EXPECT_OK(expected.status());
  const absl::StatusOr<bool> changed = pass->Run(&module);
  EXPECT_OK(changed.status());
  if (!changed.ok() || !expected.ok()) return "";
  EXPECT_EQ(*changed, changes) << PrintModule(*module);
  EXPECT_OK(VerifyModule(*module));
  EliminateDeadCode(module.get());
  EXPECT_OK(VerifyModule(*module));
  const absl::StatusOr<std::vector<Literal>> actual = RunOnDevices(*module, arguments, n);
  EXPECT_OK(actual.status());
  std::string text = PrintModule(*module);
  for (size_t d = 0; actual.ok() && d < expected->size(); ++d) {
    EXPECT_EQ(ToText((*actual)[d]), ToText((*expected)[d])) << "device " << d << "\n" << text;
  }
  return text;
}

int CountOf(absl::string_view text, absl::string_view part) {
  int count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace toroid
