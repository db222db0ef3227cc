// The shardings in which a value is there at some point of a program, as numbers.
//
// A fetch takes the version from which the plan takes least time, and leaves the one that was wanted beside the others, as
// rewriting does (../rewrite/sharded_values.h). Sets and what fetches from them cost are kept, so that a search asks each
// question once.
// Example: {rows} fetched whole: an all-gather; {rows, whole} after it, from which fetching columns is a slice.
#ifndef TOROID_PARTITIONER_SEARCH_VERSION_SETS_H_
#define TOROID_PARTITIONER_SEARCH_VERSION_SETS_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

class VersionSets {
 public:
  // Plans are asked for until the planner has looked at `max_plan_steps` moves; then what is not known yet is estimated.
  VersionSets(const PreparedProgram& program, int64_t max_plan_steps)
      : program_(program), last_plan_step_(program.planner->steps() + max_plan_steps) {
    Intern({});
  }

  // The set of what every device can make for itself in any sharding.
  static constexpr int kAnywhere = 0;

  // The numbers of a sharding, and of the set of it alone.
  int Number(const Sharding& sharding);
  int SetOf(int sharding) const { return alone_[sharding]; }

  const Sharding& sharding(int number) const { return shardings_[number]; }
  const std::vector<int>& set(int number) const { return sets_[number]; }
  bool HasWhole(int set) const;  // Whether one version of it is the whole array.

  struct Fetched {
    double time = 0;  // Of the plan, by the cost model.
    int set = -1;     // After it; -1 if no version can be brought there.
  };
  // `tensor`, there in the versions of `set`, in the sharding `wanted`.
  Fetched Fetch(int tensor, int set, int wanted);
  // About as many link bytes as that takes, without a plan: what a device lacks. Infinite if no version can be brought there.
  double EstimateFetch(int tensor, int set, int wanted);

 private:
  int Intern(std::vector<int> set);
  Fetched Plan(int tensor, int set, int wanted);
  // The cost of the plan between two shardings; infinite if there is none.
  double Time(int tensor, int from, int to);
  double Estimate(int tensor, const Sharding& from, const Sharding& to) const;
  static bool MayBecome(const Sharding& from, const Sharding& to);

  const PreparedProgram& program_;
  const int64_t last_plan_step_;
  absl::flat_hash_map<Sharding, int> number_of_;
  std::vector<Sharding> shardings_;
  std::vector<int> alone_;  // By sharding: the set of it alone.
  absl::flat_hash_map<std::vector<int>, int> set_number_;
  std::vector<std::vector<int>> sets_;                               // In ascending order.
  absl::flat_hash_map<std::tuple<int, int, int>, Fetched> fetched_;  // By tensor, set and what is wanted.
  absl::flat_hash_map<std::tuple<int, int, int>, double> time_;      // By tensor and two shardings.
  absl::flat_hash_map<std::tuple<int, int, int>, double> estimate_;  // The same.
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_VERSION_SETS_H_
