// optimality: how far partitioned programs are from the best ones, by hand, over any range of seeds.
//
//   optimality --from=0 --count=2000 [--print=1.2]
#include <algorithm>
#include <cstdio>

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
  double sum = 0, worst = 1;
  uint64_t known = 0, best = 0;
  for (uint64_t seed = from; seed < from + count; ++seed) {
    const toroid::SmallProgram program = toroid::MakeSmallProgram(seed);
    const toroid::Optimality optimality = toroid::OptimalityOf(program, max_states);
    if (!optimality.known) continue;
    const double ratio = optimality.Ratio();
    ++known;
    best += ratio == 1;
    sum += ratio;
    worst = std::max(worst, ratio);
    if (ratio > print) {
      std::printf("seed %llu: sends %.0f, best %.0f, %.2f\n%s\n", static_cast<unsigned long long>(seed),
                  optimality.sent, optimality.fewest, ratio, program.text.c_str());
    }
  }
  std::printf("%llu programs, %llu of them best: mean %.4f of the fewest bytes, worst %.2f\n",
              static_cast<unsigned long long>(known), static_cast<unsigned long long>(best),
              sum / static_cast<double>(std::max<uint64_t>(1, known)), worst);
  return 0;
}
