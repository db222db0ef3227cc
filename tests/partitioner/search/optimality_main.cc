// optimality: measures how far partitioned programs are from optimal ones, for any range of seeds; run by
// hand.
//
//   optimality --from=0 --count=2000 [--print=1.2]
#include <algorithm>
#include <cstdio>
#include <vector>

#include "CLI/CLI.hpp"
#include "tests/partitioner/search/small_programs.h"

int main(int argc, char** argv) {
  CLI::App app("Compares the bytes that small random programs send with the fewest possible.", "optimality");
  uint64_t from = 0, count = 2000;
  size_t max_states = 100000;
  double print = 1.5;
  app.add_option("--from", from, "First seed");
  app.add_option("--count", count, "Number of programs");
  app.add_option("--states", max_states, "Leave out programs with more states than these");
  app.add_option("--print", print, "Print programs that send more than this times the fewest bytes");
  CLI11_PARSE(app, argc, argv);
  std::vector<double> ratios;  // Sent bytes over the optimum's, for programs whose optimum sends anything.
  uint64_t best = 0, could_send_nothing = 0;
  for (uint64_t seed = from; seed < from + count; ++seed) {
    const toroid::SmallProgram program = toroid::MakeSmallProgram(seed);
    const toroid::Optimality optimality = toroid::OptimalityOf(program, max_states);
    if (!optimality.known) continue;
    const double ratio = optimality.Ratio();
    best += ratio == 1;
    if (optimality.fewest == 0 && optimality.sent > 0) {
      ++could_send_nothing;
    } else {
      ratios.push_back(ratio);
    }
    if (ratio > print) {
      std::printf("seed %llu: sends %.0f, best %.0f, %.2f\n%s\n", static_cast<unsigned long long>(seed),
                  optimality.sent, optimality.fewest, ratio, program.text.c_str());
    }
  }
  if (ratios.empty()) return 0;
  std::sort(ratios.begin(), ratios.end());
  double sum = 0;
  for (const double ratio : ratios) sum += ratio;
  const auto at = [&](double share) {
    return ratios[static_cast<size_t>(share * static_cast<double>(ratios.size() - 1))];
  };
  std::printf(
      "%zu programs, %llu of them best; %llu more send where nothing need be sent\n"
      "of the fewest bytes: mean %.3f, median %.2f, 7 of 10 at most %.2f, 9 of 10 %.2f, worst %.2f\n",
      ratios.size(), static_cast<unsigned long long>(best),
      static_cast<unsigned long long>(could_send_nothing), sum / static_cast<double>(ratios.size()), at(0.5),
      at(0.7), at(0.9), ratios.back());
  return 0;
}
