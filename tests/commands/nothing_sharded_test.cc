// The hint for modules in which nothing is sharded.
#include "commands/nothing_sharded.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NothingShardedTest, CutsThatAreAskedForInVainAreNamed) {
  const std::string program =
      R"(HloModule m, num_partitions=8, allow_spmd_sharding_propagation_to_output={true}
ENTRY main {
  i = f32[17,4] iota(), iota_dimension=0
  ROOT s = f32[17,4] custom-call(i), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
})";
  EXPECT_EQ(NothingShardedText(*ParseModule(program).value(), 0),
            "nothing that the program needs is cut, so every device does all of it, though main/s asks for "
            "{devices=[8,1]<=[8]}");
  EXPECT_THAT(
      NothingShardedText(
          *ParseModule(R"(HloModule m, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"a\"=8]>}"}
ENTRY main {
  x = f32[17] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}], replicated={\"a\"}>"}
  unused = f32[17] negate(x), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"a\"}]>"}
  ROOT y = f32[17] negate(x)
})")
               .value(),
          0),
      HasSubstr("though main/unused asks for"));
}

TEST(NothingShardedTest, AModuleWithoutShardingsIsToldHowToBegin) {
  const auto text = [](const std::string& parameters) {
    return NothingShardedText(*ParseModule(absl::StrCat("HloModule m\nENTRY e {\n", parameters,
                                                        "\n  ROOT c = f32[] constant(0)\n}"))
                                   .value(),
                              0);
  };
  EXPECT_THAT(text("x = f32[4,8] parameter(0)\n w1 = f32[16,24] parameter(1)"),
              HasSubstr("nothing is sharded, so every device does all of it; give a sharding, for example "
                        "--num_partitions=8 --shard 'w1={devices=[1,8]<=[8]}'"));
  EXPECT_THAT(text("w = f32[16,3] parameter(0), metadata={op_name=\"params['w']\"}"),
              HasSubstr("--shard \"params['w']={devices=[8,1]<=[8]}\""));
  // An op_name that several instructions share cannot name one of them.
  EXPECT_THAT(
      text(
          "w = f32[6] parameter(0), metadata={op_name=\"n\"}\n v = f32[2] negate(w), metadata={op_name=\"n\"}"),
      HasSubstr("--num_partitions=2 --shard 'w={devices=[2]<=[2]}'"));
  EXPECT_THAT(text("x = f32[] parameter(0)"), Not(HasSubstr("--shard")));
}

}  // namespace
}  // namespace toroid
