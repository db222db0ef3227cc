// Names of values in lines of shardings.
#include "partitioner/prepare/sharding_lines.h"

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Module> Layers() {
  auto module = ParseModule(R"(HloModule m
ENTRY main {
  x = f32[8,4] parameter(0)
  dot.3 = f32[8,4] negate(x), metadata={op_name="jit(step)/jvp(layers_0)/mlp/dot_general"}
  ROOT dot.31 = f32[8,4] negate(dot.3), metadata={op_name="jit(step)/jvp(layers_1)/mlp/dot_general"}
})");
  EXPECT_OK(module);
  return *std::move(module);
}

bool IsGiven(const Module& module, int i) { return module.entry()->instruction(i)->sharding_is_given(); }

// --explain prints layers_0/mlp/dot.3.
TEST(ShardingLinesTest, ANameMayHaveTheAuthorsScopesInFront) {
  const auto module = Layers();
  ASSERT_OK(ApplyShardingLines({{"layers_0/mlp/dot.3={devices=[8,1]<=[8]}", ""}}, module.get()));
  EXPECT_TRUE(IsGiven(*module, 1));
  EXPECT_FALSE(IsGiven(*module, 2));
  EXPECT_THAT(ApplyShardingLines({{"layers_1/mlp/dot.3={devices=[8,1]<=[8]}", ""}}, Layers().get()).message(),
              HasSubstr("'layers_1/mlp/dot.3' names no instruction"));
}

// What the module asks for a result is gone, so that nothing is moved back.
TEST(ShardingLinesTest, AnOutputIsGivenInPlaceOfTheModulesOwn) {
  auto module = ParseModule(R"(HloModule m
ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[8,1]<=[8]}
  y = f32[8,4] negate(x)
  z = f32[8,4] tanh(x)
  ROOT t = (f32[8,4], f32[8,4]) tuple(y, z), sharding={{devices=[1,8]<=[8]}, {devices=[8,1]<=[8]}}
})");
  ASSERT_OK(module);
  ASSERT_OK(ApplyShardingLines({{"output{0}={devices=[8,1]<=[8]}", ""}}, module->get()));
  const xla::OpSharding& of_results = *(*module)->entry()->root()->sharding();
  ASSERT_EQ(of_results.tuple_shardings_size(), 2);
  EXPECT_EQ(of_results.tuple_shardings(0).tile_assignment_dimensions(0), 8);
  EXPECT_EQ(of_results.tuple_shardings(1).tile_assignment_dimensions(0), 8);

  module = ParseModule(R"(HloModule m
ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[8,1]<=[8]}
  ROOT y = f32[8,4] negate(x), sharding={devices=[1,8]<=[8]}
})");
  ASSERT_OK(module);
  ASSERT_OK(ApplyShardingLines({{"output{}={devices=[8,1]<=[8]}", ""}}, module->get()));
  EXPECT_TRUE((*module)->entry()->root()->sharding_is_given());
  EXPECT_EQ((*module)->entry()->root()->operand(0)->sharding(), nullptr);
}

// Names as rows of --explain show them: of several values, or cut.
TEST(ShardingLinesTest, ANameMayBeThatOfARow) {
  const std::string sharding = "={devices=[8,1]<=[8]}";
  for (const auto& [name, first, second] :
       std::vector<std::tuple<std::string, bool, bool>>{{"dot.3..31", true, true},
                                                        {"layers_0..1/mlp/dot.3", true, false},
                                                        {"dot.30..31 of w", false, true},
                                                        {"lay…dot.3", true, false},
                                                        {"dot.*", true, true}}) {
    SCOPED_TRACE(name);
    const auto module = Layers();
    std::vector<std::string> notes;
    ASSERT_OK(ApplyShardingLines({{name + sharding, ""}}, module.get(), &notes));
    EXPECT_EQ(IsGiven(*module, 1), first);
    EXPECT_EQ(IsGiven(*module, 2), second);
    ASSERT_EQ(notes.size(), 1);
    EXPECT_THAT(notes[0], HasSubstr(first && second ? "shards 2 values" : "shards 1 value"));
  }
  EXPECT_THAT(ApplyShardingLines({{"dot.4..9" + sharding, ""}}, Layers().get()).message(),
              HasSubstr("'dot.4..9' names no instruction"));
}

TEST(ShardingLinesTest, AnOutputHasTheNameOfTheAuthorsTree) {
  const std::string text = R"(HloModule m
ENTRY main {
  x = f32[8,4] parameter(0)
  y = f32[8,4] negate(x), frontend_attributes={jax.result_info="result['emb']"}
  z = f32[8,4] tanh(x), frontend_attributes={jax.result_info="result['w'][0]"}
  ROOT t = (f32[8,4], f32[8,4]) tuple(y, z)
})";
  for (const auto& [name, first, second] :
       std::vector<std::tuple<std::string, bool, bool>>{{"result['emb']", true, false},
                                                        {"result['w'][0..3]", false, true},
                                                        {"output{0..1}", true, true}}) {
    SCOPED_TRACE(name);
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text));
    ASSERT_OK(ApplyShardingLines({{name + "={devices=[8,1]<=[8]}", ""}}, module.get()));
    const Instruction& root = *module->entry()->root();
    EXPECT_EQ(root.operand(0)->sharding_is_given(), first);
    EXPECT_EQ(root.operand(1)->sharding_is_given(), second);
  }
}

}  // namespace
}  // namespace toroid
