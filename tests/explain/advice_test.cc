// Changes of annotations that were tried.
#include "explain/advice.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/edit.h"
#include "partitioner/prepare/sharding_lines.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Advised {
  ProgramFigures now;
  std::vector<Advice> advice;
};

absl::StatusOr<ProgramFigures> FiguresWith(const Module& module, const std::vector<std::string>& given) {
  const std::unique_ptr<Module> changed = CloneModule(module);
  std::vector<ShardingLine> lines;
  for (const std::string& line : given) lines.push_back({line, ""});
  if (const absl::Status status = ApplyShardingLines(lines, changed.get()); !status.ok()) return status;
  const auto partitioned = PartitionModule(*changed, PartitionOptions());
  if (!partitioned.ok()) return partitioned.status();
  return FiguresOf(*partitioned->module);
}

Advised AdviceOn(const Module& module) {
  const auto partitioned = PartitionModule(module, PartitionOptions());
  EXPECT_OK(partitioned);
  Advised advised = {FiguresOf(*partitioned->module)};
  advised.advice = FindAdvice(*partitioned, advised.now, [&](const std::vector<std::string>& given) {
    return FiguresWith(module, given);
  });
  return advised;
}

// Two layers over the batch, with the constraint `bad` between them.
std::unique_ptr<Module> Layers(const std::string& bad) {
  auto module = ParseModule(absl::StrCat(R"(HloModule m
ENTRY main {
  x = f32[1024,64] parameter(0), sharding={devices=[8,1]<=[8]}, metadata={op_name="batch"}
  w = f32[64,64] parameter(1), sharding={replicated}, metadata={op_name="params['up']"}
  v = f32[64,64] parameter(2), sharding={replicated}, metadata={op_name="params['down']"}
  h = f32[1024,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[1024,64] custom-call(h), custom_call_target="Sharding", sharding=)",
                                         bad, R"(
  y = f32[1024,64] dot(s, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT z = f32[1024,64] custom-call(y), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
})"));
  EXPECT_OK(module);
  return *std::move(module);
}

TEST(AdviceTest, AConstraintInTheWayIsFoundAndItsChangeRemovesWhatItSends) {
  const auto module = Layers("{devices=[1,8]<=[8]}");
  const Advised advised = AdviceOn(*module);
  ASSERT_GT(advised.now.explanation.sent_bytes, 0);
  ASSERT_THAT(advised.advice, SizeIs(1));
  const Advice& advice = advised.advice[0];
  EXPECT_EQ(advice.change.name, "s");
  EXPECT_EQ(advice.change.from, "[{}, {a8}]");
  EXPECT_EQ(advice.change.to, "[{a8}, {}]");
  EXPECT_EQ(advice.effect.then.explanation.sent_bytes, 0);
  EXPECT_THAT(AdviceText(advised.advice),
              HasSubstr("advice: s [{a8}, {}] instead of [{}, {a8}] sends 0 B instead of "));
  // Whoever follows the advice gets what it says.
  const auto followed = FiguresWith(*module, advice.change.given);
  ASSERT_OK(followed);
  EXPECT_EQ(followed->explanation.sent_bytes, advice.effect.then.explanation.sent_bytes);
  EXPECT_EQ(followed->peak_bytes, advice.effect.then.peak_bytes);
}

TEST(AdviceTest, AConstraintThatMakesAnArrayWholeIsFound) {
  const Advised advised = AdviceOn(*Layers("{replicated}"));
  ASSERT_GT(advised.now.explanation.sent_bytes, 0);
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.advice[0].change.name, "s");
  EXPECT_EQ(advised.advice[0].change.to, "[{a8}, {}]");
  EXPECT_EQ(advised.advice[0].effect.then.explanation.sent_bytes, 0);
}

// One of ten layers that is mended alone saves little.
TEST(AdviceTest, LayersAreChangedTogether) {
  std::string text =
      "HloModule m\nENTRY main {\n  h.0 = f32[1024,64] parameter(0), sharding={devices=[8,1]<=[8]}\n";
  for (int i = 0; i < 10; ++i) {
    absl::StrAppend(&text, "  w.", i, " = f32[64,64] parameter(", i + 1, "), sharding={replicated}\n  d.", i,
                    " = f32[1024,64] dot(h.", i, ", w.", i,
                    "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  s.", i,
                    " = f32[1024,64] custom-call(d.", i,
                    "), custom_call_target=\"Sharding\", sharding={devices=[1,8]<=[8]}\n  h.", i + 1,
                    " = f32[1024,64] exponential(s.", i, ")\n");
  }
  absl::StrAppend(&text, "  ROOT z = f32[1024,64] custom-call(h.10), custom_call_target=\"Sharding\", ",
                  "sharding={devices=[8,1]<=[8]}\n}");
  const auto module = ParseModule(text);
  ASSERT_OK(module);
  const Advised advised = AdviceOn(**module);
  ASSERT_GT(advised.now.explanation.sent_bytes, 0);
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_THAT(advised.advice[0].change.given, SizeIs(10));
  EXPECT_EQ(advised.advice[0].effect.then.explanation.sent_bytes, 0);
  EXPECT_THAT(AdviceText(advised.advice),
              HasSubstr(" and 9 others like it [{a8}, {}] instead of [{}, {a8}] sends 0 B"));
}

TEST(AdviceTest, AProgramThatSendsNothingNeedsNone) {
  EXPECT_THAT(AdviceOn(*Layers("{devices=[8,1]<=[8]}")).advice, IsEmpty());
  EXPECT_EQ(
      AdviceText({}),
      "advice: none of the changes that were tried saves a twentieth of the bytes, or takes away a collective with a "
      "hundredth of them, or on a machine saves a hundredth of the time\n");
}

TEST(AdviceTest, ChangesThatRepeatWorkOrNeedMoreMemoryAreLeftOut) {
  const auto module = ParseModule(R"(HloModule m
ENTRY main {
  x = f32[64,4096] parameter(0), sharding={replicated}
  w = f32[4096,64] parameter(1), sharding={devices=[1,8]<=[8]}
  ROOT y = f32[64,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}
})");
  ASSERT_OK(module);
  const auto whole = FiguresWith(**module, {"w={replicated}"});
  ASSERT_OK(whole);
  ASSERT_EQ(whole->explanation.sent_bytes, 0);
  const Advised advised = AdviceOn(**module);
  EXPECT_GT(advised.now.explanation.sent_bytes, 0);
  for (const Advice& advice : advised.advice) EXPECT_NE(advice.change.name, "w");
}

// The hidden layer is cut over the model's axis alone, so that the batch is gathered.
TEST(AdviceTest, AnAxisThatAConstraintLacksIsAdded) {
  const auto module = ParseModule(R"(HloModule m
ENTRY main {
  x = f32[4096,64] parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  w = f32[64,256] parameter(1), sharding={devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}
  v = f32[256,64] parameter(2), sharding={devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}
  h = f32[4096,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[4096,256] custom-call(h), custom_call_target="Sharding", sharding={devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}
  y = f32[4096,64] dot(s, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT z = f32[4096,64] custom-call(y), custom_call_target="Sharding", sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
})");
  ASSERT_OK(module);
  const Advised advised = AdviceOn(**module);
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.advice[0].change.name, "s");
  EXPECT_EQ(advised.advice[0].change.from, "[{}, {b2}]");
  EXPECT_EQ(advised.advice[0].change.to, "[{a4}, {b2}]");
  EXPECT_THAT(AdviceText(advised.advice), HasSubstr(", without the all-gather of "));
}

// A weight whose two cut dimensions are exchanged, in a mesh of two axes.
TEST(AdviceTest, TwoCutDimensionsAreExchanged) {
  const auto module = ParseModule(R"(HloModule m
ENTRY main {
  x = f32[1024,1024] parameter(0), sharding={devices=[4,1,4]<=[16] last_tile_dim_replicate}
  w = f32[1024,4096] parameter(1), sharding={devices=[4,4]<=[16]}
  v = f32[4096,1024] parameter(2), sharding={devices=[4,4]<=[16]}, metadata={op_name="params['w2']"}
  h = f32[1024,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[1024,1024] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[4,1,4]<=[16] last_tile_dim_replicate}
})");
  ASSERT_OK(module);
  const Advised advised = AdviceOn(**module);
  ASSERT_FALSE(advised.advice.empty());
  const auto found = std::find_if(advised.advice.begin(), advised.advice.end(), [](const Advice& advice) {
    return advice.change.from == "[{a4}, {b4}]" && advice.change.to == "[{b4}, {a4}]";
  });
  ASSERT_NE(found, advised.advice.end()) << AdviceText(advised.advice);
  EXPECT_EQ(found->change.name, "params['w2']");
}

// A cache behind the weights, in and out: changed alone, it would have to be moved as a result.
TEST(AdviceTest, AnArgumentBehindOthersIsChangedTogetherWithItsNewValue) {
  const auto module = ParseModule(R"(HloModule m
ENTRY main {
  w = f32[64] parameter(0), sharding={replicated}, metadata={op_name="params['w']"}
  k = f32[512,512] parameter(1), sharding={devices=[1,8]<=[8]}, metadata={op_name="cache['k']"}
  v = f32[512,512] parameter(2), sharding={devices=[8,1]<=[8]}, metadata={op_name="cache['v']"}
  n = f32[512,512] add(k, v)
  m = f32[512,512] multiply(v, v)
  ROOT t = (f32[512,512], f32[512,512]) tuple(n, m), sharding={{devices=[1,8]<=[8]}, {devices=[8,1]<=[8]}}
})");
  ASSERT_OK(module);
  const Advised advised = AdviceOn(**module);
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.advice[0].change.name, "cache['k']");
  EXPECT_THAT(advised.advice[0].change.given,
              ElementsAre("cache['k']={devices=[8,1]<=[8]}", "output{0}={devices=[8,1]<=[8]}"));
  EXPECT_EQ(advised.advice[0].effect.then.explanation.sent_bytes, 0);
}

// A constraint in the way of a small array, beside weights that are gathered.
TEST(AdviceTest, AChangeThatRemovesARowIsToldThoughItSavesLittle) {
  const auto module = ParseModule(R"(HloModule m
ENTRY main {
  x = f32[1024,1024] parameter(0), sharding={devices=[4,1,4]<=[16] last_tile_dim_replicate}
  w = f32[1024,4096] parameter(1), sharding={devices=[4,4]<=[16]}
  b = f32[1024,256] parameter(2), sharding={devices=[16,1]<=[16]}, metadata={op_name="batch"}
  h = f32[1024,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[1024,256] custom-call(b), custom_call_target="Sharding", sharding={devices=[1,16]<=[16]}
  t = f32[1024,256] tanh(s)
  ROOT r = (f32[1024,4096], f32[1024,256]) tuple(h, t), sharding={{devices=[4,4]<=[16]}, {devices=[16,1]<=[16]}}
})");
  ASSERT_OK(module);
  const Advised advised = AdviceOn(**module);
  const auto found = std::find_if(advised.advice.begin(), advised.advice.end(),
                                  [](const Advice& advice) { return advice.change.name == "s"; });
  ASSERT_NE(found, advised.advice.end()) << AdviceText(advised.advice);
  const double saved = static_cast<double>(found->change.sent_now - found->change.sent_then);
  EXPECT_LT(saved, 0.05 * static_cast<double>(found->change.sent_now));
  EXPECT_FALSE(found->change.removed.empty());
}

// A moment that is cut otherwise than its weight: changed alone, it would have to be moved as a result.
TEST(AdviceTest, AMomentIsChangedTogetherWithItsNewValue) {
  const auto module = ParseModule(R"(HloModule m
ENTRY main {
  w = f32[512,512] parameter(0), sharding={devices=[8,1]<=[8]}, metadata={op_name="params['w']"}
  m = f32[512,512] parameter(1), sharding={devices=[1,8]<=[8]}, metadata={op_name="mu['w']"}
  g = f32[512,512] parameter(2), sharding={devices=[8,1]<=[8]}, metadata={op_name="grads['w']"}
  n = f32[512,512] add(m, g)
  d = f32[512,512] subtract(w, n)
  ROOT t = (f32[512,512], f32[512,512]) tuple(d, n), sharding={{devices=[8,1]<=[8]}, {devices=[1,8]<=[8]}}
})");
  ASSERT_OK(module);
  const Advised advised = AdviceOn(**module);
  ASSERT_FALSE(advised.advice.empty());
  EXPECT_EQ(advised.advice[0].change.name, "mu['w']");
  EXPECT_THAT(advised.advice[0].change.given,
              ElementsAre("mu['w']={devices=[8,1]<=[8]}", "output{1}={devices=[8,1]<=[8]}"));
  EXPECT_EQ(advised.advice[0].effect.then.explanation.sent_bytes, 0);
}

}  // namespace
}  // namespace toroid
