// Instructions of HLO text over a fixed environment, for tests of its spellings.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"

namespace toroid {

// The computations add_f32, ge_f32 and neg; an entry e with x f32[8,4], v f32[8], s f32[], i s32[], p pred[],
// sq f32[4,4], t (f32[8], (f32[4], s32[])), tok token[]; and `instruction` as its root.
inline std::string InEnvironment(absl::string_view instruction) {
  return absl::StrCat(R"(HloModule m
add_f32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ge_f32 { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=GE }
neg { a = f32[8] parameter(0) ROOT s = f32[8] negate(a) }
ENTRY e {
  x = f32[8,4] parameter(0)
  v = f32[8] parameter(1)
  s = f32[] parameter(2)
  i = s32[] parameter(3)
  p = pred[] parameter(4)
  sq = f32[4,4] parameter(5)
  t = (f32[8], (f32[4], s32[])) parameter(6)
  tok = token[] after-all()
  ROOT r = )",
                      instruction, "\n}\n");
}

// The root as printed, without its name, or the error if the text is wrong. Expects that the printed module
// reads back to the same text.
inline std::string Respelled(absl::string_view instruction) {
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(InEnvironment(instruction));
  if (!module.ok()) return std::string(module.status().message());
  const std::string text = PrintModule(**module);
  const absl::StatusOr<std::unique_ptr<Module>> again = ParseModule(text);
  EXPECT_TRUE(again.ok()) << again.status().ToString() << "\n" << text;
  EXPECT_EQ(again.ok() ? PrintModule(**again) : "", text);
  return std::string(absl::StripPrefix(PrintInstruction(*(*module)->entry()->root()), "ROOT r = "));
}

// The text read, and the text printed for it; null: the same.
struct TextSpelling {
  const char* text;
  const char* printed = nullptr;
};

template <typename Spellings>
void ExpectSpellings(const Spellings& spellings) {
  for (const TextSpelling& spelling : spellings) {
    EXPECT_EQ(Respelled(spelling.text), spelling.printed == nullptr ? spelling.text : spelling.printed);
  }
}

}  // namespace toroid
