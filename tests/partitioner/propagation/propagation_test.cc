#include "partitioner/propagation/propagation.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/module_proto.h"
#include "hlo/io/sharding_text.h"
#include "partitioner/prepare/sharding_lines.h"
#include "partitioner/propagation/read_annotations.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The sharding that propagation gives to the instruction `name` of the entry.
std::string Propagated(const std::string& text, const std::string& name, int64_t n = 8) {
  const std::unique_ptr<Module> module = ProgramFor(text, n);
  const FlowGraph graph(*module);
  const absl::StatusOr<Annotations> annotations = ReadAnnotations(*module, graph, n);
  if (!annotations.ok()) return std::string(annotations.status().message());
  ReshardPlanner planner(&annotations->mesh);
  ExchangePrices exchanges(&annotations->mesh, &DefaultCostModel());
  const std::vector<Sharding> shardings =
      PropagateShardings(graph, *annotations, {}, {&annotations->mesh, &planner, &exchanges});
  for (const auto& instruction : module->entry()->instructions()) {
    if (instruction->name() != name) continue;
    return annotations->mesh.ToHlo(shardings[graph.Leaves(*instruction)[0]]).ToString();
  }
  return "no such instruction";
}

absl::StatusOr<Partitioned> PartitionText(const std::string& text, int64_t n = 0) {
  PartitionOptions options;
  options.num_partitions = n;
  return PartitionModule(*ProgramFor(text, n), options);
}

TEST(PropagationTest, ElementwiseOpsCarryASplitForwardAndBackward) {
  const std::string text = R"(ENTRY main {
  a = f32[8,4] parameter(0)
  b = f32[8,4] negate(a)
  c = f32[8,4] custom-call(b), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
  d = f32[8,4] abs(c)
  ROOT e = f32[8,4] negate(d)
})";
  for (const char* name : {"a", "b", "c", "d", "e"})
    EXPECT_EQ(Propagated(text, name), "{devices=[8,1]<=[8]}") << name;
}

// GShard's dispatch, "GSEC,GSM->EGCM", with groups and experts over the same devices. The mask is cut by
// groups: if it were cut by experts, every device would need the inputs of all groups.
TEST(PropagationTest, TheDispatchEinsumKeepsExpertsOutOfTheMask) {
  const std::string text = R"(ENTRY main {
  m = f32[8,16,8,4] parameter(0)
  mask = f32[8,16,8,4] exponential(m)
  x = f32[8,16,32] parameter(1), sharding={devices=[8,1,1]<=[8]}
  d = f32[8,8,4,32] dot(mask, x), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT e = f32[8,8,4,32] transpose(d), dimensions={1,0,2,3}, sharding={devices=[8,1,1,1]<=[8]}
})";
  EXPECT_EQ(Propagated(text, "mask"), "{devices=[8,1,1,1]<=[8]}");
  const std::vector<std::string> collectives = Collectives(text, 8);
  ASSERT_EQ(collectives.size(), 1);
  EXPECT_THAT(collectives[0], HasSubstr("all-to-all"));
}

TEST(PropagationTest, TwoSplitsOfDifferentDimensionsMerge) {
  const std::string text = R"(ENTRY main {
  a = f32[8,8] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
  b = f32[8,8] parameter(1), sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  ROOT c = f32[8,8] add(a, b)
})";
  EXPECT_EQ(Propagated(text, "c"), "{devices=[2,4]<=[8]}");
}

TEST(PropagationTest, ADotTakesASplitFromEitherSide) {
  const std::string text = R"(ENTRY main {
  x = f32[16,8] parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  w = f32[8,4] parameter(1), sharding={devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}
  ROOT y = f32[16,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  EXPECT_EQ(Propagated(text, "y"), "{devices=[4,2]<=[8]}");
}

// w is cut by its annotation; the cut of h follows only from another product, s. If propagation used w at
// once, y and the values computed from it would be cut by columns, and each moved to rows later.
TEST(PropagationTest, ContractionsWaitForWhatCutsTheirLargeTensors) {
  const std::string text = R"(ENTRY main {
  h = f32[4096,16] parameter(0)
  w = f32[16,64] parameter(1), sharding={devices=[1,$n]<=[$n]}
  v = f32[64,16] parameter(2), sharding={devices=[$n,1]<=[$n]}
  k = f32[16,8] parameter(3)
  y = f32[4096,64] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = f32[4096,64] tanh(y)
  u = f32[4096,16] dot(g, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[4096,8] dot(h, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[$n,1]<=[$n]}
  ROOT r = (f32[4096,16], f32[4096,8]) tuple(u, s)
})";
  for (const char* name : {"h", "y", "g", "u"})
    EXPECT_EQ(Propagated(text, name), "{devices=[8,1]<=[8]}") << name;
  ExpectEquivalent(text);
}

TEST(PropagationTest, OrdinaryAnnotationsAreClosed) {
  const std::string text = R"(ENTRY main {
  a = f32[8,4] parameter(0), sharding={replicated}
  b = f32[8,4] custom-call(a), custom_call_target="Sharding", sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  c = f32[8,4] negate(b)
  ROOT d = f32[8,4] custom-call(c), custom_call_target="Sharding", sharding={devices=[4,2]<=[8]}
})";
  EXPECT_EQ(Propagated(text, "a"), "{replicated}");
  EXPECT_EQ(Propagated(text, "b"), "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
}

TEST(PropagationTest, UnspecifiedDimensionsOfAShardingCallTakeWhatComes) {
  const auto text = [](const char* config) {
    return absl::StrCat(R"(ENTRY main {
  a = f32[8,4] parameter(0), sharding={devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}
  b = f32[8,4] custom-call(a), custom_call_target="Sharding", sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate})",
                        config, R"(
  ROOT c = f32[8,4] negate(b)
})");
  };
  EXPECT_EQ(Propagated(text(", backend_config=\"unspecified_dims=[1]\""), "b"), "{devices=[4,2]<=[8]}");
  EXPECT_EQ(Propagated(text(""), "b"), "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
}

// The sum of two parameters, z = x + y, of a Shardy module over ["a"=4, "b"=2].
std::string Shardy(const std::string& x, const std::string& y) {
  const auto attribute = [](const std::string& dims) {
    std::string quoted;
    for (const char c : dims) absl::StrAppend(&quoted, c == '"' ? "\\" : "", std::string(1, c));
    return absl::StrCat("frontend_attributes={xla.sdy.sharding=\"#sdy.sharding<@mesh, ", quoted, ">\"}");
  };
  return absl::StrCat(R"(HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=4, "b"=2]>}}
ENTRY main {
  x = f32[8,8] parameter(0), )",
                      attribute(x), "\n  y = f32[8,8] parameter(1), ", attribute(y),
                      "\n  ROOT z = f32[8,8] add(x, y)\n}\n");
}

TEST(PropagationTest, ClosedDimensionsStayAsTheyAreAndOpenOnesGrow) {
  EXPECT_EQ(Propagated(Shardy(R"([{"a"}, {}])", R"([{?}, {"b"}])"), "x"),
            "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(Propagated(Shardy(R"([{"a"}, {?}])", R"([{?}, {"b"}])"), "x"), "{devices=[4,2]<=[8]}");
  EXPECT_EQ(Propagated(Shardy(R"([{"a"}, {?}])", R"([{?}, {"b"}])"), "y"), "{devices=[4,2]<=[8]}");
}

TEST(PropagationTest, AnExplicitlyReplicatedAxisCutsNothing) {
  EXPECT_EQ(Propagated(Shardy(R"([{"a"}, {?}], replicated={"b"})", R"([{?}, {"b"}])"), "x"),
            "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
}

TEST(PropagationTest, HigherPrioritiesGoFirst) {
  // The two parameters use axis "a" for different dimensions of the sum.
  EXPECT_EQ(Propagated(Shardy(R"([{"a"}p1, {}])", R"([{}, {"a"}p0])"), "z"),
            "{devices=[1,4,2]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(Propagated(Shardy(R"([{"a"}p0, {}])", R"([{}, {"a"}p1])"), "z"),
            "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
  // A later priority overwrites nothing, and annotations stay.
  EXPECT_EQ(Propagated(Shardy(R"([{"a"}p1, {}])", R"([{}, {"a"}p0])"), "x"),
            "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
}

// The shape that the result of the partitioned module has on one device.
std::string OutputShape(const std::string& header, const std::string& root_sharding) {
  const absl::StatusOr<Partitioned> partitioned = PartitionText(absl::StrCat("HloModule m", header, R"(
ENTRY main {
  a = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT b = f32[8,4] negate(a))",
                                                                             root_sharding, "\n}\n"));
  if (!partitioned.ok()) return std::string(partitioned.status().message());
  return partitioned->module->entry()->root()->shape().ToString();
}

TEST(PropagationTest, OutputsKeepWhatWasAskedAndFreeOnesWhatWasFound) {
  EXPECT_EQ(OutputShape("", ""), "f32[2,4]");
  EXPECT_EQ(OutputShape("", ", sharding={replicated}"), "f32[8,4]");
  EXPECT_EQ(OutputShape("", ", sharding={devices=[1,4]<=[4]}"), "f32[8,1]");
  EXPECT_EQ(OutputShape(", allow_spmd_sharding_propagation_to_output={true}", ", sharding={replicated}"),
            "f32[2,4]");
}

TEST(PropagationTest, OutputsAreReplicatedWhereThatIsAskedFor) {
  PartitionOptions options;
  options.replicate_outputs = true;
  const auto module = ProgramFor(R"(ENTRY main {
  a = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT b = f32[8,4] negate(a)
})",
                                 4);
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, options));
  EXPECT_EQ(partitioned.module->entry()->root()->shape().ToString(), "f32[8,4]");
  EXPECT_EQ(partitioned.module->entry()->parameter(0)->shape().ToString(), "f32[2,4]");
}

TEST(PropagationTest, APartitionedModuleSaysSo) {
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionText(R"(ENTRY main {
  a = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT b = f32[8,4] negate(a)
})"));
  EXPECT_EQ(partitioned.num_partitions, 4);
  EXPECT_EQ(partitioned.module->config().num_partitions, 4);
  const xla::HloModuleProto& proto = partitioned.module->proto();
  EXPECT_EQ(ShardingToString(proto.spmd_output_sharding()), "{devices=[4,1]<=[4]}");
  ASSERT_EQ(proto.spmd_parameters_shardings_size(), 1);
  EXPECT_EQ(ShardingToString(proto.spmd_parameters_shardings(0)), "{devices=[4,1]<=[4]}");
  // A written module lists its devices.
  std::string bytes;
  AppendModuleProto(*partitioned.module, &bytes);
  xla::HloModuleProto written;
  ASSERT_TRUE(written.ParseFromString(bytes));
  EXPECT_EQ(written.device_assignment().replica_count(), 1);
  EXPECT_EQ(written.device_assignment().computation_count(), 4);
  ASSERT_EQ(written.device_assignment().computation_devices_size(), 4);
  EXPECT_EQ(written.device_assignment().computation_devices(3).replica_device_ids(0), 3);
}

MATCHER(IsOneLine, "is one line") { return !absl::StrContains(arg, "\n"); }

TEST(PropagationTest, ShardingsOfDifferentDeviceCountsAreRefusedInOneLine) {
  EXPECT_THAT(PartitionText(R"(ENTRY main {
  a = f32[8] parameter(0), sharding={devices=[4]<=[4]}
  ROOT b = f32[8] copy(a), sharding={devices=[2]<=[2]}
})"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(IsOneLine(), HasSubstr("main/b"), HasSubstr("4"), HasSubstr("2"))));
}

TEST(PropagationTest, AShardingOfAnotherRankIsRefusedAtItsInstruction) {
  EXPECT_THAT(PartitionText(R"(ENTRY main {
  a = f32[8] parameter(0), sharding={devices=[2,2]<=[4]}
  ROOT b = f32[8] copy(a)
})"),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(IsOneLine(), HasSubstr("main/a"))));
}

TEST(PropagationTest, ANumberOfPartitionsThatTheShardingsContradictIsRefused) {
  const std::string text = R"(ENTRY main {
  a = f32[8] parameter(0), sharding={devices=[4]<=[4]}
  ROOT b = f32[8] copy(a)
})";
  EXPECT_THAT(PartitionText(text, 8), StatusIs(absl::StatusCode::kInvalidArgument,
                                               AllOf(IsOneLine(), HasSubstr("4"), HasSubstr("8"))));
  EXPECT_THAT(PartitionText(text, 4), IsOk());
  // If no sharding names a number of devices, any number is accepted.
  EXPECT_THAT(PartitionText("ENTRY main {\n  a = f32[8] parameter(0)\n  ROOT b = f32[8] copy(a)\n}\n", 5),
              IsOk());
}

// The recorded shardings, of parameters first, then of outputs.
std::string Boundaries(const std::string& text, int64_t n) {
  const absl::StatusOr<Partitioned> partitioned = PartitionText(text, n);
  if (!partitioned.ok()) return std::string(partitioned.status().message());
  std::string all;
  for (const xla::OpSharding& sharding : partitioned->module->proto().spmd_parameters_shardings()) {
    absl::StrAppend(&all, HloSharding::FromProto(sharding)->ToString(), " ");
  }
  return absl::StrCat(
      all, "-> ", HloSharding::FromProto(partitioned->module->proto().spmd_output_sharding())->ToString());
}

TEST(PropagationTest, NothingIsCutUnevenlyByChance) {
  // The bias has no annotation, so it is not cut unevenly: every device slices the tile it needs out of the
  // whole.
  const std::string bias = R"(ENTRY main {
  x = f32[8,10] parameter(0), sharding={devices=[1,$n]<=[$n]}
  b = f32[10] parameter(1)
  bb = f32[8,10] broadcast(b), dimensions={1}
  ROOT y = f32[8,10] add(x, bb), sharding={devices=[1,$n]<=[$n]}
})";
  EXPECT_EQ(Boundaries(bias, 4), "{devices=[1,4]<=[4]} {replicated} -> {devices=[1,4]<=[4]}");
  EXPECT_EQ(Boundaries(bias, 2), "{devices=[1,2]<=[2]} {devices=[2]<=[2]} -> {devices=[1,2]<=[2]}");
  ExpectEquivalent(bias);
  // An even output would have to be gathered, so the output keeps its uneven sharding.
  const std::string costly = R"(ENTRY main {
  x = f32[8,10] parameter(0), sharding={devices=[1,$n]<=[$n]}
  ROOT y = f32[8,10] negate(x)
})";
  EXPECT_EQ(Boundaries(costly, 4), "{devices=[1,4]<=[4]} -> {devices=[1,4]<=[4]}");
  ExpectEquivalent(costly);
}

TEST(PropagationTest, AxesMayBeGivenAsTheyArePrinted) {
  const std::string body = "ENTRY main {\n  x = f32[8,4] parameter(0)\n  ROOT y = f32[8,4] negate(x)\n}";
  const std::string one = absl::StrCat(
      "HloModule m, frontend_attributes={xla.sdy.meshes=\"{mesh = #sdy.mesh<[\\\"a\\\"=2, \\\"b\\\"=4]>}\"}\n",
      body);
  const std::unique_ptr<Module> module = ProgramFor(one, 8);
  ASSERT_OK(ApplyShardingLines({{R"(x=[{"b"}, {"a"}])", ""}}, module.get()));
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  EXPECT_EQ(HloSharding::FromProto(partitioned.module->proto().spmd_parameters_shardings(0))->ToString(),
            "{devices=[4,2]<=[2,4]T(1,0)}");
  EXPECT_THAT(
      ApplyShardingLines({{R"(x=[{"b"}, {}])", ""}}, ProgramFor(body, 8).get()),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(IsOneLine(), HasSubstr("the module has no mesh"))));
}

TEST(PropagationTest, ASharedConstantTiesNothingTogether) {
  // A shared constant, as in Adam's decay, is used with two weights of one shape that are cut in two ways.
  const std::string text = R"(ENTRY main {
  v = f32[8,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  w = f32[8,8] parameter(1), sharding={devices=[1,$n]<=[$n]}
  m = f32[8,8] parameter(2)
  h = f32[] constant(0.5)
  b = f32[8,8] broadcast(h), dimensions={}
  x = f32[8,8] multiply(v, b)
  y = f32[8,8] multiply(w, b)
  z = f32[8,8] multiply(m, b)
  ROOT r = (f32[8,8], f32[8,8], f32[8,8]) tuple(x, y, z)
})";
  EXPECT_EQ(Propagated(text, "x"), "{devices=[8,1]<=[8]}");
  EXPECT_EQ(Propagated(text, "y"), "{devices=[1,8]<=[8]}");
  EXPECT_EQ(Propagated(text, "z"), "{replicated}");
  EXPECT_TRUE(Collectives(text, 8).empty());
  ExpectEquivalent(text);
}

TEST(PropagationTest, MembersOfAGroupAreCutAlike) {
  for (const char* members : {R"(
  g = () custom-call(a), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding_group_id="0 : i64"}
  h = () custom-call(c), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding_group_id="0 : i64"}
  d = f32[8,4] negate(c))",
                              R"(
  g = f32[8,4] custom-call(a), custom_call_target="Sharding", sharding={unknown shard_as 3}
  h = f32[8,4] custom-call(c), custom_call_target="Sharding", sharding={unknown shard_as 3}
  d = f32[8,4] negate(h))"}) {
    const std::string text = absl::StrCat(R"(ENTRY main {
  a = f32[8,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = f32[8,4] parameter(1)
  c = f32[8,4] tanh(b))",
                                          members, R"(
  ROOT e = (f32[8,4], f32[8,4]) tuple(a, d)
})");
    for (const char* name : {"a", "b", "c", "d"})
      EXPECT_EQ(Propagated(text, name), "{devices=[8,1]<=[8]}") << name;
    ExpectEquivalent(text, {}, {1, 2, 3, 7}, 1e-6);
  }
}

TEST(PropagationTest, BarriersStopShardingsOneWayOrBoth) {
  struct Case {
    const char* barrier;
    bool forward, backward;
  };
  for (const Case& c :
       {Case{"ShardBarrierFrom\"", false, true}, Case{"ShardBarrierTo\"", true, false},
        Case{"xla.sdy.PropagationBarrier\", frontend_attributes={xla.sdy.allowed_direction=\"0 : i32\"}",
             false, false},
        Case{"xla.sdy.PropagationBarrier\", frontend_attributes={xla.sdy.allowed_direction=\"1 : i32\"}",
             true, false},
        Case{"xla.sdy.PropagationBarrier\", frontend_attributes={xla.sdy.allowed_direction=\"2 : i32\"}",
             false, true},
        Case{"xla.sdy.PropagationBarrier\", frontend_attributes={xla.sdy.allowed_direction=\"3 : i32\"}",
             true, true}}) {
    SCOPED_TRACE(c.barrier);
    const auto text = [&](const char* above, const char* below) {
      return absl::StrCat("ENTRY main {\n  a = f32[8,4] parameter(0)", above,
                          "\n  b = f32[8,4] custom-call(a), custom_call_target=\"", c.barrier,
                          "\n  ROOT c = f32[8,4] negate(b)", below, "\n}");
    };
    const char* cut = ", sharding={devices=[8,1]<=[8]}";
    EXPECT_EQ(Propagated(text(cut, ""), "c") != "{replicated}", c.forward);
    const std::string behind = absl::StrCat(
        "ENTRY main {\n  a = f32[8,4] parameter(0)\n  b = f32[8,4] custom-call(a), custom_call_target=\"",
        c.barrier, "\n  c = f32[8,4] custom-call(b), custom_call_target=\"Sharding\"", cut,
        "\n  ROOT d = f32[8,4] negate(c)\n}");
    EXPECT_EQ(Propagated(behind, "a") != "{replicated}", c.backward);
  }
}

TEST(PropagationTest, AMaximalShardingIsComputedEverywhere) {
  ExpectEquivalent(R"(ENTRY main {
  a = f32[8] parameter(0), sharding={devices=[$n]<=[$n]}
  b = f32[8] negate(a), sharding={maximal device=0}
  ROOT c = f32[8] add(a, b), sharding={devices=[$n]<=[$n]}
})");
}

}  // namespace
}  // namespace toroid
