// BUILD: size = "small"
// Every opcode of the table has a program that contains it and has the result of its semantics.
#include "tests/runtime/kernels/op_programs.h"

#include <set>
#include <string>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hlo/opcode.h"
#include "runtime/engine/executor.h"
#include "runtime/kernels/custom_call.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/custom_call_programs.h"

namespace toroid {
namespace {

TEST(OpProgramsTest, EveryOpcodeHasOne) {
  std::set<std::string> covered;
  for (const OpProgram& program : OpPrograms()) covered.insert(program.opcode);
  for (int i = 0; i < kNumOpcodes; ++i) {
    const std::string name(OpcodeName(static_cast<Opcode>(i)));
    EXPECT_TRUE(covered.count(name) > 0) << name << " has no program in op_programs.cc";
  }
}

void ExpectResult(const Module& module, const OpProgram& program) {
  RunOptions options;
  options.num_partitions = program.devices;
  const int32_t values[] = {5, 6};
  options.infeed =
      std::make_shared<LiteralInfeed>(std::vector<Literal>{Literal::Array<int32_t>({2}, values)});
  const absl::StatusOr<MeshValue> result = RunModule(module, {}, options);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  std::vector<std::string> texts;
  for (int device = 0; device < program.devices; ++device) texts.push_back(ToText(result->ToLiteral(device)));
  // The sign of a NaN does not count.
  EXPECT_EQ(absl::StrReplaceAll(absl::StrJoin(texts, " | "), {{"-nan", "nan"}}), program.expected);
}

TEST(OpProgramsTest, ResultsAreThoseOfTheSemantics) {
  for (const OpProgram& program : OpPrograms()) {
    SCOPED_TRACE(program.opcode);
    const auto module = MakeModule(program.body, program.computations);
    bool contained = false;
    for (const auto& computation : module->computations()) {
      for (const auto& instruction : computation->instructions())
        contained |= instruction->opcode_name() == program.opcode;
    }
    EXPECT_TRUE(contained) << "the program lacks the opcode";
    ExpectResult(*module, program);
  }
}

TEST(CustomCallProgramsTest, EveryTargetHasOneAndItsResult) {
  std::set<std::string> covered;
  for (const OpProgram& program : CustomCallPrograms()) {
    SCOPED_TRACE(program.opcode);
    const auto module = MakeModule(program.body, program.computations);
    ASSERT_EQ(module->entry()->root()->custom_call_target(), program.opcode);
    ExpectResult(*module, program);
    covered.insert(program.opcode);
  }
  for (const std::string& target : KnownCustomCalls()) {
    EXPECT_TRUE(covered.count(target) > 0) << target << " has no program in custom_call_programs.cc";
  }
}

}  // namespace
}  // namespace toroid
