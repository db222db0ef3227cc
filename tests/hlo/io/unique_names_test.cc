// BUILD: size = "small"
// Names in a written proto are unique, whatever names were read or made.
#include <set>
#include <string>

#include "hlo/io/hlo_text.h"
#include "hlo/io/module_proto.h"
#include "hlo/passes/inline_calls_pass.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

xla::HloModuleProto Written(const Module& module) {
  std::string bytes;
  AppendModuleProto(module, &bytes);
  xla::HloModuleProto proto;
  TOROID_CHECK(proto.ParseFromString(bytes), "damaged");
  return proto;
}

void ExpectUniqueNames(const xla::HloModuleProto& proto) {
  std::set<std::string> computations, instructions;
  bool entry = false;
  for (const auto& computation : proto.computations()) {
    EXPECT_FALSE(computation.name().empty());
    EXPECT_TRUE(computations.insert(computation.name()).second) << computation.name();
    if (computation.id() == proto.entry_computation_id()) {
      EXPECT_EQ(proto.entry_computation_name(), computation.name());
      entry = true;
    }
    for (const auto& instruction : computation.instructions()) {
      EXPECT_FALSE(instruction.name().empty());
      EXPECT_TRUE(instructions.insert(instruction.name()).second) << instruction.name();
    }
  }
  EXPECT_TRUE(entry);
}

const char kCalledTwice[] = R"(
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] add(x, x)
  ROOT t = (s32[], f32[4]) tuple(j, y)
}
cond {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
f {
  x = f32[4] parameter(0)
  z = s32[] constant(0)
  s = (s32[], f32[4]) tuple(z, x)
  w = (s32[], f32[4]) while(s), condition=cond, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1
}
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] call(x), to_apply=f
  ROOT b = f32[4] call(a), to_apply=f
})";

TEST(UniqueNamesTest, TextWithEqualNamesInTwoComputations) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(kCalledTwice));
  ExpectUniqueNames(Written(*module));
}

TEST(UniqueNamesTest, CopiesOfABodyHaveNamesOfTheirOwn) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(kCalledTwice));
  ASSERT_OK_AND_ASSIGN(const auto flat, InlineCalls(*module));
  std::set<std::string> names;
  for (const auto& computation : flat->computations()) {
    EXPECT_TRUE(names.insert(computation->name()).second) << computation->name();
  }
  EXPECT_EQ(names.size(), 5u);  // Two loops, each with a body and a condition, and the entry.
  ExpectUniqueNames(Written(*flat));
}

TEST(UniqueNamesTest, ProtosWithRepeatedOrMissingNames) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(kCalledTwice));
  xla::HloModuleProto proto = Written(*module);
  for (auto& computation : *proto.mutable_computations()) {
    computation.set_name("f");
    for (auto& instruction : *computation.mutable_instructions()) {
      instruction.set_name(instruction.opcode() == "add" ? "" : "x");
    }
  }
  ASSERT_OK_AND_ASSIGN(const auto read, ReadModuleProto(proto.SerializeAsString()));
  const xla::HloModuleProto written = Written(*read);
  ExpectUniqueNames(written);
  // Ids stay, and a second round changes nothing.
  EXPECT_EQ(written.computations(0).instructions(3).id(), proto.computations(0).instructions(3).id());
  ASSERT_OK_AND_ASSIGN(const auto again, ReadModuleProto(written.SerializeAsString()));
  EXPECT_EQ(Written(*again).SerializeAsString(), written.SerializeAsString());
}

}  // namespace
}  // namespace toroid
