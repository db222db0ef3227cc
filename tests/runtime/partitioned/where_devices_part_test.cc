// BUILD: size = "small"
// Devices that should hold the same output and do not: from where on they differ.
#include "runtime/partitioned/where_devices_part.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "runtime/partitioned/run_partitioned.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// The error of a program of four devices, in which `body` makes `out` of x, of which each device holds two elements.
std::string ErrorOf(absl::string_view body, absl::string_view outputs = "{replicated}") {
  const std::string text = absl::StrCat(R"(
HloModule m, num_partitions=4, frontend_attributes={toroid.spmd_output_sharding=)",
                                        outputs, R"(,toroid.spmd_parameters_shardings={{devices=[4]<=[4]}}}
sum { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }
ENTRY main {
  x = f32[2] parameter(0), metadata={op_name="batch['x']"}
)",
                                        body, "}\n");
  const auto module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const std::vector<Literal> arguments = {ParseLiteral("f32[8] {1, 2, 3, 4, 5, 6, 7, 8}")};
  RunPartitionedOptions options;
  options.assemble.check_replicas = true;
  const auto result = RunPartitioned(**module, arguments, options);
  return result.ok() ? "equal" : std::string(result.status().message());
}

TEST(WhereDevicesPartTest, CollectiveOfTooSmallGroups) {
  const std::string error = ErrorOf(R"(
    twice = f32[2] add(x, x)
    total = f32[2] all-reduce(twice), replica_groups={{0,1},{2,3}}, channel_id=1, use_global_device_ids=true, to_apply=sum, metadata={op_name="psum" source_file="grad.py" source_line=6}
    ROOT out = f32[2] negate(total)
)");
  EXPECT_THAT(error, HasSubstr("devices 0 and 2 disagree on element [0] of output 0"));
  EXPECT_THAT(error, HasSubstr("; all-reduce psum (grad.py:6) joins devices {0,1}, {2,3}, not 0 with 2"));
}

// A sum in two steps joins all devices; the second way to the output goes past it.
TEST(WhereDevicesPartTest, WayAroundTheCollective) {
  EXPECT_THAT(ErrorOf(R"(
    pairs = f32[2] all-reduce(x), replica_groups={{0,1},{2,3}}, channel_id=1, use_global_device_ids=true, to_apply=sum
    total = f32[2] all-reduce(pairs), replica_groups={{0,2},{1,3}}, channel_id=2, use_global_device_ids=true, to_apply=sum
    ROOT out = f32[2] add(total, x)
)"),
              HasSubstr("; no collective joins the two between parameter 0 (batch['x']) and the output"));
  EXPECT_EQ(ErrorOf(R"(
    pairs = f32[2] all-reduce(x), replica_groups={{0,1},{2,3}}, channel_id=1, use_global_device_ids=true, to_apply=sum
    ROOT total = f32[2] all-reduce(pairs), replica_groups={{0,2},{1,3}}, channel_id=2, use_global_device_ids=true, to_apply=sum
)"),
            "equal");
}

TEST(WhereDevicesPartTest, DeviceNumberInTheResult) {
  EXPECT_THAT(ErrorOf(R"(
    all = f32[2] all-reduce(x), replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true, to_apply=sum
    me = u32[] partition-id()
    number = f32[] convert(me)
    numbers = f32[2] broadcast(number), dimensions={}
    ROOT out = f32[2] add(all, numbers)
)"),
              HasSubstr("; no collective joins the two between partition-id me and the output"));
}

// The elements of a tuple that a loop or a collective returns lead to their maker.
TEST(WhereDevicesPartTest, ElementsOfTuples) {
  EXPECT_THAT(ErrorOf(R"(
    half = f32[2] multiply(x, x)
    both = (f32[2], f32[2]) all-reduce(half, x), replica_groups={{0,1},{2,3}}, channel_id=1, use_global_device_ids=true, to_apply=sum
    first = f32[2] get-tuple-element(both), index=0
    second = f32[2] get-tuple-element(both), index=1
    ROOT out = f32[2] subtract(first, second)
)"),
              HasSubstr("; all-reduce both joins devices {0,1}, {2,3}, not 0 with 2"));
}

// Nobody sends to device 0, whose result is zero.
TEST(WhereDevicesPartTest, OpWithoutDifferentOperands) {
  EXPECT_THAT(ErrorOf(R"(
    all = f32[2] all-reduce(x), replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true, to_apply=sum
    moved = f32[2] collective-permute(all), source_target_pairs={{0,1},{1,2},{2,3}}, channel_id=2, metadata={source_file="ring.py" source_line=9}
    ROOT out = (f32[2], f32[2]) tuple(all, moved)
)",
                      "{{replicated}, {replicated}}"),
              HasSubstr("; the first op whose results differ is collective-permute moved (ring.py:9)"));
}

}  // namespace
}  // namespace toroid
