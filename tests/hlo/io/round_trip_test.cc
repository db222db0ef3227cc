// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:hlo_text"]
// Modules written in every format and read back have the same text.
#include <string>
#include <vector>

#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// The text of a module after it was written in each of the formats and read again.
absl::StatusOr<std::string> TextAfter(absl::string_view text, const std::vector<Format>& formats) {
  std::string content(text);
  for (const Format format : formats) {
    ASSIGN_OR_RETURN(const HloFile file, ReadHlo(content));
    ASSIGN_OR_RETURN(content, SerializeHlo(file, format));
  }
  ASSIGN_OR_RETURN(const HloFile file, ReadHlo(content));
  return PrintModule(*file.module);
}

TEST(RoundTripTest, EveryTextModuleIsTheSameThroughEveryFormat) {
  const std::vector<std::string> paths = CorpusFiles("hlo_text", ".hlo");
  EXPECT_EQ(paths.size(), 57u);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const std::string original = ReadCorpusFile(path);
    ASSERT_OK_AND_ASSIGN(const std::string text, TextAfter(original, {}));
    EXPECT_THAT(TextAfter(original, {Format::kContainer, Format::kHloText, Format::kJson, Format::kHloText}),
                IsOkAndHolds(text));
    EXPECT_THAT(TextAfter(original, {Format::kProtoText, Format::kHloText}), IsOkAndHolds(text));
    EXPECT_THAT(TextAfter(original, {Format::kSnapshot}), IsOkAndHolds(text));
  }
}

constexpr char kScheduled[] =
    "HloModule m, is_scheduled=true, entry_computation_layout={(f32[])->f32[]}\n"
    "\n"
    "body {\n"
    "  x = f32[] parameter(0)\n"
    "  ROOT y = f32[] negate(x)\n"
    "}\n"
    "\n"
    "ENTRY main {\n"
    "  p = f32[] parameter(0)\n"
    "  b = f32[] sine(p)\n"
    "  a = f32[] cosine(p)\n"
    "  f = f32[] fusion(a), kind=kLoop, calls=body\n"
    "  ROOT r = f32[] add(f, b)\n"
    "}\n";

TEST(RoundTripTest, ScheduledModulesKeepTheirOrder) {
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(kScheduled));
  PrintOptions options;
  options.percent = options.signatures = options.operand_shapes = options.layouts = false;
  const std::string text = PrintModule(*file.module, options);
  EXPECT_THAT(text, testing::HasSubstr("is_scheduled=true"));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, SerializeHlo(file, Format::kContainer));
  xla::HloProto proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  // Fusion bodies are not scheduled.
  xla::HloModuleProto& module = *proto.mutable_hlo_module();
  ASSERT_EQ(module.schedule().sequences_size(), 1);
  ASSERT_EQ(module.schedule().sequences().begin()->first, module.entry_computation_id());
  ASSERT_OK_AND_ASSIGN(const HloFile again, ReadHlo(bytes));
  EXPECT_EQ(PrintModule(*again.module, options), text);
  EXPECT_THAT(SerializeHlo(again, Format::kContainer), IsOkAndHolds(bytes));

  // A schedule may differ from the list, and may hold only the low 32 bits of the ids.
  auto& ids = *(*module.mutable_schedule()->mutable_sequences())[module.entry_computation_id()]
                   .mutable_instruction_ids();
  std::swap(ids[1], ids[2]);
  for (int64_t& id : ids) id &= 0xFFFFFFFF;
  const std::string a = "  a = f32[] cosine(p)\n", b = "  b = f32[] sine(p)\n";
  ASSERT_THAT(text, testing::HasSubstr(b + a));
  ASSERT_OK_AND_ASSIGN(const HloFile other, ReadHlo(proto.SerializeAsString()));
  EXPECT_THAT(PrintModule(*other.module, options), testing::HasSubstr(a + b));
  // A schedule that runs a user before its operand is ignored.
  std::swap(ids[0], ids[1]);
  ASSERT_OK_AND_ASSIGN(const HloFile illegal, ReadHlo(proto.SerializeAsString()));
  EXPECT_EQ(PrintModule(*illegal.module, options), text);
}

}  // namespace
}  // namespace toroid
