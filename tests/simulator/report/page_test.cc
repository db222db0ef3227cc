// Pages that hlo-simulate writes, opened and used in headless Chromium by page_check.py: nothing on the console, nothing
// fetched, plots drawn, slider, sorting, filters, zoom and selection work.
//
//   bazel test //tests/simulator/report:page_test --test_output=all
// Not part of //...: it needs chromium, chromium-driver and python3-selenium (setup.sh --test), and half a minute.
// BUILD: size = "medium"
// BUILD: tags = ["local", "manual"]
// BUILD: data = ["page_check.py", "//tests/pages:browser.py", "//simulator:hlo-simulate", "//tests/corpus:full_size", "//tests/corpus:jax"]
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/commands/command_runner.h"

namespace toroid {
namespace {

void ExpectPageWorks(const std::string& module, const std::string& name, const std::string& flags) {
  const std::string page = TempPath(name + ".html");
  const Outcome simulated = RunShell(absl::StrCat("simulator/hlo-simulate ", module, " --report=", page));
  ASSERT_EQ(simulated.exit, 0) << simulated.err;
  const Outcome checked =
      RunShell(absl::StrCat("/usr/bin/python3 tests/simulator/report/page_check.py ", page, " ", flags));
  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.out, name + ".html: ok\n");
}

TEST(PageTest, ATrainingStepOnEightDevicesCanBeRead) {
  ExpectPageWorks("tests/corpus/jax/moe_transformer_train.gspmd.snapshot.pb", "train", "");
}

TEST(PageTest, AFullSizeForwardPassCanBeRead) {
  ExpectPageWorks("tests/corpus/full_size/moe_2048e_36l_forward.shardy.hlo.pb", "forward", "");
}

TEST(PageTest, ADarkNarrowPageCanBeRead) {
  ExpectPageWorks("tests/corpus/jax/lm_scan_layers.gspmd.snapshot.pb", "scan", "--dark --width=900");
}

TEST(PageTest, AProgramWithoutCollectivesCanBeRead) {
  const std::string module = TempFile(
      "alone.hlo",
      "HloModule alone\nENTRY main {\n  x = f32[64,128] parameter(0)\n  w = f32[128,256] parameter(1)\n"
      "  ROOT y = f32[64,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n");
  ExpectPageWorks(module, "alone", "");
}

}  // namespace
}  // namespace toroid
