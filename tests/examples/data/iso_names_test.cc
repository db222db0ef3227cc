#include "examples/data/iso_names.h"

#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "tests/examples/data/catalog_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A package in which two lists have names and the others are empty.
IsoFolders SmallPackage(const std::string& name) {
  const std::string root = TestFolder(name);
  const IsoFolders folders = {root + "/json", root + "/locale"};
  for (const char* list :
       {"iso_3166-1", "iso_3166-3", "iso_639-2", "iso_639-3", "iso_639-5", "iso_15924", "iso_4217"}) {
    WriteTestFile(absl::StrCat(folders.json, "/", list, ".json"), R"({"x": []})");
  }
  WriteTestFile(
      folders.json + "/iso_3166-1.json",
      R"({"3166-1": [{"name": "Spain", "official_name": "Kingdom of Spain", "numeric": 7}, {"name": "Peru"}, 3]})");
  WriteTestFile(folders.json + "/iso_639-2.json", R"({"639-2": [{"name": "German"}, {"name": "Spain"}]})");
  return folders;
}

TEST(IsoNamesTest, NamesOfAllListsAreCollectedOnceUnlessSpelledAsInEnglish) {
  const IsoFolders folders = SmallPackage("collected");
  WriteCatalog(folders.locales, "fr", "iso_639-2", {{"German", "allemand"}, {"Spain", "Espagne"}});
  WriteCatalog(folders.locales, "fr", "iso_3166-1",
               {{"Spain", "Espagne"}, {"Kingdom of Spain", "Royaume d'Espagne"}});
  WriteCatalog(folders.locales, "de", "iso_3166-1", {{"Spain", "Spanien"}, {"Peru", "Peru"}});
  ASSERT_OK_AND_ASSIGN(const Corpus corpus, ReadIsoNames(folders));
  EXPECT_THAT(corpus.languages, ElementsAre("de", "fr"));
  std::set<std::tuple<int, std::string, std::string>> sentences;
  for (const Sentence& s : corpus.sentences) sentences.emplace(s.language, s.source, s.english);
  EXPECT_EQ(sentences.size(), corpus.sentences.size());
  EXPECT_THAT(sentences, ElementsAre(std::tuple(0, "Spanien", "Spain"), std::tuple(1, "Espagne", "Spain"),
                                     std::tuple(1, "Royaume d'Espagne", "Kingdom of Spain"),
                                     std::tuple(1, "allemand", "German")));
}

TEST(IsoNamesTest, PackageWithoutTranslationsSaysWhatToDo) {
  EXPECT_THAT(ReadIsoNames(SmallPackage("bare")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("./setup.sh")));
}

TEST(IsoNamesTest, FileThatIsNoListIsNamed) {
  const IsoFolders folders = SmallPackage("broken");
  for (const char* text : {"", "{", "[]", R"({"a": [], "b": []})", R"({"a": {}})"}) {
    WriteTestFile(folders.json + "/iso_639-3.json", text);
    EXPECT_THAT(ReadIsoNames(folders),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("iso_639-3.json: ")))
        << text;
  }
}

TEST(IsoNamesTest, InstalledPackageHasManyLanguages) {
  const auto folders = FindIsoNames();
  ASSERT_OK(folders) << "these tests need what ./setup.sh installs";
  ASSERT_OK_AND_ASSIGN(const Corpus corpus, ReadIsoNames(*folders));
  EXPECT_GT(corpus.languages.size(), 100);
  EXPECT_GT(corpus.sentences.size(), 100000);
  ASSERT_OK_AND_ASSIGN(const Corpus again, ReadIsoNames(*folders));
  EXPECT_EQ(again.languages, corpus.languages);
  ASSERT_EQ(again.sentences.size(), corpus.sentences.size());
  for (size_t i = 0; i < corpus.sentences.size(); ++i)
    ASSERT_EQ(again.sentences[i].source, corpus.sentences[i].source);
}

}  // namespace
}  // namespace toroid
