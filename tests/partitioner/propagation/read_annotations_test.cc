// The annotations of a module, read from either dialect.
#include "partitioner/propagation/read_annotations.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/inline_calls_pass.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/prepare/sharding_lines.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Read {
  explicit Read(const std::string& text, int64_t num_devices = 0)
      : module(InlineCalls(*ProgramFor(text, 4)).value()),
        graph(*module),
        annotations(ReadAnnotations(*module, graph, num_devices)) {}

  const std::optional<Annotation>& Of(absl::string_view name) const {
    for (const auto& instruction : module->entry()->instructions()) {
      if (instruction->name() == name) return annotations->tensor[graph.Leaves(*instruction)[0]];
    }
    TOROID_CHECK(false, name);
    return annotations->tensor[0];
  }

  std::unique_ptr<Module> module;
  FlowGraph graph;
  absl::StatusOr<Annotations> annotations;
};

// A module with the Shardy mesh "a"=2, "b"=4.
std::string Shardy(absl::string_view body) {
  return absl::StrCat(
      "HloModule m, frontend_attributes={xla.sdy.meshes=\"{mesh = #sdy.mesh<[\\\"a\\\"=2, \\\"b\\\"=4]>}\"}\n",
      body);
}

TEST(ReadAnnotationsTest, OrdinaryShardingsAreClosed) {
  const Read read(R"(ENTRY main {
    x = f32[8,4] parameter(0), sharding={devices=[2,2]<=[4]}
    ROOT y = f32[8,4] negate(x)
  })");
  ASSERT_OK(read.annotations.status());
  EXPECT_EQ(read.annotations->mesh.num_devices(), 4);
  EXPECT_EQ(read.Of("x")->closed & 0b11, 0b11);
  EXPECT_EQ(read.annotations->mesh.ToString(read.Of("x")->sharding), "[{0}, {1}]");
  EXPECT_FALSE(read.Of("y").has_value());
}

TEST(ReadAnnotationsTest, UnspecifiedDimensionsOfAShardingCallAreOpen) {
  const Read read(R"(ENTRY main {
    x = f32[8,4] parameter(0)
    c = f32[8,4] custom-call(x), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}, backend_config="unspecified_dims=[1]"
    ROOT y = f32[8,4] negate(c)
  })");
  ASSERT_OK(read.annotations.status());
  EXPECT_EQ(read.Of("c")->closed & 0b11, 0b01);
}

TEST(ReadAnnotationsTest, UnderShardyOpenDimensionsStayOpenAndOrdinaryShardingsAreIgnored) {
  const Read read(Shardy(R"(ENTRY main {
    x = f32[8,4] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"b\", ?}, {}]>]>"}
    y = f32[8,4] parameter(1), sharding={devices=[8,1]<=[8]}
    ROOT z = f32[8,4] add(x, y)
  })"));
  ASSERT_OK(read.annotations.status());
  EXPECT_EQ(read.annotations->mesh.num_devices(), 8);
  EXPECT_EQ(read.Of("x")->closed & 0b11, 0b10);
  EXPECT_FALSE(read.Of("y").has_value());
}

TEST(ReadAnnotationsTest, AGivenShardingCountsUnderShardyToo) {
  const std::string body = R"(ENTRY main {
    y = f32[8,4] parameter(0)
    ROOT z = f32[8,4] negate(y)
  })";
  const std::unique_ptr<Module> module = ProgramFor(Shardy(body), 8);
  const std::unique_ptr<Module> without = CloneModule(*module);
  ASSERT_OK(ApplyShardingLines({{"y={devices=[8,1]<=[8]}", ""}}, module.get()));
  EXPECT_TRUE(module->entry()->parameter(0)->sharding_is_given());
  EXPECT_EQ(module->entry()->parameter(0)->frontend_attributes(), nullptr)
      << "nothing is noted in the module";
  ASSERT_OK_AND_ASSIGN(const auto program, PrepareProgram(*module, PartitionOptions()));
  const auto& asked =
      program->annotations.tensor[program->graph->Leaves(*program->flat->entry()->parameter(0))[0]];
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(program->annotations.mesh.ToHlo(asked->sharding).ToString(), "{devices=[8,1]<=[8]}");
  // The same sharding, stated by the module itself, is ignored in a Shardy module.
  without->entry()->parameter(0)->set_sharding(module->entry()->parameter(0)->sharding());
  ASSERT_OK_AND_ASSIGN(const auto ignored, PrepareProgram(*without, PartitionOptions()));
  EXPECT_FALSE(ignored->annotations.tensor[ignored->graph->Leaves(*ignored->flat->entry()->parameter(0))[0]]
                   .has_value());
}

TEST(ReadAnnotationsTest, AGivenShardingStaysWithAParameterOfACallee) {
  const std::unique_ptr<Module> module = ProgramFor(Shardy(R"(
inner { a = f32[8,4] parameter(0) ROOT b = f32[8,4] tanh(a) }
ENTRY main {
  x = f32[8,4] parameter(0)
  ROOT y = f32[8,4] call(x), to_apply=inner
})"),
                                                    8);
  ASSERT_OK(ApplyShardingLines({{"a={devices=[8,1]<=[8]}", ""}}, module.get()));
  ASSERT_OK_AND_ASSIGN(const auto program, PrepareProgram(*module, PartitionOptions()));
  int annotated = 0;
  for (const auto& annotation : program->annotations.tensor) annotated += annotation.has_value();
  EXPECT_EQ(annotated, 1) << "an annotation stands in the place of the parameter";
}

TEST(ReadAnnotationsTest, TheFirstOrderThatIsNotPlainIsTheMeshsAndOthersAreForeign) {
  const Read read(R"(ENTRY main {
    x = f32[8] parameter(0), sharding={devices=[4]<=[4]}
    ROOT y = f32[8] copy(x), sharding={devices=[4]3,1,0,2}
  })");
  ASSERT_OK(read.annotations.status());
  const auto& output = read.annotations->tensor[read.graph.outputs()[0]];
  ASSERT_TRUE(output.has_value());
  EXPECT_FALSE(output->foreign.has_value());
  ASSERT_TRUE(read.Of("x")->foreign.has_value());
  EXPECT_EQ(read.annotations->mesh.Product(read.Of("x")->sharding.dims[0]), 4)
      << "as many tiles, in mesh order";
}

TEST(ReadAnnotationsTest, WhatIsComputedInsideAManualRegionIsLocal) {
  const Read read(R"(ENTRY main {
    x = f32[8] parameter(0), sharding={devices=[4]<=[4]}
    i = f32[2] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={manual}
    n = f32[2] negate(i)
    o = f32[8] custom-call(n), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
    ROOT y = f32[8] tanh(o)
  })");
  ASSERT_OK(read.annotations.status());
  const auto manual = [&](absl::string_view name) {
    for (const auto& instruction : read.module->entry()->instructions()) {
      if (instruction->name() == name) return read.annotations->manual[read.graph.Leaves(*instruction)[0]];
    }
    return AxisSet{0};
  };
  const AxisSet all = read.annotations->mesh.AllAxes();
  EXPECT_EQ(manual("i"), all);
  EXPECT_EQ(manual("n"), all);
  EXPECT_EQ(manual("x"), 0);
  EXPECT_EQ(manual("o"), 0);
  EXPECT_EQ(manual("y"), 0);
  EXPECT_EQ(read.annotations->boundaries.size(), 2);
}

TEST(ReadAnnotationsTest, ContradictionsAreErrorsThatNameNoFlagOfACommand) {
  const std::string other_count = R"(ENTRY main {
    x = f32[8] parameter(0), sharding={devices=[4]<=[4]}
    y = f32[8] parameter(1), sharding={devices=[8]<=[8]}
    ROOT z = f32[8] add(x, y)
  })";
  EXPECT_THAT(
      Read(other_count).annotations.status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("main/y: shardings name 8 devices here and 4")));
  const std::string four = "ENTRY main { ROOT x = f32[8] parameter(0), sharding={devices=[4]<=[4]} }";
  EXPECT_THAT(
      Read(four, 3).annotations.status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("name 4 devices, not 3; set num_partitions=4"), Not(HasSubstr("--")))));
}

TEST(ReadAnnotationsTest, PartitionsThatTheModuleStatesAreThoseOfItsShardings) {
  const auto text = [](int partitions, const std::string& sharding) {
    return absl::StrCat("HloModule m, num_partitions=", partitions,
                        "\nENTRY main { ROOT x = f32[16] parameter(0)", sharding, " }");
  };
  const std::string sixteen = ", sharding={devices=[16]<=[16]}";
  EXPECT_THAT(
      Read(text(8, sixteen)).annotations.status(),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          "the module has num_partitions=8, yet its shardings name 16 devices; set num_partitions=16 to go "
          "by the shardings"));
  const auto devices = [](const std::string& module, int64_t asked) -> int64_t {
    const Read read(module, asked);
    return read.annotations.ok() ? read.annotations->mesh.num_devices() : -1;
  };
  EXPECT_EQ(devices(text(8, sixteen), 16), 16);
  EXPECT_EQ(devices(text(8, sixteen), 8), -1);
  EXPECT_EQ(devices(text(1, sixteen), 0), 16);
  EXPECT_EQ(devices(text(16, sixteen), 0), 16);
  EXPECT_EQ(devices(text(8, ""), 0), 8);
}

TEST(ReadAnnotationsTest, AConstraintThatIsTheRootCountsWhereResultsAreFree) {
  const Read read(R"(HloModule m, allow_spmd_sharding_propagation_to_output={true}
ENTRY main {
    x = f32[8,16] parameter(0)
    ROOT s = f32[8,16] custom-call(x), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]} })");
  ASSERT_OK(read.annotations.status());
  ASSERT_TRUE(read.Of("s").has_value());
  EXPECT_NE(read.Of("s")->sharding.DimAxes(), 0);
  EXPECT_FALSE(read.annotations->tensor[read.graph.outputs()[0]].has_value());
}

TEST(ReadAnnotationsTest, AShardingHasAnEntryPerDimension) {
  const auto invalid = [](absl::string_view what) {
    return StatusIs(absl::StatusCode::kInvalidArgument,
                    testing::AllOf(HasSubstr("main/x: "), HasSubstr(std::string(what))));
  };
  const Read named(R"(ENTRY main {
    x = f32[8,16] parameter(0), sharding={mesh['x'=2], [{}, {}, {}]}
    ROOT y = f32[8,16] negate(x) })");
  EXPECT_THAT(named.annotations.status(), invalid("3 dimension shardings for f32[8,16] of rank 2"));
}

TEST(ReadAnnotationsTest, AnArrayLiesOnADeviceThatIsThere) {
  const Read beyond(R"(ENTRY main {
    x = f32[8,16] parameter(0), sharding={maximal device=4}
    ROOT y = f32[8,16] negate(x) })",
                    4);
  EXPECT_THAT(beyond.annotations,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("main/x: is to lie on device 4 of 4; name one of them")));
}

TEST(ReadAnnotationsTest, AMeshHasAxesAndDevicesOnce) {
  const auto error_of = [](absl::string_view meshes) {
    return Read(absl::StrCat("HloModule m, frontend_attributes={xla.sdy.meshes=\"{", meshes,
                             "}\"}\nENTRY main { ROOT x = f32[8,16] parameter(0) }"))
        .annotations.status();
  };
  EXPECT_THAT(error_of(R"(m = #sdy.mesh<[\"a\"=2, \"a\"=4]>)"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the mesh has two axes \"a\"")));
  EXPECT_THAT(error_of(R"(m = #sdy.mesh<[\"a\"=2]>, m = #sdy.mesh<[\"a\"=4]>)"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the module has two meshes @m")));
  EXPECT_THAT(error_of(R"(m = #sdy.mesh<[\"a\"=2], device_ids=[1,1]>)"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("device_ids: device 1")));
}

// The second mesh has as many axes and devices as the first, but other axis sizes.
TEST(ReadAnnotationsTest, AxesAreThoseOfTheMeshThatTheShardingNames) {
  const Read read(
      R"(HloModule m, frontend_attributes={xla.sdy.meshes="{first = #sdy.mesh<[\"a\"=2, \"b\"=4]>, second = #sdy.mesh<[\"p\"=4, \"q\"=2]>}"}
  ENTRY main {
    x = f32[8,16] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@first, [{?}, {?}], replicated={\"b\"}>"}
    ROOT y = f32[8,16] negate(x) })");
  ASSERT_OK(read.annotations.status());
  EXPECT_EQ(read.annotations->mesh.Product(read.Of("x")->replicated), 4);
}

TEST(ReadAnnotationsTest, ElementsOfACallRepeatItsAttributes) {
  const std::string attributes =
      R"(frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{\"a\"}]>]>"})";
  const Read read(Shardy(absl::StrCat(
      "ENTRY main {\n  x = f32[8] parameter(0)\n",
      "  c = (f32[8], f32[8]) custom-call(x), custom_call_target=\"a_library\", ", attributes,
      "\n  y = f32[8] get-tuple-element(c), index=1, ", attributes, "\n  ROOT z = f32[8] negate(y)\n}")));
  ASSERT_OK(read.annotations.status());
  EXPECT_EQ(read.annotations->mesh.Product(read.Of("y")->sharding.DimAxes()), 2);
}

}  // namespace
}  // namespace toroid
