// BUILD: size = "small", data = ["//tests/corpus:kernels"]
// Pallas kernels as JAX writes them: what is read from their bytecode, and what they cost.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/file.h"
#include "simulator/machines/machine.h"
#include "simulator/simple/grouped_product.h"
#include "simulator/simple/kernel_body.h"
#include "simulator/simple/kernel_costs.h"
#include "simulator/stages/simulate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<Module> Read(const std::string& name) {
  auto file = ReadHloFile("tests/corpus/kernels/" + name + ".hlo.pb.gz");
  EXPECT_OK(file.status());
  return std::move(file->module);
}

const Instruction* KernelOf(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (IsTpuKernel(*op)) return op.get();
    }
  }
  return nullptr;
}

Prediction Predict(const Module& module, const std::vector<std::string>& costs = {},
                   const std::string& machine = "tpu-v6e-1") {
  SimulationOptions options;
  options.machine = *LoadMachine(machine);
  for (const std::string& cost : costs) options.kernel_costs.push_back(*ParseKernelCost(cost));
  auto simulation = Simulate(module, options);
  EXPECT_OK(simulation.status());
  return simulation->prediction;
}

const PredictedGroup& KernelRow(const Prediction& prediction) {
  for (const PredictedGroup& group : prediction.groups) {
    if (group.opcode == "custom-call") return group;
  }
  ADD_FAILURE() << "no kernel";
  return prediction.groups[0];
}

TEST(KernelsTest, NameGridAndBlocksAreInTheBytecode) {
  const auto plain = Read("exp_plain"), product = Read("gmm");
  const std::optional<KernelBody> exp = ReadKernelBody(*KernelOf(*plain));
  ASSERT_TRUE(exp.has_value());
  EXPECT_EQ(exp->name, "my_exp");
  EXPECT_THAT(exp->grid, ElementsAre(16));
  EXPECT_THAT(exp->windows, ElementsAre(ElementsAre(256, 1024), ElementsAre(256, 1024)));
  const std::optional<KernelBody> gmm = ReadKernelBody(*KernelOf(*product));
  ASSERT_TRUE(gmm.has_value());
  EXPECT_THAT(gmm->grid, ElementsAre(14, -1, 4));
  EXPECT_THAT(gmm->windows,
              ElementsAre(ElementsAre(512, 1024), ElementsAre(1, 1024, 1024), ElementsAre(512, 1024)));
}

TEST(KernelsTest, BytesThatAreNoKernelAreNotRead) {
  EXPECT_FALSE(ParseKernelBody("").has_value());
  EXPECT_FALSE(ParseKernelBody("ML\xefR").has_value());
  // Sizes and counts far beyond the end.
  EXPECT_FALSE(
      ParseKernelBody(absl::string_view("ML\xefR\x01x\0\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff", 17))
          .has_value());
  EXPECT_FALSE(ParseKernelBody(absl::string_view("ML\xefR\x01x\0\x00\x05\xfe\x03", 11)).has_value());
}

TEST(KernelsTest, BlocksOfGroupedProducts) {
  const auto forward = Read("gmm"), gradient = Read("tgmm");
  const std::optional<GroupedProduct> gmm = GroupedProductOf(*KernelOf(*forward));
  ASSERT_TRUE(gmm.has_value());
  // 16 blocks of 512 rows, 7 of them shared by two groups; 4 of what is contracted, 14 of columns.
  EXPECT_EQ(gmm->blocks, (16 + 7) * 4 * 14);
  EXPECT_EQ(gmm->flops, 2.0 * 8192 * 4096 * 14336);
  // Rows once for each block of columns, a matrix for each block of rows.
  EXPECT_EQ(gmm->bytes, 2.0 * (8192.0 * 4096 * 14 + 4096.0 * 14336 * 23 + 8192.0 * 14336));
  const std::optional<GroupedProduct> tgmm = GroupedProductOf(*KernelOf(*gradient));
  ASSERT_TRUE(tgmm.has_value());
  EXPECT_TRUE(tgmm->is_of_matrices);
  EXPECT_EQ(tgmm->blocks, (16 + 7) * 4 * 14);
  EXPECT_EQ(tgmm->flops, 2.0 * 8192 * 4096 * 14336);
}

TEST(KernelsTest, AGroupedProductTakesItsBlocksOrItsBytes) {
  const PredictedGroup row = KernelRow(Predict(*Read("gmm"), {}, "tpu-v5e-1"));
  // Of 1,288 blocks, each 512 x 8 x 8 tiles on four units, and 300 bundles and 0.6 for each of 512 registers of sums.
  const double cycles = 1288 * (512 * 8 * 8 / 4.0 + 300 + 0.6 * 512);
  EXPECT_NEAR(static_cast<double>(row.picoseconds) * 1e-12, cycles / 1.5e9, 2e-6);
  EXPECT_EQ(row.flops, 2LL * 8192 * 4096 * 14336);
  EXPECT_EQ(row.bound, "matrix");
  // A v6e multiplies 4.7 times as fast, and reads matrices twice as fast.
  const PredictedGroup faster = KernelRow(Predict(*Read("gmm"), {}, "tpu-v6e-1"));
  EXPECT_NEAR(static_cast<double>(faster.picoseconds) * 1e-12, 3875536896 / (0.92 * 1640e9), 2e-6);
  EXPECT_EQ(faster.bound, "memory");
}

TEST(KernelsTest, AnEstimateInTheCallCounts) {
  const Prediction prediction = Predict(*Read("exp_cost"));
  // 33.5 MB at 92 % of 1,640 GB/s, and 1.21 us.
  EXPECT_NEAR(static_cast<double>(KernelRow(prediction).picoseconds),
              (33554432 / (0.92 * 1640e9) + 1.21e-6) * 1e12, 1e4);
  EXPECT_EQ(KernelRow(prediction).flops, 123456789 + 4194304);
  EXPECT_THAT(prediction.notes,
              Contains(HasSubstr("the time of the custom call my_exp (1 times in the program) is by the "
                                 "estimate in the call")));
}

TEST(KernelsTest, WithoutEstimateTheBytesCountAndANoteSaysSo) {
  const Prediction prediction = Predict(*Read("exp_plain"));
  EXPECT_EQ(KernelRow(prediction).bytes, 2 * 4096 * 1024 * 4);
  EXPECT_THAT(
      prediction.notes,
      Contains(HasSubstr("what the custom call my_exp (1 times in the program) computes is not known")));
}

TEST(KernelsTest, WhatTheUserGivesCountsFirst) {
  const auto module = Read("exp_cost");
  const Prediction by_time = Predict(*module, {"my_exp=250us"});
  EXPECT_EQ(KernelRow(by_time).picoseconds, 250'000'000);
  EXPECT_THAT(by_time.notes, IsEmpty());
  const Prediction by_flops = Predict(*module, {"my_exp=8.5e12,1e6", "exp=1s"});
  // At 84 % of the peak of v6e, 4 x 256^2 x 2 x 1.75 GHz.
  EXPECT_NEAR(static_cast<double>(KernelRow(by_flops).picoseconds) * 1e-12, 8.5e12 / (917.5e12 * 0.84), 1e-5);
  EXPECT_EQ(KernelRow(by_flops).bytes, 1'000'000);
}

TEST(KernelsTest, CostsOfAnotherFormAndOfNoKernelAreErrors) {
  for (const char* text : {"k", "=1s", "k=", "k=1", "k=1,2,3", "k=-1s", "k=inf", "k=nan,1", "k=-1,2"}) {
    EXPECT_THAT(ParseKernelCost(text).status().message(), HasSubstr("NAME=TIME")) << text;
  }
  SimulationOptions options;
  options.machine = *LoadMachine("tpu-v6e-1");
  options.kernel_costs = {*ParseKernelCost("other=1s")};
  EXPECT_THAT(Simulate(*Read("exp_cost"), options).status().message(),
              HasSubstr("no such custom call; it has my_exp"));
}

}  // namespace
}  // namespace toroid
