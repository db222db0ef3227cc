// mpi_collectives: collectives of the runtime over MPI beside a plain loop over the MPI call, in the same
// run.
//
//   mpirun -n 4 mpi_collectives [--least=1MiB] [--most=64MiB]
// One device per rank; `bytes` are the bytes of one device's operand. The time of a round is that of the
// slowest rank; both sides alternate, and the median of each counts. GB/s is `bytes` over time, not the bytes
// that cross links.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "runtime/engine/executor.h"
#include "runtime/transport/mpi_library.h"
#include "runtime/transport/run_on_mpi.h"

namespace toroid {
namespace {

using Clock = std::chrono::steady_clock;

struct Case {
  std::string name;
  std::string type;
  std::string body;                                         // $0 elements in, $1 out.
  std::function<int64_t(int64_t elements, int ranks)> out;  // Elements of the result.
  std::function<void(const MpiLibrary&, char* in, char* out, int64_t bytes, int rank, int ranks)> plain;
};

constexpr int kFourBytes = 4;

std::vector<Case> Cases() {
  const auto same = [](int64_t n, int) { return n; };
  const std::string all = "replica_groups={{$3}}, channel_id=1, use_global_device_ids=true";
  return {
      {"all-reduce f32", "f32", absl::StrCat("all-reduce(x), to_apply=add, ", all), same,
       [](const MpiLibrary& mpi, char* in, char* out, int64_t bytes, int, int) {
         mpi.Allreduce(in, out, static_cast<int>(bytes / kFourBytes), mpi.float32, mpi.sum, mpi.world);
       }},
      {"all-reduce s32", "s32", absl::StrCat("all-reduce(x), to_apply=add, ", all), same,
       [](const MpiLibrary& mpi, char* in, char* out, int64_t bytes, int, int) {
         mpi.Allreduce(in, out, static_cast<int>(bytes / kFourBytes), mpi.int32, mpi.sum, mpi.world);
       }},
      {"reduce-scatter f32", "f32", absl::StrCat("reduce-scatter(x), to_apply=add, dimensions={0}, ", all),
       [](int64_t n, int ranks) { return n / ranks; },
       [](const MpiLibrary& mpi, char* in, char* out, int64_t bytes, int, int ranks) {
         mpi.Reduce_scatter_block(in, out, static_cast<int>(bytes / kFourBytes / ranks), mpi.float32, mpi.sum,
                                  mpi.world);
       }},
      {"all-gather", "f32", absl::StrCat("all-gather(x), dimensions={0}, ", all),
       [](int64_t n, int ranks) { return n * ranks; },
       [](const MpiLibrary& mpi, char* in, char* out, int64_t bytes, int, int) {
         mpi.Allgather(in, static_cast<int>(bytes), mpi.byte, out, static_cast<int>(bytes), mpi.byte,
                       mpi.world);
       }},
      {"all-to-all", "f32", "all-to-all(x), dimensions={0}, replica_groups={{$3}}, channel_id=1", same,
       [](const MpiLibrary& mpi, char* in, char* out, int64_t bytes, int, int ranks) {
         mpi.Alltoall(in, static_cast<int>(bytes / ranks), mpi.byte, out, static_cast<int>(bytes / ranks),
                      mpi.byte, mpi.world);
       }},
      {"collective-permute", "f32", "collective-permute(x), channel_id=1, source_target_pairs={$2}", same,
       [](const MpiLibrary& mpi, char* in, char* out, int64_t bytes, int rank, int ranks) {
         mpi.Sendrecv(in, static_cast<int>(bytes), mpi.byte, (rank + 1) % ranks, 1, out,
                      static_cast<int>(bytes), mpi.byte, (rank + ranks - 1) % ranks, 1, mpi.world,
                      MPI_STATUS_IGNORE);
       }},
  };
}

std::string RingOf(int ranks) {
  std::string pairs;
  for (int r = 0; r < ranks; ++r)
    absl::StrAppend(&pairs, r > 0 ? "," : "", "{", r, ",", (r + 1) % ranks, "}");
  return pairs;
}

std::string AllOf(int ranks) {
  std::string list;
  for (int r = 0; r < ranks; ++r) absl::StrAppend(&list, r > 0 ? "," : "", r);
  return list;
}

// Seconds that the slowest rank takes.
double Slowest(Transport& transport, double seconds) {
  std::vector<double> all(transport.size());
  all[transport.rank()] = seconds;
  const std::vector<int64_t> bytes(transport.size(), sizeof(double));
  (void)transport.AllGather(bytes, reinterpret_cast<char*>(all.data()));
  return *std::max_element(all.begin(), all.end());
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

absl::Status Measure(Transport& transport, const Case& one, int64_t bytes) {
  ASSIGN_OR_RETURN(const MpiLibrary* mpi, LoadMpi());
  const int rank = transport.rank(), ranks = transport.size();
  const int64_t n = bytes / kFourBytes, result = one.out(n, ranks);
  const std::string text = absl::Substitute(
      "HloModule m, num_partitions=$3\nadd { a = $0[] parameter(0) b = $0[] parameter(1) ROOT c = $0[] add(a, b) }\n"
      "ENTRY main { x = $0[$1] parameter(0) ROOT y = $0[$2] $4 }",
      one.type, n, result, ranks, absl::Substitute(one.body, n, result, RingOf(ranks), AllOf(ranks)));
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ParseModule(text));
  ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::Create(*module));
  RunOptions options;
  options.num_partitions = ranks;
  options.transport = &transport;
  options.threads = 1;
  MeshBuffer buffer = MeshBuffer::Array(n * kFourBytes, /*uniform=*/false);
  std::fill_n(reinterpret_cast<float*>(buffer.mutable_data()), n, 1.0f);
  const MeshValue argument(module->entry()->parameter(0)->shape(), 1, buffer);
  std::vector<char> in(n * kFourBytes, 1), out(result * kFourBytes);
  std::vector<double> ours, plain;
  const int rounds = static_cast<int>(std::clamp<int64_t>((int64_t{512} << 20) / bytes, 7, 101));
  for (int round = -2; round < rounds; ++round) {
    mpi->Barrier(mpi->world);
    const Clock::time_point start = Clock::now();
    RETURN_IF_ERROR(executor->Run({argument}, options).status());
    const double seconds = Slowest(transport, std::chrono::duration<double>(Clock::now() - start).count());
    mpi->Barrier(mpi->world);
    const Clock::time_point again = Clock::now();
    one.plain(*mpi, in.data(), out.data(), n * kFourBytes, rank, ranks);
    const double theirs = Slowest(transport, std::chrono::duration<double>(Clock::now() - again).count());
    if (round >= 0) ours.push_back(seconds), plain.push_back(theirs);
  }
  if (rank != 0) return absl::OkStatus();
  const double mine = Median(ours), theirs = Median(plain);
  std::printf("%-20s %10.2f MiB %10.3f ms %10.3f ms %8.2f GB/s %8.2f GB/s %6.0f %%\n", one.name.c_str(),
              static_cast<double>(bytes) / (1 << 20), mine * 1e3, theirs * 1e3, 1e-9 * bytes / mine,
              1e-9 * bytes / theirs, 100 * theirs / mine);
  std::fflush(stdout);
  return absl::OkStatus();
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app("Compares collectives of the runtime over MPI with MPI's own.", "mpi_collectives");
  int64_t least = 1 << 20, most = 64 << 20;
  app.add_option("--least", least, "Bytes of the smallest operand")->transform(CLI::AsSizeValue(true));
  app.add_option("--most", most, "Bytes of the largest operand")->transform(CLI::AsSizeValue(true));
  return toroid::RunCommand(app, argc, argv, [&] {
    const auto run = [&](toroid::Transport& transport, int) -> absl::Status {
      if (transport.rank() == 0) {
        std::printf("%d ranks, one device each\n%-20s %14s %13s %13s %13s %13s %8s\n", transport.size(),
                    "collective", "operand", "runtime", "MPI", "runtime", "MPI", "MPI's");
      }
      for (const toroid::Case& one : toroid::Cases()) {
        for (int64_t bytes = least; bytes <= most; bytes *= 4)
          RETURN_IF_ERROR(
              toroid::Measure(transport, one, bytes / (4 * transport.size()) * (4 * transport.size())));
      }
      return absl::OkStatus();
    };
    return toroid::RunOnMpi("", {}, run, run);
  });
}
