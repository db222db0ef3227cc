// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:jax"]
// Gradients through manual regions, on simulated devices, compared with finite differences.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/builder/builder.h"
#include "hlo/gradient/gradient.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr double kStep = 1e-5;

// x is in four parts, w on all devices, v in two parts, each on two devices. `$region` computes r f64[2,4]
// from a = part of x, b = w, c = part of v; q, computed from all of r, is the same on all devices.
constexpr char kProgram[] = R"(HloModule region, num_partitions=4
add { p = f64[] parameter(0)  q = f64[] parameter(1)  ROOT s = f64[] add(p, q) }
max { p = f64[] parameter(0)  q = f64[] parameter(1)  ROOT s = f64[] maximum(p, q) }
ENTRY main {
  x = f64[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f64[4,4] parameter(1), sharding={replicated}
  v = f64[4,4] parameter(2), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  xs = f64[8,4] custom-call(x), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}
  ws = f64[4,4] custom-call(w), custom_call_target="Sharding", sharding={replicated}
  vs = f64[4,4] custom-call(v), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  a = f64[2,4] custom-call(xs), custom_call_target="SPMDFullToShardShape", sharding={manual}
  b = f64[4,4] custom-call(ws), custom_call_target="SPMDFullToShardShape", sharding={manual}
  c = f64[2,4] custom-call(vs), custom_call_target="SPMDFullToShardShape", sharding={manual}
  z = f64[] constant(0)
  $region
  s = f64[] reduce(r, z), dimensions={0,1}, to_apply=add
  q = f64[] all-reduce(s), channel_id=90, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
  rm = f64[2,4] custom-call(r), custom_call_target="Sharding", sharding={manual}
  qm = f64[] custom-call(q), custom_call_target="Sharding", sharding={manual}
  rf = f64[8,4] custom-call(rm), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,1]<=[4]}
  qf = f64[] custom-call(qm), custom_call_target="SPMDShardToFullShape", sharding={replicated}
  rs = f64[8,4] sine(rf)
  t = f64[] reduce(rs, z), dimensions={0,1}, to_apply=add
  qq = f64[] sine(qf)
  ROOT loss = f64[] add(t, qq)
})";

struct Region {
  std::string name, text;
};

const Region kRegions[] = {
    {"local",
     "d = f64[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}  r = f64[2,4] multiply(d, c)"},
    {"all-reduce",
     "d = f64[2,4] multiply(a, c)  e = f64[2,4] all-reduce(d), channel_id=1, replica_groups={{0,2},{1,3}}, "
     "use_global_device_ids=true, to_apply=add  r = f64[2,4] multiply(e, a)"},
    {"all-gather",
     "g = f64[8,4] all-gather(a), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, dimensions={0} "
     "d = f64[8,4] dot(g, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}  e = f64[8,4] multiply(d, g) "
     "r = f64[2,4] slice(e), slice={[3:5], [0:4]}"},
    {"reduce-scatter",
     "g = f64[4,4] dot(a, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}  h = f64[4,4] multiply(g, b) "
     "e = f64[2,4] reduce-scatter(h), channel_id=1, replica_groups={{0,1},{3,2}}, use_global_device_ids=true, dimensions={0}, "
     "to_apply=add  r = f64[2,4] multiply(e, a)"},
    {"all-to-all",
     "d = f64[2,4] multiply(a, c)  e = f64[2,4] all-to-all(d), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={1} "
     "r = f64[2,4] multiply(e, a)"},
    {"all-to-all of several",
     "d = f64[2,4] multiply(a, c)  e = (f64[2,4], f64[2,4]) all-to-all(d, a), channel_id=1, replica_groups={{0,2},{1,3}} "
     "f = f64[2,4] get-tuple-element(e), index=0  g = f64[2,4] get-tuple-element(e), index=1  r = f64[2,4] multiply(f, g)"},
    {"collective-permute",
     "d = f64[2,4] multiply(a, c)  e = f64[2,4] collective-permute(d), channel_id=1, source_target_pairs={{0,1},{1,2},{3,0}} "
     "r = f64[2,4] add(e, d)"},
};

std::unique_ptr<Module> Parsed(const std::string& region) {
  auto module = ParseModule(absl::StrReplaceAll(kProgram, {{"$region", region}}));
  EXPECT_OK(module);
  EXPECT_OK(VerifyModule(**module));
  return *std::move(module);
}

double LossOf(const Module& module, const std::vector<Literal>& arguments, const PartitionOptions& options) {
  const auto result = PartitionAndRun(module, options, arguments);
  EXPECT_OK(result);
  return result.ok() ? result->data<double>()[0] : NAN;
}

TEST(CollectivesGradientTest, RegionsHaveTheGradientsOfFiniteDifferences) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Region& region : kRegions) {
    SCOPED_TRACE(region.name);
    const auto module = Parsed(region.text);
    ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(*module, {0, 1, 2}, GradientOptions()));
    ASSERT_OK(VerifyModule(*gradient)) << PrintModule(*gradient);
    std::vector<Literal> arguments, ahead, behind, directions;
    for (const Instruction* parameter : module->entry()->parameters()) {
      Literal at(parameter->shape()), direction(parameter->shape());
      for (double& x : at.mutable_data<double>()) x = uniform(random);
      for (double& x : direction.mutable_data<double>()) x = uniform(random);
      ahead.push_back(at);
      behind.push_back(at);
      for (int64_t i = 0; i < at.shape().NumElements(); ++i) {
        ahead.back().mutable_data<double>()[i] += kStep * direction.data<double>()[i];
        behind.back().mutable_data<double>()[i] -= kStep * direction.data<double>()[i];
      }
      arguments.push_back(std::move(at));
      directions.push_back(std::move(direction));
    }
    PartitionOptions options;
    options.on_local_value = PoisonPadding;
    const auto result = PartitionAndRun(*gradient, options, arguments);
    ASSERT_OK(result) << PrintModule(*gradient);
    double along = 0;
    for (int i = 0; i < 3; ++i) {
      for (int64_t k = 0; k < directions[i].shape().NumElements(); ++k) {
        along += result->element(i + 1).data<double>()[k] * directions[i].data<double>()[k];
      }
    }
    const double difference =
        (LossOf(*module, ahead, options) - LossOf(*module, behind, options)) / (2 * kStep);
    EXPECT_NEAR(along, difference, 1e-6 * std::max(1.0, std::abs(difference))) << PrintModule(*gradient);
  }
}

// A matrix product that passes parts around a ring, in a loop, as written by JAX.
TEST(CollectivesGradientTest, ALoopOfPermutesHasTheGradientOfTheProduct) {
  ASSERT_OK_AND_ASSIGN(HloFile file, ReadHloFile("tests/corpus/jax/manual_ring_matmul.gspmd.snapshot.pb"));
  ASSERT_OK_AND_ASSIGN(const std::vector<Literal> arguments, file.Arguments());
  Module& module = *file.module;
  Computation* entry = module.entry();
  InstructionBuilder b(entry);
  const Value product = b.Flatten(entry->root())[0];
  // The loss is sum(product * product) / 2; its derivative by x is product * w', by w it is x' * product.
  b.Finish(b.MultiplyNumber(b.Sum(b.Multiply(product, product), {0, 1}), 0.5));
  ASSERT_OK(b.status());
  ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(module, {0, 1}, GradientOptions()));
  ASSERT_OK(VerifyModule(*gradient));
  ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*gradient, PartitionOptions(), arguments));

  Builder plain("plain");
  const Value x = plain.Parameter(arguments[0].shape(), "x"), w = plain.Parameter(arguments[1].shape(), "w");
  const Value y = plain.Einsum("MK,KN->MN", x, w);
  ASSERT_OK_AND_ASSIGN(
      const auto whole,
      plain.Build(plain.Tuple({plain.Einsum("MN,KN->MK", y, w), plain.Einsum("MK,MN->KN", x, y)})));
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*whole, arguments));
  for (int i = 0; i < 2; ++i) {
    const auto a = actual.element(i + 1).data<float>(), e = expected.element(i).data<float>();
    ASSERT_EQ(a.size(), e.size());
    double largest = 0;
    for (const float value : e) largest = std::max(largest, std::abs(static_cast<double>(value)));
    for (size_t k = 0; k < e.size(); ++k) ASSERT_NEAR(a[k], e[k], 1e-5 * largest) << i << " at " << k;
  }
}

TEST(CollectivesGradientTest, WhatHasNoGradientIsNamed) {
  const auto module = Parsed(
      "e = f64[2,4] all-reduce(a), channel_id=1, replica_groups={{0,2},{1,3}}, "
      "use_global_device_ids=true, to_apply=max  r = f64[2,4] multiply(e, a)");
  EXPECT_THAT(GradientModule(*module, {0}, GradientOptions()).status().message(),
              HasSubstr("main/e: all-reduce by anything but addition has no gradient"));
}

}  // namespace
}  // namespace toroid
