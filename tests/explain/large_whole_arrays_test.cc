// Large arrays that every device holds whole.
#include "explain/large_whole_arrays.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<ExplainedNote> WholeOf(const std::string& text) {
  const auto module = ParseModule(text);
  EXPECT_OK(module);
  const auto partitioned = PartitionModule(**module, PartitionOptions());
  EXPECT_OK(partitioned);
  return LargeWholeArrays(*partitioned);
}

TEST(LargeWholeArraysTest, SaysWhetherTheModuleAsksForIt) {
  const std::vector<ExplainedNote> notes = WholeOf(R"(HloModule m
ENTRY main {
  x = f32[64,1024] parameter(0), sharding={devices=[8,1]<=[8]}
  w = f32[1024,4096] parameter(1), sharding={replicated}, metadata={op_name="params['w']"}
  ROOT y = f32[64,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].kind, "whole");
  EXPECT_EQ(notes[0].name, "params['w']");
  EXPECT_EQ(notes[0].detail, "f32[1024,4096] 16.8 MB");
  EXPECT_EQ(notes[0].reason, "the module asks for it");
}

// Each device makes the part that it needs of them.
TEST(LargeWholeArraysTest, FreeValuesAreNotHeldWhole) {
  EXPECT_THAT(WholeOf(R"(HloModule m
ENTRY main {
  x = f32[1024,4096] parameter(0), sharding={devices=[8,1]<=[8]}
  i = s32[1024,4096] iota(), iota_dimension=0
  j = s32[1024,4096] add(i, i)
  z = f32[1024,4096] convert(j)
  ROOT y = f32[1024,4096] add(x, z)
})"),
              IsEmpty());
}

TEST(LargeWholeArraysTest, SmallArraysAreNotWorthALine) {
  EXPECT_THAT(WholeOf(R"(HloModule m
ENTRY main {
  x = f32[8192,8192] parameter(0), sharding={devices=[8,1]<=[8]}
  b = f32[8192] parameter(1), sharding={replicated}
  c = f32[512,1024] parameter(2), sharding={replicated}
  s = f32[8192,8192] broadcast(b), dimensions={1}
  y = f32[8192,8192] add(x, s)
  ROOT t = (f32[8192,8192], f32[512,1024]) tuple(y, c)
})"),
              SizeIs(1));  // The 2 MiB, a sixteenth of 32 MiB; not the 32 KiB.
}

}  // namespace
}  // namespace toroid
