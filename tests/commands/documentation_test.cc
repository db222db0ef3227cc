// The examples of the pages do what the pages say: README.md, docs/commands.md, docs/partitioning.md,
// docs/machine_model.md.
//
// In a block between ``` a line `$ COMMAND` is run as by a shell, in a folder that holds tests/ and the files
// that the page has shown with `$ cat FILE`; the lines up to the next command are its output and errors. Some
// differences are allowed:
//   - a line `...` stands for any lines;
//   - times (`12 ms`, `0.3 s`) and the memory of the machine (`the limit is 18.5 GB`) are read as TIME and
//     MEMORY;
//   - only four decimals of a number count, and `1.2e-07` is read as ERROR, because machines round in other
//     orders.
// `bazel run -c opt //FOLDER:PROGRAM` runs that program.
// BUILD: size = "medium"
// BUILD: data = ["//:pages", "//examples:first_program", "//examples:first_program_main.cc", "//examples:moe_transformer", "//explain:hlo-diff", "//hlo:hlo-convert", "//partitioner:hlo-partition", "//runtime:hlo-run", "//simulator:hlo-simulate", "//tests/corpus:full_size", "//tests/corpus:jax"]
#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/files.h"
#include "tests/commands/command_runner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

struct Example {
  int line = 0;
  std::string command;
  std::vector<std::string> output;
};

std::vector<Example> ExamplesOf(absl::string_view page) {
  std::vector<Example> examples;
  bool in_block = false, open = false;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    ++number;
    if (absl::StartsWith(line, "```")) {
      in_block = !in_block;
      open = false;
    } else if (in_block && absl::StartsWith(line, "$ ")) {
      examples.push_back({number, std::string(line.substr(2)), {}});
      open = true;
    } else if (open && examples.back().output.empty() && absl::EndsWith(examples.back().command, "\\")) {
      examples.back().command.pop_back();
      absl::StrAppend(&examples.back().command, line);
    } else if (open) {
      examples.back().output.emplace_back(line);
    }
  }
  return examples;
}

std::string Masked(const std::string& line) {
  static const std::regex* const kTime = new std::regex(R"( *\b[0-9]+(\.[0-9]+)? (ms|s)\b)");
  static const std::regex* const kMemory = new std::regex(R"(the limit is [0-9.]+ .?B)");
  static const std::regex* const kDecimals = new std::regex(R"((\.[0-9]{4})[0-9]+)");
  static const std::regex* const kError = new std::regex(R"([0-9]\.[0-9]e[-+][0-9]+)");
  std::string masked = std::regex_replace(line, *kTime, " TIME");
  masked = std::regex_replace(masked, *kDecimals, "$1");
  masked = std::regex_replace(masked, *kError, "ERROR");
  masked = std::regex_replace(masked, *kMemory, "the limit is MEMORY");
  return std::string(absl::StripTrailingAsciiWhitespace(masked));
}

std::vector<std::string> MaskedLines(const std::vector<std::string>& lines) {
  std::vector<std::string> masked;
  for (const std::string& line : lines) masked.push_back(Masked(line));
  while (!masked.empty() && masked.back().empty()) masked.pop_back();
  return masked;
}

// Whether the lines agree; a line `...` of `expected` stands for any lines.
bool Matches(const std::vector<std::string>& expected, size_t e, const std::vector<std::string>& actual,
             size_t a) {
  for (; e < expected.size(); ++e, ++a) {
    if (expected[e] == "...") {
      for (size_t rest = a; rest <= actual.size(); ++rest) {
        if (Matches(expected, e + 1, actual, rest)) return true;
      }
      return false;
    }
    if (a >= actual.size() || actual[a] != expected[e]) return false;
  }
  return a == actual.size();
}

// The command line with this build's programs.
std::string Resolved(absl::string_view command, const std::string& root) {
  std::string resolved(command);
  absl::string_view rest = command;
  if (absl::ConsumePrefix(&rest, "bazel run -c opt //")) {
    const size_t colon = rest.find(':');
    resolved = absl::StrCat(root, "/", rest.substr(0, colon), "/", rest.substr(colon + 1));
    const size_t dashes = resolved.find(" -- ");
    if (dashes != std::string::npos) resolved.erase(dashes, 3);
  }
  return resolved;
}

// Runs all examples of a page; returns their number.
int RunPage(const std::string& page) {
  const std::string root = std::filesystem::current_path().string();
  const std::string folder = TempPath(absl::StrCat(std::filesystem::path(page).stem().string(), "_examples"));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::create_directory_symlink(root + "/tests", folder + "/tests");
  const absl::StatusOr<std::string> text = ReadFile(page);
  EXPECT_OK(text);
  if (!text.ok()) return 0;
  const std::vector<Example> examples = ExamplesOf(*text);
  for (const Example& example : examples) {
    SCOPED_TRACE(absl::StrCat(page, ":", example.line, ": ", example.command));
    absl::string_view file = example.command;
    if (absl::ConsumePrefix(&file, "cat ")) {
      const std::string path = absl::StrCat(folder, "/", file);
      const std::string content = absl::StrJoin(example.output, "\n") + "\n";
      if (!std::filesystem::exists(path)) {
        EXPECT_OK(WriteFile(path, content));
      }
    }
    const Outcome outcome = RunShell(absl::StrCat(
        "cd ", folder, " && unset COLUMNS && PATH=", root, "/partitioner:", root, "/runtime:", root,
        "/explain:", root, "/hlo:", root, "/simulator:$PATH && ", Resolved(example.command, root), " 2>&1"));
    EXPECT_NE(outcome.exit, -1) << "ended by a signal";
    const std::vector<std::string> expected = MaskedLines(example.output);
    const std::vector<std::string> actual = MaskedLines(absl::StrSplit(outcome.out, '\n'));
    EXPECT_TRUE(Matches(expected, 0, actual, 0)) << "prints\n"
                                                 << outcome.out << "and the page says\n"
                                                 << absl::StrJoin(example.output, "\n");
  }
  return static_cast<int>(examples.size());
}

TEST(DocumentationTest, TheReadmeShowsTheFirstProgramAsItIs) {
  ASSERT_OK_AND_ASSIGN(const std::string readme, ReadFile("README.md"));
  ASSERT_OK_AND_ASSIGN(const std::string program, ReadFile("examples/first_program_main.cc"));
  EXPECT_TRUE(absl::StrContains(readme, absl::StrCat("```cpp\n", program, "```\n")));
  EXPECT_LE(std::count(program.begin(), program.end(), '\n'), 40);
}

TEST(DocumentationTest, TheReadmesExamplesPrintWhatItSays) { EXPECT_GE(RunPage("README.md"), 5); }

TEST(DocumentationTest, TheExamplesOfTheCommandsPagePrintWhatItSays) {
  EXPECT_GE(RunPage("docs/commands.md"), 5);
}

TEST(DocumentationTest, TheExamplesOfThePartitioningPagePrintWhatItSays) {
  EXPECT_GE(RunPage("docs/partitioning.md"), 1);
}

TEST(DocumentationTest, TheGroupsOfTheMachineModelTakeWhatItsPageSays) {
  EXPECT_GE(RunPage("docs/machine_model.md"), 6);
}

TEST(DocumentationTest, ThePicturesOfTheReadmeAreThere) {
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile("README.md"));
  const std::regex picture(R"(!\[[^\]]*\]\(([^)]+)\))");
  int count = 0;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), picture); it != std::sregex_iterator();
       ++it) {
    EXPECT_TRUE(std::filesystem::exists((*it)[1].str())) << (*it)[1];
    ++count;
  }
  EXPECT_GE(count, 2);
}

// Tests the comparison itself, so that it would find a page that drifts.
TEST(DocumentationTest, OtherOutputIsSeen) {
  const std::vector<std::string> page = {"a 12 ms", "...", "c"};
  EXPECT_TRUE(Matches(MaskedLines(page), 0, MaskedLines({"a     7 ms", "b", "b", "c"}), 0));
  EXPECT_FALSE(Matches(MaskedLines(page), 0, MaskedLines({"a 12 kB", "c"}), 0));
  EXPECT_FALSE(Matches(MaskedLines(page), 0, MaskedLines({"a 12 ms", "d"}), 0));
  EXPECT_FALSE(Matches({"a"}, 0, {"a", "b"}, 0));
}

}  // namespace
}  // namespace toroid
