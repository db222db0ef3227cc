// hlo-run --transport=mpi as a user sees it: the result equals that of one process; a failing rank is named.
// BUILD: size = "medium"
// BUILD: tags = ["exclusive"]
// BUILD: data = ["//runtime:hlo-run", "//tests/corpus:jax"]
#include <unistd.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "nlohmann/json.hpp"
#include "tests/commands/command_runner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char kModel[] = "tests/corpus/jax/moe_layer_forward.gspmd.snapshot.pb";

// Adds over four devices in an endless loop: floats in the runtime's order, integers by the library's own
// all-reduce.
std::string Endless(const std::string& type) {
  return absl::StrReplaceAll(R"(HloModule endless, num_partitions=4
add { a = TYPE[] parameter(0) b = TYPE[] parameter(1) ROOT c = TYPE[] add(a, b) }
body { x = TYPE[1000] parameter(0)
       p = u32[] partition-id()
       t = TYPE[] convert(p)
       d = TYPE[1000] broadcast(t), dimensions={}
       z = TYPE[1000] add(x, d)
       ROOT y = TYPE[1000] all-reduce(z), to_apply=add, channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true }
condition { x = TYPE[1000] parameter(0) ROOT t = pred[] constant(true) }
ENTRY main { x = TYPE[1000] parameter(0), sharding={replicated}
             ROOT y = TYPE[1000] while(x), body=body, condition=condition, sharding={replicated} }
)",
                             {{"TYPE", type}});
}

std::string Executable() {
  char folder[4096] = {};
  EXPECT_NE(getcwd(folder, sizeof(folder) - 1), nullptr);
  return absl::StrCat(folder, "/runtime/hlo-run ");
}

// A command line in which only rank 2 is preceded by `before`.
std::string OnlyOnRankTwo(const std::string& before, const std::string& arguments) {
  return absl::StrCat("sh -c 'if [ $OMPI_COMM_WORLD_RANK = 2 ]; then ", before, "; fi; exec ", Executable(),
                      arguments, "'");
}

int Running(const std::string& what) {
  return std::atoi(RunShell(absl::StrCat("pgrep -fc '[h]lo-run ", what, "'")).out.c_str());
}

TEST(HloRunMpiTest, ResultsAreThoseOfOneProcess) {
  const std::string local = TempPath("local.snapshot.pb");
  ASSERT_EQ(RunShell(absl::StrCat(Executable(), kModel, " -o ", local)).exit, 0);
  ASSERT_OK_AND_ASSIGN(const std::string expected, ReadFile(local));
  for (const int ranks : {1, 3, 4}) {
    const std::string path = TempPath(absl::StrCat("ranks", ranks, ".snapshot.pb"));
    const Outcome outcome = RunShell(
        absl::StrCat(Mpirun(), "-n ", ranks, " ", Executable(), kModel, " --transport=mpi -o ", path));
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    ASSERT_OK_AND_ASSIGN(const std::string actual, ReadFile(path));
    EXPECT_TRUE(actual == expected) << ranks << " ranks";
  }
}

TEST(HloRunMpiTest, CheckPrintsOneLine) {
  const Outcome outcome =
      RunShell(absl::StrCat(Mpirun(), "-n 4 ", Executable(), kModel, " --transport=mpi --check"));
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(json.is_object()) << outcome.out;
  EXPECT_EQ(json["equal"], true);
  EXPECT_GT(json["num_partitions"], 1);
}

TEST(HloRunMpiTest, RanksWithOtherFlagsOrFilesAreToldApart) {
  const std::string module = TempFile("endless.hlo", Endless("f32"));
  Outcome outcome = RunShell(absl::StrCat(Mpirun(), "-n 1 ", Executable(), module, " --transport=mpi : -n 1 ",
                                          Executable(), module, " --transport=mpi --seed=7"));
  EXPECT_NE(outcome.exit, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("rank 1 was started with other flags"), HasSubstr("--seed=7")));

  ASSERT_EQ(RunShell(absl::StrCat("mkdir -p ", TempPath("a"), " ", TempPath("b"))).exit, 0);
  TempFile("a/m.hlo", Endless("f32"));
  TempFile("b/m.hlo", Endless("f32").substr(0, 200));
  outcome = RunShell(absl::StrCat(Mpirun(), "-n 2 -wdir ", TempPath("a"), " ", Executable(),
                                  "m.hlo --transport=mpi : -n 1 -wdir ", TempPath("b"), " ", Executable(),
                                  "m.hlo --transport=mpi"));
  EXPECT_NE(outcome.exit, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("m.hlo: rank 2 has another file than rank 0: 200 bytes"),
                                 HasSubstr("give all ranks the same files")));

  // The same module; one rank's file of arguments is truncated.
  TempFile("b/m.hlo", Endless("f32"));
  TempFile("a/x.npy", std::string(4096, 'x'));
  TempFile("b/x.npy", std::string(100, 'x'));
  const std::string run = absl::StrCat(Executable(), "m.hlo --args=x.npy --transport=mpi");
  outcome = RunShell(absl::StrCat(Mpirun(), "-n 1 -wdir ", TempPath("a"), " ", run, " : -n 1 -wdir ",
                                  TempPath("b"), " ", run));
  EXPECT_NE(outcome.exit, 0);
  EXPECT_THAT(outcome.err, HasSubstr("x.npy: rank 1 has another file than rank 0: 100 bytes"));
}

void ExpectKilledRankIsNamed(const std::string& type) {
  const std::string module = TempFile(absl::StrCat("killed_", type, ".hlo"), Endless(type)),
                    process = TempPath(absl::StrCat("process_", type));
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = RunShell(absl::StrCat(
      "(while [ ! -s ", process, " ]; do sleep 0.1; done; sleep 3; kill -9 $(cat ", process, ")) & ",
      Mpirun(), "-n 4 ",
      OnlyOnRankTwo(absl::StrCat("echo $$ > ", process), absl::StrCat(module, " --transport=mpi"))));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_NE(outcome.exit, 0);
  for (const int rank : {0, 1, 3})
    EXPECT_THAT(outcome.err, HasSubstr(absl::StrCat("rank ", rank, ": rank 2 (process "))) << outcome.err;
  EXPECT_LT(seconds, 30);
  EXPECT_EQ(Running(module), 0);
}

TEST(HloRunMpiTest, AKilledRankIsNamedAndNothingStays) {
  ExpectKilledRankIsNamed("f32");
  ExpectKilledRankIsNamed("s32");
}

void ExpectRankOutOfMemoryIsNamed(const std::string& type) {
  const std::string small =
      TempFile(absl::StrCat("small_", type, ".hlo"), absl::StrReplaceAll(R"(HloModule small, num_partitions=4
add { a = TYPE[] parameter(0) b = TYPE[] parameter(1) ROOT c = TYPE[] add(a, b) }
ENTRY main { i = u32[] partition-id() f = TYPE[] convert(i)
             x = TYPE[20000000] broadcast(f), dimensions={}
             ROOT y = TYPE[20000000] all-reduce(x), to_apply=add, channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, sharding={replicated} })",
                                                                         {{"TYPE", type}}));
  const Outcome outcome = RunShell(absl::StrCat(
      Mpirun(), "-n 4 ",
      OnlyOnRankTwo("ulimit -d 150000", absl::StrCat(small, " --transport=mpi -o ", TempPath("o.npz")))));
  EXPECT_NE(outcome.exit, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("rank 2: "), HasSubstr("out of memory"))) << outcome.err;
  EXPECT_EQ(Running(small), 0);
}

TEST(HloRunMpiTest, ARankOutOfMemoryIsNamedAndNothingStays) {
  ExpectRankOutOfMemoryIsNamed("f32");
  ExpectRankOutOfMemoryIsNamed("s32");
}

TEST(HloRunMpiTest, AFullDiskIsAnErrorOfTheFirstRank) {
  const Outcome outcome =
      RunShell(absl::StrCat(Mpirun(), "-n 4 ", Executable(), kModel, " --transport=mpi -o /dev/full"));
  EXPECT_NE(outcome.exit, 0);
  EXPECT_THAT(outcome.err, HasSubstr("/dev/full: "));
  EXPECT_EQ(Running(kModel), 0);
}

TEST(HloRunMpiTest, WithoutMpirunItRunsOnOneRank) {
  const Outcome outcome =
      RunShell(absl::StrCat(MpiFolder(), Executable(), kModel, " --transport=mpi --check"));
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_EQ(RunShell(absl::StrCat(Executable(), kModel, " --transport=pigeon")).exit, 2);
}

}  // namespace
}  // namespace toroid
