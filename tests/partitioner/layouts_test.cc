// The partitioner keeps layouts that others rely on: those of entry parameters, of results, and of calls with
// layout constraints.
#include <string>

#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string PartitionedText(const std::string& text, int64_t n) {
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(text, n), PartitionOptions());
  if (!partitioned.ok()) return std::string(partitioned.status().message());
  EXPECT_OK(VerifyModule(*partitioned->module));
  return PrintModule(*partitioned->module);
}

TEST(LayoutsTest, AConstrainedCallGetsAndGivesItsLayouts) {
  const std::string text = PartitionedText(R"(
ENTRY main {
  x = f32[4,8,6]{2,1,0} parameter(0), sharding={devices=[2,1,1]<=[2]}
  c = (f32[4,8,6]{1,2,0}, s32[4]{0}) custom-call(x), custom_call_target="lapack_like", operand_layout_constraints={f32[4,8,6]{1,2,0}}
  y = f32[4,8,6]{1,2,0} get-tuple-element(c), index=0
  ROOT z = f32[4,8,6]{2,1,0} negate(y)
})",
                                           2);
  EXPECT_THAT(text, HasSubstr("= (f32[4,8,6]{1,2,0}, s32[4]{0}) custom-call("));
  EXPECT_THAT(text, HasSubstr("operand_layout_constraints={f32[4,8,6]{1,2,0}}"));
  EXPECT_THAT(text, HasSubstr("= f32[4,8,6]{1,2,0} copy("));
  EXPECT_THAT(text, HasSubstr("= f32[4,8,6]{2,1,0} copy("));
}

TEST(LayoutsTest, BatchDimensionsOfACallAreCut) {
  const std::string text = R"(
ENTRY main {
  x = f32[4,8,6]{2,1,0} parameter(0), sharding={devices=[2,1,1]<=[2]}
  b = f32[4,8]{1,0} parameter(1)
  c = (f32[4,8,6]{1,2,0}, s32[4]{0}) custom-call(x, b), custom_call_target="lapack_like", operand_layout_constraints={f32[4,8,6]{1,2,0}, f32[4,8]{1,0}}, frontend_attributes={num_batch_dims="1"}
  y = f32[4,8,6]{1,2,0} get-tuple-element(c), index=0
  i = s32[4]{0} get-tuple-element(c), index=1
  ROOT z = (f32[4,8,6], s32[4]) tuple(y, i)
})";
  EXPECT_THAT(Collectives(text, 2), IsEmpty());
  EXPECT_THAT(PartitionedText(text, 2),
              HasSubstr("operand_layout_constraints={f32[2,8,6]{1,2,0}, f32[2,8]{1,0}}"));
}

TEST(LayoutsTest, ACallWithOtherBatchSizesStaysWhole) {
  const std::string text = PartitionedText(R"(
ENTRY main {
  x = f32[4,8] parameter(0), sharding={devices=[2,1]<=[2]}
  ROOT c = f32[2,8] custom-call(x), custom_call_target="f", frontend_attributes={num_batch_dims="1"}
})",
                                           2);
  EXPECT_THAT(text, HasSubstr("= f32[2,8]{1,0} custom-call("));
}

TEST(LayoutsTest, EntryParametersAndResultsKeepTheirs) {
  const std::string text = R"(
ENTRY main {
  x = f32[4,6]{0,1} parameter(0), sharding={devices=[$n,1]<=[$n]}
  t = (f32[4,6]{0,1}, f32[4]) parameter(1)
  y = f32[4,6]{0,1} negate(x)
  u = f32[4,6]{0,1} get-tuple-element(t), index=0
  v = f32[4,6]{1,0} copy(u)
  ROOT r = (f32[4,6]{0,1}, f32[4,6]{1,0}) tuple(y, v)
})";
  const std::string written = PartitionedText(text, 2);
  EXPECT_THAT(written, HasSubstr("entry_computation_layout={(f32[2,6]{0,1}, (f32[4,6]{0,1}, f32[4]{0}))->"
                                 "(f32[2,6]{0,1}, f32[4,6]{1,0})}"));
  EXPECT_THAT(written, Not(HasSubstr("{0,1} negate(")));
  ExpectEquivalent(text);
}

TEST(LayoutsTest, TheLayoutsOfTheEntryCountBeforeThoseOfItsInstructions) {
  const std::string written = PartitionedText(R"(
HloModule m, entry_computation_layout={(f32[4,6]{0,1})->f32[4,6]{0,1}}
ENTRY main {
  x = f32[4,6] parameter(0), sharding={devices=[2,1]<=[2]}
  ROOT y = f32[4,6] negate(x)
})",
                                              2);
  EXPECT_THAT(written, HasSubstr("entry_computation_layout={(f32[2,6]{0,1})->f32[2,6]{0,1}}"));
  EXPECT_THAT(written, HasSubstr("= f32[2,6]{1,0} negate("));
}

TEST(LayoutsTest, TupleParametersAreCutLeafByLeaf) {
  const std::string text = R"(
ENTRY main {
  t = (f32[8,5], (f32[8], s32[])) parameter(0), sharding={{devices=[$n,1]<=[$n]}, {devices=[$n]<=[$n]}, {replicated}}
  x = f32[8,5] get-tuple-element(t), index=0
  p = (f32[8], s32[]) get-tuple-element(t), index=1
  v = f32[8] get-tuple-element(p), index=0
  b = f32[8,5] broadcast(v), dimensions={0}
  s = s32[] get-tuple-element(p), index=1
  a = f32[8,5] add(x, b)
  ROOT r = (f32[8,5], s32[]) tuple(a, s)
})";
  EXPECT_THAT(Collectives(text, 4), IsEmpty());
  const std::unique_ptr<Module> module = ProgramFor(text, 1);
  const Literal argument = Literal::Tuple([] {
    std::vector<Literal> inner;
    inner.push_back(Integers(Shape(xla::F32, {8}), 2));
    inner.push_back(Literal::Scalar<int32_t>(7));
    std::vector<Literal> outer;
    outer.push_back(Integers(Shape(xla::F32, {8, 5}), 1));
    outer.push_back(Literal::Tuple(std::move(inner)));
    return outer;
  }());
  ExpectEquivalent(text, {argument});
}

}  // namespace
}  // namespace toroid
