// mpi_ranks: compares runs over the ranks of mpirun with those of one process.
//
//   mpirun -n 4 mpi_ranks --corpus            every program of tests/corpus/jax
//   mpirun -n 3 mpi_ranks --random=2000       2000 random programs
//   mpirun -n 4 mpi_ranks --moe=2048          an MoE layer with 2048 experts, one on each device
// With --max_message=1000 larger messages are sent in parts, as messages beyond 1 GiB are otherwise.
// Prints how many are equal; exit status 1 if one is not.
#include <cstdio>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"
#include "runtime/partitioned/ranks_run.h"
#include "runtime/transport/run_on_mpi.h"
#include "tests/runtime/ranks/compare_with_ranks.h"

namespace {

absl::Status Report(const toroid::RanksReport& report, int ranks) {
  if (!report.differences.empty())
    return absl::FailedPreconditionError(absl::StrJoin(report.differences, "\n"));
  std::printf("%d programs equal over %d ranks\n", report.programs, ranks);
  return absl::OkStatus();
}

}  // namespace

// Suppressions for ThreadSanitizer: Open MPI's transports take their own locks in different orders when they
// send and when they progress. Only their lock orders are suppressed: races are reported everywhere.
// Source: https://clang.llvm.org/docs/ThreadSanitizer.html, "deadlock:".
extern "C" const char* __tsan_default_suppressions() {  // NOLINT: the name is the sanitizer's.
  return "deadlock:mca_btl_\ndeadlock:mca_pml_\ndeadlock:libopen-pal\ndeadlock:libmpi\n";
}

int main(int argc, char** argv) {
  CLI::App app("Compares runs over the ranks of mpirun with those of one process.", "mpi_ranks");
  bool corpus = false;
  uint64_t from = 0, random = 0;
  int64_t moe = 0, max_message = int64_t{1} << 30;
  app.add_flag("--corpus", corpus, "Every program of tests/corpus/jax");
  app.add_option("--random", random, "So many random programs");
  app.add_option("--moe", moe, "An MoE layer with so many experts");
  app.add_option("--from", from, "First seed");
  app.add_option("--max_message", max_message, "Most bytes of a message")->check(CLI::Range(16, 1 << 30));
  return toroid::RunCommand(app, argc, argv, [&] {
    return toroid::RunOnMpi(
        "", {},
        [&](toroid::Transport& transport, int) -> absl::Status {
          if (corpus) RETURN_IF_ERROR(Report(toroid::CompareCorpus(transport), transport.size()));
          if (moe > 0) RETURN_IF_ERROR(Report(toroid::CompareMoeLayer(transport, moe), transport.size()));
          if (random > 0)
            RETURN_IF_ERROR(Report(toroid::CompareRandomPrograms(transport, from, random), transport.size()));
          return toroid::EndRuns(transport);
        },
        [](toroid::Transport& transport, int) {
          toroid::RunOptions options;
          options.transport = &transport;
          options.threads = 1;
          return toroid::ServeRuns(options);
        },
        max_message);
  });
}
