#include "examples/data/gettext_catalog.h"

#include <algorithm>
#include <string>

#include "hlo/base/files.h"
#include "tests/examples/data/catalog_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(GettextCatalogTest, MessagesComeWithTheirTranslations) {
  const std::string folder = TestFolder("languages");
  WriteCatalog(folder, "de", "names", {{"Spain", "Spanien"}, {"Japan", "Japan"}});
  WriteCatalog(folder, "ja", "names", {{"Spain", "スペイン"}});
  EXPECT_THAT(CatalogLanguages(folder, "names"), ElementsAre("de", "ja"));
  EXPECT_THAT(ReadCatalog(folder, "de", "names"),
              IsOkAndHolds(UnorderedElementsAre(Pair("Spain", "Spanien"), Pair("Japan", "Japan"))));
  EXPECT_THAT(ReadCatalog(folder, "ja", "names"),
              IsOkAndHolds(UnorderedElementsAre(Pair("Spain", "スペイン"))));
}

TEST(GettextCatalogTest, OfPluralFormsTheSingularIsTakenAndContextsAreLeftOut) {
  const std::string folder = TestFolder("forms");
  WriteCatalog(folder, "de", "names",
               {{std::string("day\0days", 8), std::string("Tag\0Tage", 8)}, {"menu\4open", "öffnen"}});
  EXPECT_THAT(ReadCatalog(folder, "de", "names"), IsOkAndHolds(UnorderedElementsAre(Pair("day", "Tag"))));
}

TEST(GettextCatalogTest, EitherByteOrderIsRead) {
  const std::string folder = TestFolder("order");
  WriteCatalog(folder, "de", "names", {{"Spain", "Spanien"}});
  ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(folder + "/de/LC_MESSAGES/names.mo"));
  for (int word = 0; word < 7 + 4 * 2; ++word)
    std::reverse(bytes.begin() + 4 * word, bytes.begin() + 4 * word + 4);
  EXPECT_THAT(ParseCatalog(bytes), IsOkAndHolds(UnorderedElementsAre(Pair("Spain", "Spanien"))));
}

TEST(GettextCatalogTest, AnotherEncodingIsRefused) {
  const std::string folder = TestFolder("encoding");
  WriteCatalog(folder, "de", "names", {{"", "Content-Type: text/plain; charset=ISO-8859-1\n"}});
  EXPECT_THAT(ReadCatalog(folder, "de", "names"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("names.mo: is not encoded")));
}

// Every byte flipped, every length truncated: an error, or other texts.
TEST(GettextCatalogTest, DamageDoesNoHarm) {
  const std::string folder = TestFolder("damage");
  WriteCatalog(folder, "de", "names", {{"Spain", "Spanien"}, {"Japan", "Japan"}});
  ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(folder + "/de/LC_MESSAGES/names.mo"));
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      ParseCatalog(bytes).status().IgnoreError();
    }
    // The last byte is the zero after the last text.
    if (i + 1 < whole.size()) {
      EXPECT_FALSE(ParseCatalog(whole.substr(0, i)).ok()) << i;
    }
  }
}

TEST(GettextCatalogTest, WhatIsNotThereHasNoLanguagesAndIsNotFound) {
  EXPECT_THAT(CatalogLanguages("/nowhere/at/all", "names"), IsEmpty());
  EXPECT_THAT(ReadCatalog("/nowhere/at/all", "de", "names"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace toroid
