// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:hlo_text"]
#include "hlo/io/hlo_text.h"

#include <string>

#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// What section 15 of the format's description shows: the long form.
constexpr char kExample[] =
    R"(HloModule affine, entry_computation_layout={(f32[8,4]{1,0}, f32[4,6]{1,0}, f32[6]{0})->f32[8]{0}}, num_partitions=2

%plus (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(f32[] %a, f32[] %b)
}

ENTRY %main (x: f32[8,4], w: f32[4,6], bias: f32[6]) -> f32[8] {
  %x = f32[8,4]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}
  %w = f32[4,6]{1,0} parameter(1), sharding={replicated}
  %xw = f32[8,6]{1,0} dot(f32[8,4]{1,0} %x, f32[4,6]{1,0} %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %bias = f32[6]{0} parameter(2)
  %rows = f32[8,6]{1,0} broadcast(f32[6]{0} %bias), dimensions={1}
  %y = f32[8,6]{1,0} add(f32[8,6]{1,0} %xw, f32[8,6]{1,0} %rows), metadata={op_name="bias add" source_line=7}
  %zero = f32[] constant(0)
  ROOT %r = f32[8]{0} reduce(f32[8,6]{1,0} %y, f32[] %zero), dimensions={1}, to_apply=%plus, sharding={devices=[2]<=[2]}
}
)";

TEST(HloTextTest, LongFormPrintsBackUnchanged) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(kExample));
  PrintOptions options;
  options.percent = options.signatures = options.operand_shapes = true;
  EXPECT_EQ(PrintModule(*module, options), kExample);
}

TEST(HloTextTest, CorpusModulesRoundTrip) {
  for (const std::string& path : CorpusFiles("hlo_text", ".hlo")) {
    SCOPED_TRACE(path);
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(ReadCorpusFile(path)));
    const std::string text = PrintModule(*module);
    ASSERT_OK_AND_ASSIGN(const auto again, ParseModule(text));
    EXPECT_EQ(PrintModule(*again), text);
  }
}

}  // namespace
}  // namespace toroid
