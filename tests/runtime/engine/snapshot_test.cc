// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax"]
// Programs lowered by JAX, run on one device, give the recorded results.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hlo/io/module_proto.h"
#include "hlo/proto/hlo.pb.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

class SnapshotTest : public testing::TestWithParam<std::string> {};

TEST_P(SnapshotTest, UnpartitionedRunGivesTheRecordedResult) {
  xla::HloSnapshot snapshot;
  ASSERT_TRUE(snapshot.ParseFromString(ReadCorpusFile(GetParam())));
  ASSERT_OK_AND_ASSIGN(const auto module, ReadModuleProto(snapshot.hlo().hlo_module().SerializeAsString()));
  std::vector<Literal> arguments;
  for (const xla::LiteralProto& proto : snapshot.arguments()) {
    ASSERT_OK_AND_ASSIGN(Literal argument, Literal::FromProto(proto));
    arguments.push_back(std::move(argument));
  }
  ASSERT_OK_AND_ASSIGN(const Literal expected, Literal::FromProto(snapshot.result()));
  ASSERT_OK_AND_ASSIGN(const Literal actual, RunSingle(*module, arguments));
  const Comparison comparison = Compare(actual, expected);
  for (size_t i = 0; i < comparison.outputs.size(); ++i) {
    const ArrayComparison& output = comparison.outputs[i];
    EXPECT_TRUE(output.equal) << "output " << i << " at " << output.difference << ", relative error "
                              << output.max_rel_error;
  }
}

std::vector<std::string> UnpartitionedSnapshots() {
  std::vector<std::string> paths;
  for (std::string& path : CorpusFiles("jax", ".snapshot.pb")) {
    // Bodies of manual regions are per device, so they need partitioning.
    if (!absl::StrContains(path, "manual_")) paths.push_back(std::move(path));
  }
  return paths;
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  const size_t begin = info.param.rfind('/') + 1;
  return info.param.substr(begin, info.param.find('.', begin) - begin);
}

INSTANTIATE_TEST_SUITE_P(Jax, SnapshotTest, testing::ValuesIn(UnpartitionedSnapshots()), NameOf);

}  // namespace
}  // namespace toroid
