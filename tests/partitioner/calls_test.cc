// Calls: shardings on them and inside the computations they call.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/io/hlo_text.h"
#include "hlo/passes/inline_calls_pass.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

int64_t Partitions(const std::string& text) {
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(text, 2), PartitionOptions());
  return partitioned.ok() ? partitioned->num_partitions : -1;
}

TEST(CallsTest, InlinedInstructionsTakeTheLineAndTheScopesOfTheCall) {
  const auto module = ParseModule(R"hlo(HloModule m
cond { i = s32[] parameter(0) ROOT c = pred[] compare(i, i), direction=LT }
body { i = s32[] parameter(0) ROOT d = s32[] add(i, i), metadata={op_name="while/body/add"} }
inner { q = f32[8] parameter(0) ROOT n = f32[8] negate(q), metadata={op_name="neg"} }
f {
  q = f32[8] parameter(0)
  k = s32[] constant(0)
  w = s32[] while(k), condition=cond, body=body, metadata={op_name="while"}
  own = f32[8] tanh(q), metadata={op_name="jit(g)/mlp/tanh" source_file="own.py" source_line=3}
  ROOT n = f32[8] call(own), to_apply=inner, metadata={op_name="jit(inner)"}
}
ENTRY main {
  a = f32[8] parameter(0)
  ROOT r = f32[8] call(a), to_apply=f, metadata={op_name="jit(g)/mlp/jit(f)" source_file="model.py" source_line=12}
})hlo");
  ASSERT_OK(module);
  ASSERT_OK_AND_ASSIGN(const auto flat, InlineCalls(**module));
  std::vector<std::string> found;
  SourceFrames frames(*flat);
  for (const auto& computation : flat->computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->metadata() == nullptr) continue;
      found.push_back(absl::StrCat(instruction->name(), " ", instruction->metadata()->op_name(), " ",
                                   frames.LineOf(instruction->metadata())));
    }
  }
  EXPECT_THAT(found, ::testing::IsSupersetOf({"d jit(g)/mlp/jit(f)/while/body/add model.py:12",
                                              "own jit(g)/mlp/tanh own.py:3",
                                              "n jit(g)/mlp/jit(f)/jit(inner)/neg model.py:12"}));
}

TEST(CallsTest, TheShardingOfACallCutsItsResult) {
  const std::string text = R"(
f { q = f32[8] parameter(0)  ROOT n = f32[8] negate(q) }
ENTRY main {
  a = f32[8] parameter(0)
  r = f32[8] call(a), to_apply=f, sharding={devices=[$n]<=[$n]}
  ROOT z = f32[8] add(r, r)
})";
  EXPECT_EQ(Partitions(text), 2);
  ExpectEquivalent(text);
}

TEST(CallsTest, TheShardingOfAParameterCutsTheArgument) {
  const std::string text = R"(
f { q = f32[8] parameter(0), sharding={devices=[$n]<=[$n]}  ROOT n = f32[8] negate(q) }
ENTRY main {
  a = f32[8] parameter(0)
  ROOT r = f32[8] call(a), to_apply=f
})";
  EXPECT_EQ(Partitions(text), 2);
  ExpectEquivalent(text);
}

TEST(CallsTest, AnnotationsAndConstantsMayBeTuples) {
  ExpectEquivalent(R"(
ENTRY main {
  x = f32[8] parameter(0)
  a = (f32[8], f32[8]) tuple(x, x)
  b = (f32[8], f32[8]) custom-call(a), custom_call_target="Sharding", sharding={{devices=[$n]<=[$n]}, {replicated}}
  g = f32[8] get-tuple-element(b), index=0
  c = (f32[], (f32[8])) constant((2, ({1, 2, 3, 4, 5, 6, 7, 8})))
  o = (f32[], (f32[8])) opt-barrier(c)
  t = (f32[8]) get-tuple-element(o), index=1
  e = f32[8] get-tuple-element(t), index=0
  s = f32[8] multiply(g, e)
  ROOT r = (f32[8], (f32[], (f32[8]))) tuple(s, c)
})");
}

TEST(CallsTest, ATupleHasAShardingForEachElement) {
  const std::string text = R"(
f {
  q = f32[8,6] parameter(0)
  m = f32[8,6] negate(q)
  ROOT t = (f32[8,6], f32[8,6]) tuple(q, m)
}
ENTRY main {
  a = f32[8,6] parameter(0)
  ROOT r = (f32[8,6], f32[8,6]) call(a), to_apply=f,
      sharding={{devices=[$n,1]<=[$n]}, {devices=[1,$n]<=[$n]}}
})";
  EXPECT_EQ(Partitions(text), 2);
  ExpectEquivalent(text);
}

// Every level calls the one below it twice, so inlining makes 2^levels negations.
std::string CallTree(int levels) {
  std::string text = "HloModule m\nc0 { p = f32[] parameter(0) ROOT n = f32[] negate(p) }\n";
  for (int i = 1; i <= levels; ++i) {
    absl::StrAppend(&text, "c", i, " { p = f32[] parameter(0) a = f32[] call(p), to_apply=c", i - 1,
                    " ROOT b = f32[] call(a), to_apply=c", i - 1, " }\n");
  }
  return absl::StrCat(text, "ENTRY main { p = f32[] parameter(0) ROOT b = f32[] call(p), to_apply=c", levels,
                      " }");
}

TEST(CallsTest, TreesOfCallsThatGrowTooLargeAreRefusedBeforeTheyAreBuilt) {
  // 2^500 overflows 64 bits.
  for (const int levels : {60, 500}) {
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(CallTree(levels)));
    EXPECT_THAT(InlineCalls(*module),
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 16 million")));
  }
  // Inlining copies the body of a loop for each loop.
  std::string loops =
      "HloModule m\nc { p = f32[] parameter(0) ROOT t = pred[] constant(false) }\n"
      "b0 { p = f32[] parameter(0) ROOT n = f32[] negate(p) }\n";
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&loops, "b", i, " { p = f32[] parameter(0) x = f32[] while(p), condition=c, body=b",
                    i - 1, " ROOT y = f32[] while(x), condition=c, body=b", i - 1, " }\n");
  }
  absl::StrAppend(&loops,
                  "ENTRY main { p = f32[] parameter(0) ROOT w = f32[] while(p), condition=c, body=b60 }");
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(loops));
  EXPECT_THAT(InlineCalls(*module),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 16 million")));
}

TEST(CallsTest, TreesOfCallsThatNothingReachesOrThatAreSharedCountOnce) {
  // The module holds the whole tree, but the entry calls only a small part of it.
  std::string text = CallTree(60);
  text.replace(text.rfind("c60"), 3, "c10");
  ASSERT_OK_AND_ASSIGN(const auto small, ParseModule(text));
  ASSERT_OK_AND_ASSIGN(const auto flat, InlineCalls(*small));
  EXPECT_EQ(flat->NumInstructions(), 1 + (1 << 10));

  // A reducer that inlines to 2^20 instructions; both reductions share one copy.
  std::string reducer =
      "HloModule m\n"
      "r0 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n";
  for (int i = 1; i <= 20; ++i) {
    absl::StrAppend(&reducer, "r", i,
                    " { a = f32[] parameter(0) b = f32[] parameter(1) x = f32[] call(a, b), ", "to_apply=r",
                    i - 1, " ROOT y = f32[] call(x, b), to_apply=r", i - 1, " }\n");
  }
  absl::StrAppend(
      &reducer,
      "ENTRY main { p = f32[8] parameter(0) z = f32[] constant(0) "
      "x = f32[] reduce(p, z), dimensions={0}, to_apply=r20 "
      "y = f32[] reduce(p, x), dimensions={0}, to_apply=r20 ROOT t = (f32[], f32[]) tuple(x, y) }");
  ASSERT_OK_AND_ASSIGN(const auto reductions, ParseModule(reducer));
  ASSERT_OK_AND_ASSIGN(const auto copied, InlineCalls(*reductions));
  EXPECT_EQ(copied->NumInstructions(), 5 + 2 + (1 << 20));
}

}  // namespace
}  // namespace toroid
