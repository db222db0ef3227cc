// BUILD: size = "small"
// Pipelines: order, reports, the verifier between passes.
#include "hlo/passes/pass.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "hlo/passes/dce_pass.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<Module> Program() {
  auto module =
      ParseModule("ENTRY main { x = f32[4] parameter(0) d = f32[4] negate(x) ROOT y = f32[4] sine(x) }");
  EXPECT_OK(module.status());
  return *std::move(module);
}

// Makes the root's shape wrong.
class BreakingPass : public Pass {
 public:
  absl::string_view name() const override { return "breaking"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override {
    (*module)->entry()->root()->mutable_shape().set_dims({5});
    return true;
  }
};

class ReplacingPass : public Pass {
 public:
  absl::string_view name() const override { return "replacing"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override {
    *module = Program();
    (*module)->set_name("other");
    return true;
  }
};

TEST(PassTest, PassesRunInOrderAndSayWhetherTheyChangedAnything) {
  std::unique_ptr<Module> module = Program();
  PassPipeline pipeline;
  pipeline.Add<DcePass>().Add<DcePass>().Add<ReplacingPass>();
  std::vector<std::string> seen;
  PassObserver observer;
  observer.see = [&](absl::string_view pass, const Module& after) {
    seen.push_back(absl::StrCat(pass, " ", after.NumInstructions()));
    return absl::OkStatus();
  };
  ASSERT_OK_AND_ASSIGN(const std::vector<PassReport> reports, pipeline.Run(&module, observer));
  EXPECT_THAT(seen, ElementsAre("dead_code 2", "dead_code 2", "replacing 3"));
  ASSERT_EQ(reports.size(), 3);
  EXPECT_TRUE(reports[0].changed);
  EXPECT_FALSE(reports[1].changed);
  EXPECT_EQ(module->name(), "other");
}

TEST(PassTest, TheVerifierNamesThePassThatBrokeTheModule) {
  std::unique_ptr<Module> module = Program();
  PassPipeline pipeline;
  pipeline.Add<DcePass>().Add<BreakingPass>();
  PassObserver observer;
  observer.verify = true;
  EXPECT_THAT(pipeline.Run(&module, observer).status(),
              StatusIs(absl::StatusCode::kInternal, AllOf(HasSubstr("breaking: "), HasSubstr("main/y"))));
  module = Program();
  EXPECT_OK(pipeline.Run(&module).status()) << "nobody asked";
}

TEST(PassTest, AModuleThatPassesGetAsACopyStaysAsItIs) {
  const std::unique_ptr<Module> source = Program();
  std::unique_ptr<Module> result;
  PassPipeline editing;
  editing.Add<DcePass>().Add<DcePass>();
  ASSERT_OK_AND_ASSIGN(const std::vector<PassReport> reports, editing.RunOnCopy(*source, &result));
  EXPECT_TRUE(reports[0].changed);
  EXPECT_FALSE(reports[1].changed);
  EXPECT_EQ(result->NumInstructions(), 2);
  EXPECT_EQ(source->NumInstructions(), 3);
  // Also without changes the result is another module.
  PassPipeline again;
  std::unique_ptr<Module> same;
  ASSERT_OK(again.Add<DcePass>().RunOnCopy(*result, &same).status());
  EXPECT_NE(same, result);
  EXPECT_EQ(PrintModule(*same), PrintModule(*result));
}

TEST(PassTest, ARebuildingPassTakesTheModuleWhereItStands) {
  class Renaming : public RebuildingPass {
   public:
    absl::string_view name() const override { return "renaming"; }
    absl::StatusOr<std::unique_ptr<Module>> Rebuild(const Module& source) override {
      if (source.name() == "renamed") return std::unique_ptr<Module>();
      std::unique_ptr<Module> renamed = Program();
      renamed->set_name("renamed");
      return renamed;
    }
  };
  const std::unique_ptr<Module> source = Program();
  std::unique_ptr<Module> result;
  std::vector<const Module*> seen;
  PassObserver observer;
  observer.see = [&](absl::string_view, const Module& after) {
    seen.push_back(&after);
    return absl::OkStatus();
  };
  PassPipeline pipeline;
  ASSERT_OK_AND_ASSIGN(const std::vector<PassReport> reports,
                       pipeline.Add<Renaming>().Add<Renaming>().RunOnCopy(*source, &result, observer));
  EXPECT_TRUE(reports[0].changed);
  EXPECT_FALSE(reports[1].changed);
  EXPECT_EQ(result->name(), "renamed");
  EXPECT_THAT(seen, ElementsAre(result.get(), result.get()));
}

TEST(PassTest, AListOfNamesMakesAPipeline) {
  constexpr NamedPass kKnown[] = {{"dead_code", MakePass<DcePass>}, {"replacing", MakePass<ReplacingPass>}};
  ASSERT_OK_AND_ASSIGN(PassPipeline pipeline, MakePipeline({"replacing", "dead_code", "replacing"}, kKnown));
  std::unique_ptr<Module> module = Program();
  ASSERT_OK_AND_ASSIGN(const std::vector<PassReport> reports, pipeline.Run(&module));
  std::vector<std::string> names;
  for (const PassReport& report : reports) names.push_back(report.pass);
  EXPECT_THAT(names, ElementsAre("replacing", "dead_code", "replacing"));
  EXPECT_THAT(MakePipeline({"fusion"}, kKnown).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("there is no pass 'fusion'; there are dead_code, replacing")));
}

// Names itself by its numbers.
class Numbered : public Pass {
 public:
  explicit Numbered(absl::Span<const int64_t> numbers) : name_(absl::StrJoin(numbers, ",")) {}
  absl::string_view name() const override { return name_; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>*) override { return false; }

 private:
  const std::string name_;
};

TEST(PassTest, AnEntryOfAListSetsTheOptionsOfItsPass) {
  constexpr PassOption kOptions[] = {{"bytes", 7}, {"sides", 1, 1, 2}};
  const NamedPass known[] = {{"dead_code", MakePass<DcePass>},
                             {"numbered",
                              [](absl::Span<const int64_t> numbers) -> std::unique_ptr<Pass> {
                                return std::make_unique<Numbered>(numbers);
                              },
                              kOptions}};
  ASSERT_OK_AND_ASSIGN(PassPipeline pipeline, MakePipeline({"numbered", "numbered:sides=2:bytes=3K",
                                                            "numbered:bytes=4G", "numbered:bytes=0"},
                                                           known));
  std::unique_ptr<Module> module = Program();
  ASSERT_OK_AND_ASSIGN(const std::vector<PassReport> reports, pipeline.Run(&module));
  std::vector<std::string> names;
  for (const PassReport& report : reports) names.push_back(report.pass);
  EXPECT_THAT(names, ElementsAre("7,1", "3072,2", "4294967296,1", "0,1"));
  const std::pair<const char*, const char*> kWrong[] = {
      {"dead_code:bytes=4", "pass 'dead_code:bytes=4': the pass has no options"},
      {"dead_code:4", "the pass has no options"},
      {"numbered:4", "there is no option '4'; there are bytes, sides"},
      {"numbered:size=4", "there is no option 'size'; there are bytes, sides"},
      {"numbered:", "there is no option ''"},
      {"numbered:bytes", "expected bytes=NUMBER, 0 or more"},
      {"numbered:bytes=", "expected bytes=NUMBER, 0 or more"},
      {"numbered:bytes=K", "expected bytes=NUMBER, 0 or more"},
      {"numbered:bytes=few", "expected bytes=NUMBER, 0 or more"},
      {"numbered:bytes=-1", "expected bytes=NUMBER, 0 or more"},
      {"numbered:bytes=99999999999G", "expected bytes=NUMBER, 0 or more"},
      {"numbered:sides=3", "expected sides=NUMBER, from 1 to 2"},
  };
  for (const auto& [entry, message] : kWrong) {
    EXPECT_THAT(MakePipeline({entry}, known).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
        << entry;
  }
}

TEST(PassTest, ErrorsOfAfterPassEndThePipeline) {
  std::unique_ptr<Module> module = Program();
  PassPipeline pipeline;
  pipeline.Add<DcePass>();
  PassObserver observer;
  observer.see = [](absl::string_view, const Module&) { return absl::UnavailableError("disk full"); };
  EXPECT_THAT(pipeline.Run(&module, observer).status(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("disk full")));
}

}  // namespace
}  // namespace toroid
