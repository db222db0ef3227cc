// Small modules of rare forms: each is read, partitioned, written and read again, and gives the result of one
// device.
// BUILD: data = ["//tests/corpus:forms"]
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/corpus_files.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Calls of targets whose meaning is not public.
bool IsOpaque(const std::string& text) {
  return absl::StrContains(text, "lapack_like") || absl::StrContains(text, "log_to_disk") ||
         absl::StrContains(text, "\"Pin\"") || absl::StrContains(text, "b(f32");
}

TEST(FormsTest, EachIsPartitionedWrittenAndReadBack) {
  for (const std::string& path : CorpusFiles("forms", ".hlo")) {
    SCOPED_TRACE(path);
    const absl::StatusOr<HloFile> file = ReadHloFile(path);
    ASSERT_OK(file.status());
    ASSERT_OK(VerifyModule(*file->module));
    PartitionOptions options;
    absl::StatusOr<Partitioned> partitioned = PartitionModule(*file->module, options);
    ASSERT_OK(partitioned.status());
    ASSERT_OK(VerifyModule(*partitioned->module));
    const std::string text = PrintModule(*partitioned->module);
    const absl::StatusOr<std::unique_ptr<Module>> again = ParseModule(text);
    ASSERT_OK(again.status());
    EXPECT_EQ(PrintModule(**again), text);
    HloFile out;
    out.container = Container::kProto;
    out.module = std::move(partitioned->module);
    const absl::StatusOr<std::string> bytes = SerializeHlo(out, Format::kContainer);
    ASSERT_OK(bytes.status());
    const absl::StatusOr<HloFile> read = ReadHlo(*bytes);
    ASSERT_OK(read.status());
    EXPECT_OK(VerifyModule(*read->module));
  }
}

TEST(FormsTest, EachGivesWhatItGivesOnOneDevice) {
  int runs = 0;
  for (const std::string& path : CorpusFiles("forms", ".hlo")) {
    SCOPED_TRACE(path);
    const std::string text = ReadCorpusFile(path);
    const absl::StatusOr<HloFile> file = ReadHloFile(path);
    ASSERT_OK(file.status());
    // On one device there are no manual regions.
    if (IsOpaque(text) || absl::StrContains(text, "SPMDFullToShardShape")) continue;
    ++runs;
    const std::vector<Literal> arguments = IntegerArguments(*file->module);
    const absl::StatusOr<Literal> expected = RunSingle(*file->module, arguments);
    ASSERT_OK(expected.status());
    const absl::StatusOr<Literal> actual = PartitionAndRun(*file->module, PartitionOptions(), arguments);
    ASSERT_OK(actual.status());
    // Sums may be reduced after a multiplication, which rounds differently.
    EXPECT_TRUE(Compare(*actual, *expected, /*tolerance=*/1e-6).equal);
  }
  EXPECT_GE(runs, 10);
}

}  // namespace
}  // namespace toroid
