// Pages that hlo-partition --html writes, opened and used in headless Chromium by page_check.py: nothing on the console,
// nothing fetched; sorting, finding, links, keys, the theme, graphs, the mesh and the source work, down to a width of 400
// pixels.
//
//   bazel test //tests/explain/page:page_test --test_output=all
// Not part of //...: it needs chromium, chromium-driver and python3-selenium (setup.sh --test), and a minute.
// BUILD: size = "medium"
// BUILD: tags = ["local", "manual"]
// BUILD: data = ["page_check.py", "//tests/pages:browser.py", "//partitioner:hlo-partition", "//tests/corpus:full_size", "//tests/corpus:jax"]
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "tests/commands/command_runner.h"

namespace toroid {
namespace {

void ExpectPageWorks(const std::string& module, const std::string& name, const std::string& flags) {
  const std::string page = TempPath(name + ".html");
  const Outcome written =
      RunShell(absl::StrCat("partitioner/hlo-partition ", module, " --strategies=none --html=", page));
  ASSERT_EQ(written.exit, 0) << written.err;
  const Outcome checked =
      RunShell(absl::StrCat("/usr/bin/python3 tests/explain/page/page_check.py ", page, " ", flags));
  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.out, name + ".html: ok\n");
}

// A layer over a mesh of 4 by 8 devices, whose output is summed over "model".
std::string Layer(const std::string& weight, const std::string& file) {
  const std::string mesh = "mesh['data'=4,'model'=8]";
  return absl::StrCat(
      "HloModule layer\nENTRY main {\n  x = f32[64,128] parameter(0), sharding={", mesh,
      ", [{'data'}, {}]}\n  w1 = f32[128,512] parameter(1), sharding={", mesh,
      ", [{}, {'model'}]}, metadata={op_name=\"", weight, "\"}\n  w2 = f32[512,130] parameter(2), sharding={",
      mesh,
      ", [{'model'}, {}]}\n"
      "  h = f32[64,512] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  a = f32[64,512] tanh(h)\n"
      "  ROOT y = f32[64,130] dot(a, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
      "sharding={",
      mesh, ", [{'data'}, {}]}, metadata={op_name=\"layer/dot\" source_file=\"", file,
      "\" source_line=3}\n}\n");
}

TEST(PageTest, ATrainingStepCanBeRead) {
  ExpectPageWorks("tests/corpus/jax/moe_transformer_train.gspmd.snapshot.pb", "train", "");
}

TEST(PageTest, AFullSizeTrainingStepCanBeReadInTheDark) {
  ExpectPageWorks("tests/corpus/full_size/moe_2048e_36l_train.gspmd.hlo.pb", "full_size",
                  "--dark --width=900");
}

TEST(PageTest, ALoopOverLayersCanBeReadOnAPhone) {
  ExpectPageWorks("tests/corpus/jax/lm_scan_layers.gspmd.snapshot.pb", "scan", "--width=400");
}

TEST(PageTest, APredictedStepCanBeRead) {
  ExpectPageWorks("tests/corpus/jax/moe_transformer_train.gspmd.snapshot.pb --machine=tpu-v3-8", "predicted",
                  "");
}

TEST(PageTest, AProgramWithoutCollectivesCanBeRead) {
  const std::string module = TempFile(
      "alone.hlo", "HloModule alone\nENTRY main {\n  x = f32[64,128] parameter(0)\n  ROOT y = tanh(x)\n}\n");
  ExpectPageWorks(module, "alone", "");
}

TEST(PageTest, SourceThatIsAtHandIsShown) {
  const std::string file =
      TempFile("model.py", "def layer(x, w1, w2):\n  a = tanh(x @ w1)\n  return a @ w2\n");
  ExpectPageWorks(TempFile("layer.hlo", Layer("params['w_up']", file)), "layer", "");
}

TEST(PageTest, NamesThatLookLikeMarkupAreShownAsText) {
  const std::string file =
      TempFile("evil.py", "# </script><script>document.title = 'evil'</script>\n<!--\n&lt;<b>\n");
  ExpectPageWorks(
      TempFile("evil.hlo", Layer("</script><script>throw 1</script><!--<img src=x onerror='throw 2'>", file)),
      "evil", "");
}

TEST(PageTest, AHundredThousandInstructionsCanBeRead) {
  std::string text =
      "HloModule big\nENTRY main {\n"
      "  x0 = f32[64,128] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}\n"
      "  w = f32[128,128] parameter(1), sharding={devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}\n";
  constexpr int kLayers = 2100;
  for (int i = 0; i < kLayers; ++i) {
    const std::string metadata =
        absl::StrFormat("metadata={op_name=\"part_%c/step\" source_file=\"model.py\" source_line=%d}",
                        'a' + i % 26, 10 + i % 90);
    std::string last = absl::StrCat("x", i);
    for (int k = 0; k < 47; ++k) {
      absl::StrAppend(&text, "  t", i, "_", k, " = f32[64,128] ", k % 2 == 0 ? "tanh(" : "cosine(", last,
                      "), ", metadata, "\n");
      last = absl::StrCat("t", i, "_", k);
    }
    absl::StrAppend(&text, i + 1 == kLayers ? "  ROOT x" : "  x", i + 1, " = f32[64,128] dot(", last,
                    ", w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, ", metadata, "\n");
  }
  ExpectPageWorks(TempFile("big.hlo", text + "}\n"), "big", "");
}

}  // namespace
}  // namespace toroid
