// Pages that hlo-diff --html writes, opened and used in headless Chromium by page_check.py: nothing on the console, nothing
// fetched; choosing, sorting, finding, opening, links, keys and the theme work, down to a width of 400 pixels.
//
//   bazel test //tests/explain/diff/page:page_test --test_output=all
// Not part of //...: it needs chromium, chromium-driver and python3-selenium (setup.sh --test), and a minute.
// BUILD: size = "medium"
// BUILD: tags = ["local", "manual"]
// BUILD: data = ["page_check.py", "//tests/pages:browser.py", "//explain:hlo-diff", "//partitioner:hlo-partition", "//tests/corpus:jax", "//tests/corpus:xla_partitioned"]
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/commands/command_runner.h"

namespace toroid {
namespace {

const char kTheirs[] = "tests/corpus/xla_partitioned/lm_fsdp_tensor_parallel.shardy.spmd.hlo.pb.gz";

std::string Ours() {
  const std::string path = TempPath("ours.hlo.pb");
  EXPECT_EQ(
      RunShell(
          absl::StrCat("partitioner/hlo-partition tests/corpus/jax/lm_fsdp_tensor_parallel.shardy.hlo.pb -o ",
                       path))
          .exit,
      0);
  return path;
}

void ExpectPageWorks(const std::string& programs, int exit, const std::string& name,
                     const std::string& flags) {
  const std::string page = TempPath(name + ".html");
  const Outcome written = RunShell(absl::StrCat("explain/hlo-diff ", programs, " --html=", page));
  ASSERT_EQ(written.exit, exit) << written.err;
  const Outcome checked = RunShell(
      absl::StrCat("/usr/bin/python3 tests/explain/diff/page/page_check.py ", page, " --within=2 ", flags));
  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
  EXPECT_EQ(checked.out, name + ".html: ok\n");
}

TEST(PageTest, ADifferenceFromXlaCanBeRead) { ExpectPageWorks(Ours() + " " + kTheirs, 1, "xla", ""); }

TEST(PageTest, PredictedTimesCanBeReadInTheDark) {
  ExpectPageWorks(absl::StrCat(Ours(), " ", kTheirs, " --machine=tpu-v3-8"), 1, "timed",
                  "--dark --width=900");
}

TEST(PageTest, ADifferenceCanBeReadOnAPhone) {
  ExpectPageWorks(absl::StrCat(kTheirs, " ", Ours()), 1, "phone", "--width=400");
}

TEST(PageTest, AProgramBesideItselfCanBeRead) {
  ExpectPageWorks(absl::StrCat(kTheirs, " ", kTheirs), 0, "same", "");
}

TEST(PageTest, NamesThatLookLikeMarkupAreShownAsText) {
  const auto program = [](const std::string& groups) {
    const std::string evil = "</script><script>throw 1</script><!--<img src=x onerror='throw 2'>";
    return TempFile(
        absl::StrCat("evil", groups.size(), ".hlo"),
        absl::StrCat(
            "HloModule evil, num_partitions=8\n"
            "add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }\n"
            "ENTRY main {\n  x = f32[64] parameter(0)\n  ROOT y = f32[64] all-reduce(x), replica_groups=",
            groups, ", channel_id=1, use_global_device_ids=true, to_apply=add, metadata={op_name=\"jit(f)/",
            evil, "\" source_file=\"", evil, "\" source_line=3}\n}\n"));
  };
  ExpectPageWorks(absl::StrCat(program("[1,8]<=[8]"), " ", program("[2,4]<=[8]T(0)"),
                               " --label \"<b>a\" --label \"</script>b\""),
                  1, "evil", "");
}

// Tens of thousands of rows, of which few are drawn.
TEST(PageTest, ALargeDifferenceCanBeRead) {
  const auto program = [](const std::string& group, const std::string& name) {
    std::string text =
        "HloModule big, num_partitions=8\nadd { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }\n"
        "ENTRY main {\n  x0 = f32[64] parameter(0)\n";
    constexpr int kOps = 10000;
    for (int i = 1; i <= kOps; ++i) {
      absl::StrAppend(
          &text, i == kOps ? "  ROOT x" : "  x", i, " = f32[64] all-reduce(x", i - 1,
          "), replica_groups=", group, ", channel_id=", i,
          ", use_global_device_ids=true, to_apply=add, metadata={op_name=\"jit(f)/sum\" source_file=\"model.py\" source_line=",
          i, "}\n");
    }
    return TempFile(name, text + "}\n");
  };
  ExpectPageWorks(absl::StrCat(program("[1,8]<=[8]", "one.hlo"), " ", program("[2,4]<=[8]", "two.hlo")), 1,
                  "big", "");
}

}  // namespace
}  // namespace toroid
