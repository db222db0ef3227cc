// Programs of reshard plans with arrays too large for a test to run. The tests of ops run smaller ones.
#include "partitioner/reshard/emit_plan.h"

#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// The fourth quarter begins at 3 * 2^30, which does not fit in s32.
TEST(ReshardTest, OffsetsInDimensionsBeyondTwoToThe31AreWide) {
  PartitionOptions options;
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*ProgramFor(R"(ENTRY main {
  x = s8[4294967296] parameter(0), sharding={replicated}
  ROOT y = s8[4294967296] copy(x), sharding={devices=[$n]<=[$n]}
})",
                                                                                  4),
                                                                      options));
  int slices = 0;
  for (const auto& instruction : partitioned.module->entry()->instructions()) {
    const Opcode opcode = instruction->opcode();
    EXPECT_FALSE(opcode == Opcode::kMultiply && instruction->shape().element_type() != xla::S64);
    if (opcode != Opcode::kDynamicSlice) continue;
    EXPECT_EQ(instruction->operand(1)->shape().element_type(), xla::S64);
    ++slices;
  }
  EXPECT_EQ(slices, 1);
}

}  // namespace
}  // namespace toroid
