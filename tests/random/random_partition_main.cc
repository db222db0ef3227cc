// random_partition: the differential test over any range of seeds, by hand.
//
//   random_partition --from=0 --count=1000000 [--kind=dot]
// Prints the seed from time to time, so that a range can be resumed; exit status 1 at the first difference.
#include <cstdio>

#include "CLI/CLI.hpp"
#include "tests/random/check_program.h"
#include "tests/random/random_program.h"

int main(int argc, char** argv) {
  CLI::App app("Compares random programs partitioned and unpartitioned.", "random_partition");
  uint64_t from = 0, count = 100000;
  std::string kind;
  int keep_going = 1;
  app.add_option("--from", from, "First seed");
  app.add_option("--count", count, "Number of seeds");
  app.add_option("--kind", kind, "Only this kind of program");
  app.add_option("--failures", keep_going, "Stop after so many differences");
  CLI11_PARSE(app, argc, argv);
  for (uint64_t seed = from; seed < from + count; ++seed) {
    if ((seed - from) % 50000 == 0 && seed > from)
      std::fprintf(stderr, "%llu equal so far, next seed %llu\n",
                   static_cast<unsigned long long>(seed - from), static_cast<unsigned long long>(seed));
    const std::string failure = toroid::CheckRandomProgram(toroid::MakeRandomProgram(seed, kind));
    if (failure.empty()) continue;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), failure.c_str());
    if (--keep_going <= 0) return 1;
  }
  std::printf("%llu programs equal, seeds %llu to %llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(from), static_cast<unsigned long long>(from + count - 1));
  return 0;
}
