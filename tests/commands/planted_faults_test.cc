// The first screen of --explain names an annotation that is bad, with its line or its path, and a change that removes what it
// sends.
// BUILD: size = "medium"
// BUILD: data = ["//partitioner:hlo-partition", "//tests/corpus:planted"]
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/commands/command_runner.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

struct Planted {
  const char* program;
  const char* name;    // Begins the name of the annotated array.
  const char* source;  // The line of tests/corpus/planted/faults.py; "" for an argument.
  const char* change;  // From and to, over data and model.
};

constexpr Planted kPlanted[] = {
    {"moe_dispatch", "sharding_constraint.", "planted/faults.py:45",
     "[{}, {}, {}, {d}] -> [{m}, {}, {}, {d}]"},
    {"moe_weight", "params[0]['wi']", "", "[{}, {m}, {}] -> [{}, {}, {m}]"},
    {"remat_heads", "sharding_constraint.", "planted/faults.py:21",
     "[{d}, {}, {}, {m}] -> [{d}, {m}, {}, {}]"},
    {"remat_moment", "mu[0]['mlp']['up']", "", "[{m}, {}] -> [{}, {m}]"},
    {"scan_resid", "sharding_constraint.", "planted/faults.py:94", "[{}, {}, {m}] -> [{d}, {}, {m}]"},
    {"scan_weight", "params['mlp']['up']", "", "[{}, {}, {d}] -> [{}, {}, {m}]"},
    {"t5_hidden", "sharding_constraint.", "planted/faults.py:28", "[{}, {}, {m}] -> [{d}, {}, {m}]"},
    {"t5_memory", "sharding_constraint.", "planted/faults.py:63", "[{}, {}, {}] -> [{d}, {}, {}]"},
    {"vit_resid", "sharding_constraint.", "planted/faults.py:83", "[{}, {}, {}] -> [{d}, {}, {}]"},
    {"vit_tokens", "sharding_constraint.", "planted/faults.py:79", "[{}, {d}, {}] -> [{d}, {}, {}]"},
};

// Axes by their first letters in both dialects: {"data"}, {a8} are {d}; {"model"}, {b4} are {m}.
std::string InLetters(std::string text) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"data\"", "d"}, {"a8", "d"}, {"\"model\"", "m"}, {"b4", "m"}}) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from))
      text.replace(at, from.size(), to);
  }
  return text;
}

TEST(PlantedFaultsTest, TheFirstScreenNamesTheAnnotationAndTheChange) {
  for (const Planted& planted : kPlanted) {
    for (const char* dialect : {"gspmd", "shardy"}) {
      SCOPED_TRACE(absl::StrCat(planted.program, ".", dialect));
      const Outcome outcome =
          RunShell(absl::StrCat("partitioner/hlo-partition tests/corpus/planted/", planted.program, ".",
                                dialect, ".hlo.pb.gz --explain=json"));
      const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
      ASSERT_FALSE(json.is_discarded()) << outcome.err;
      bool is_named = false;
      for (const auto& change : json["diagnosis"]) {
        const std::string how = InLetters(
            absl::StrCat(change["from"].get<std::string>(), " -> ", change["to"].get<std::string>()));
        is_named |= absl::StartsWith(change["name"].get<std::string>(), planted.name) &&
                    change["source"] == planted.source && how == planted.change && change["removed"] != "" &&
                    change["sent_bytes_then"] < change["sent_bytes_now"];
      }
      EXPECT_TRUE(is_named) << json["diagnosis"];
    }
  }
}

// Rows that are cut by columns in the middle, for no use, and a chain of other instructions beside them.
std::string LongProgram(int64_t instructions) {
  std::string text = R"(
HloModule long, num_partitions=8
ENTRY main {
  c0 = f32[8] parameter(1), sharding={devices=[8]<=[8]}
)";
  for (int64_t i = 1; i < instructions; ++i)
    absl::StrAppend(&text, "  c", i, " = f32[8] cosine(c", i - 1, ")\n");
  absl::StrAppend(&text, R"(
  x = f32[64,256] parameter(0), sharding={devices=[8,1]<=[8]}
  h = f32[64,256] tanh(x)
  turned = f32[64,256] custom-call(h), custom_call_target="Sharding", sharding={devices=[1,8]<=[8]}
  y = f32[64,256] sine(turned)
  back = f32[64,256] custom-call(y), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
  ROOT out = (f32[64,256], f32[8]) tuple(back, c)",
                  instructions - 1, ")\n}\n");
  return text;
}

TEST(PlantedFaultsTest, ALargeProgramIsDiagnosedToo) {
  const std::string command = "partitioner/hlo-partition --explain ";
  const Outcome some = RunShell(command + TempFile("some.hlo", LongProgram(20000)));
  EXPECT_THAT(some.out, HasSubstr("tried: turned [{a8}, {}] instead of [{}, {a8}] sends 0 B"));
  const Outcome many = RunShell(command + TempFile("many.hlo", LongProgram(200000)));
  EXPECT_THAT(many.out, HasSubstr("no change of an annotation was tried; --advise tries some"));
}

}  // namespace
}  // namespace toroid
