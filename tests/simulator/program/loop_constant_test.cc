// BUILD: size = "small"
// Constants that loops hand on to their bodies.
#include "simulator/program/loop_constant.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/ir/module.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

// A loop whose body returns `kept` as the second element of its state, which begins as the constant 5.
std::string ValueInBody(const std::string& kept) {
  const std::unique_ptr<Module> module = MakeModule(R"(
    zero = s32[] constant(0)
    five = s32[] constant(5)
    t = (s32[], s32[]) tuple(zero, five)
    ROOT w = (s32[], s32[]) while(t), condition=condition, body=body
)",
                                                    absl::StrCat(R"(
condition { s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT more = pred[] compare(i, n), direction=LT }
body { s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  mask = s32[] get-tuple-element(s), index=1
  copied = s32[] copy(mask)
  ROOT t = (s32[], s32[]) tuple(next, )",
                                                                 kept, ") }\n"));
  const Computation& body = *module->entry()->root()->called(0);
  for (const auto& op : body.instructions()) {
    if (op->name() != "copied") continue;
    const std::optional<Literal> value = LoopConstant(*op);
    return value.has_value() ? ToText(*value) : "none";
  }
  return "no such op";
}

TEST(LoopConstantTest, WhatTheBodyReturnsAsItIsIsWhatTheLoopBeginsWith) {
  EXPECT_EQ(ValueInBody("mask"), "5");
}

TEST(LoopConstantTest, WhatTheBodyReplacesIsNoConstant) {
  EXPECT_EQ(ValueInBody("next"), "none");
  EXPECT_EQ(ValueInBody("i"), "none");
}

}  // namespace
}  // namespace toroid
