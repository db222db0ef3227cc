// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:hlo_text"]
// Modules through every format and back: the same text each time.
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

}  // namespace
}  // namespace toroid
