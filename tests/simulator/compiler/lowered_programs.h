// Programs lowered for tests: run before and after, and the groups that they fall into.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "simulator/chip/chip_model.h"
#include "simulator/chip/op_class.h"
#include "simulator/compiler/lower.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"

namespace toroid {

inline constexpr char kReducers[] = R"(
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
bmax { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT c = bf16[] maximum(a, b) }
second { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
count { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
largest {
  a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GE
  v = f32[] select(g, a, b)
  n = s32[] select(g, i, j)
  ROOT t = (f32[], s32[]) tuple(v, n)
}
)";

inline std::unique_ptr<Module> Parsed(absl::string_view entry) {
  auto module = ParseModule(absl::StrCat(kReducers, "ENTRY main {", entry, "}"));
  EXPECT_OK(module.status());
  return *std::move(module);
}

inline std::unique_ptr<Module> Lowered(const Module& module) {
  PassObserver observer;
  observer.verify = true;
  auto lowered = Lower(module, TpuV3Core(), observer);
  EXPECT_OK(lowered.status());
  return *std::move(lowered);
}

// Classes of the steps that take time, in order.
inline std::vector<std::string> Groups(absl::string_view entry) {
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(entry));
  ChipModel model(TpuV3Core());
  std::vector<std::string> groups;
  for (const auto& op : lowered->entry()->instructions()) {
    if (model.TimeOf(*op).picoseconds > 0) groups.emplace_back(GroupClassOf(*op));
  }
  return groups;
}

// The sum over all steps, at the rates of Google's compiler.
inline double MicrosecondsOf(const Module& lowered) {
  ChipModel model(TpuV3Core());
  double microseconds = 0;
  for (const auto& op : lowered.entry()->instructions())
    microseconds += static_cast<double>(model.TimeOf(*op).picoseconds) * 1e-6;
  return microseconds;
}
inline double Microseconds(absl::string_view entry) { return MicrosecondsOf(*Lowered(*Parsed(entry))); }

// Small integers, so that sums and bf16 are exact.
inline Literal Argument(const Shape& shape, int seed) {
  Literal literal(shape);
  auto values = literal.mutable_data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7 + seed) % 5) - 2;
  return literal;
}

// `tolerance`: relative, for programs whose sums are not exact.
inline void ExpectSameValues(absl::string_view entry, double tolerance = 0) {
  SCOPED_TRACE(entry);
  const std::unique_ptr<Module> module = Parsed(entry);
  const std::unique_ptr<Module> lowered = Lowered(*module);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module->entry()->parameters()) {
    arguments.push_back(Argument(parameter->shape(), static_cast<int>(arguments.size())));
  }
  ASSERT_OK_AND_ASSIGN(const Literal before, RunSingle(*module, arguments));
  ASSERT_OK_AND_ASSIGN(const Literal after, RunSingle(*lowered, arguments));
  if (tolerance == 0) {
    EXPECT_TRUE(before == after);
  } else {
    EXPECT_TRUE(Compare(after, before, tolerance).equal);
  }
}

}  // namespace toroid
