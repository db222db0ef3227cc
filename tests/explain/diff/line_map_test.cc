// Lines of two versions of a file.
#include "explain/diff/line_map.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// A chain of ops, one for each line of m.py.
std::unique_ptr<Module> Chain(const std::vector<std::pair<std::string, int>>& ops) {
  std::string text = "HloModule m\nENTRY e { x0 = f32[8] parameter(0)\n";
  int i = 0;
  for (const auto& [opcode, line] : ops) {
    absl::StrAppend(&text, i + 1 == static_cast<int>(ops.size()) ? "ROOT " : "", "x", i + 1, " = f32[8] ",
                    opcode, "(x", i, "), metadata={op_name=\"jit(f)/", opcode,
                    "\" source_file=\"m.py\" source_line=", line, "}\n");
    ++i;
  }
  auto module = ParseModule(text + "}");
  EXPECT_OK(module);
  return *std::move(module);
}

LineMap LinesOf(const Module& a, const Module& b) {
  SourceFrames frames_a(a), frames_b(b);
  return LineMap(a, ModuleMatch(a, b, &frames_a, &frames_b), &frames_a, &frames_b);
}

TEST(LineMapTest, LinesMoveWithTheCodeBeforeThem) {
  const auto a = Chain({{"tanh", 7}, {"tanh", 9}, {"sine", 12}});
  const auto b = Chain({{"tanh", 10}, {"tanh", 14}, {"cosine", 17}});
  const LineMap lines = LinesOf(*a, *b);
  EXPECT_EQ(lines.LineInB("m.py:7"), "m.py:10");
  EXPECT_EQ(lines.LineInB("m.py:8"), "m.py:11");
  EXPECT_EQ(lines.LineInB("m.py:9"), "m.py:14");
  EXPECT_EQ(lines.LineInB("m.py:12"), "m.py:17");  // Nothing is computed alike there.
  EXPECT_EQ(lines.LineInB("m.py:3"), "m.py:6");
  EXPECT_EQ(lines.LineInB("n.py:9"), "n.py:9");
  EXPECT_EQ(lines.LineInB("no line"), "no line");
  EXPECT_EQ(lines.LineInB(""), "");
}

TEST(LineMapTest, LinesOfOneFileStay) {
  const auto a = Chain({{"tanh", 7}, {"tanh", 9}, {"sine", 12}, {"negate", 13}, {"tanh", 20}});
  const auto b = Chain({{"tanh", 7}, {"tanh", 9}, {"cosine", 12}, {"tanh", 20}, {"negate", 21}});
  const LineMap lines = LinesOf(*a, *b);
  for (const std::string line : {"m.py:7", "m.py:12", "m.py:13", "m.py:20"})
    EXPECT_EQ(lines.LineInB(line), line);
  EXPECT_EQ(LineMap().LineInB("m.py:7"), "m.py:7");
}

}  // namespace
}  // namespace toroid
