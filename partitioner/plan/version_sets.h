// Numbers shardings and sets of shardings. A set holds the versions of a value: the shardings in which it
// exists at some point of a program.
//
// Fetching a value in a sharding reshards the version from which that takes the least time, and adds the new
// version to the set, as rewriting does (../rewrite/sharded_values.h). The costs of fetches are cached.
// Example: the value has the set {rows} and is fetched whole by an all-gather. Then it has the set {rows,
// whole}, from which fetching columns is a slice.
#pragma once

#include <cstdint>
#include <deque>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

class VersionSets {
 public:
  // `program` must outlive this object.
  explicit VersionSets(const PreparedProgram& program);

  // From now on the planner may look at `steps` moves; costs that it does not know by then are estimated (EstimateFetch).
  // INT64_MAX: at any number.
  void LimitPlanning(int64_t steps);

  // The number of the set of a free value, which each device can compute in any sharding.
  static constexpr int kAnywhere = 0;

  // The number of a sharding, and that of the set that holds only this sharding.
  int Number(const Sharding& sharding);
  int SetOf(int sharding) const { return alone_[sharding]; }

  const Sharding& sharding(int number) const { return shardings_[number]; }
  const std::vector<int>& set(int number) const { return sets_[number]; }
  bool HasWhole(int set) const;  // Whether one of its versions is replicated.

  struct Moves {
    double time = 0;  // By the cost model; in its unit, bytes over a link.
    double sent_bytes = 0;
    double collectives = 0;
  };
  struct Fetched {
    Moves moves;
    int set = -1;  // The set after the fetch; -1 if no version can be resharded to the wanted one.
  };
  // Fetches `tensor`, which has the versions of `set`, in the sharding `wanted`.
  Fetched Fetch(int tensor, int set, int wanted);
  // Estimates the time of this fetch without a plan: the bytes that a device lacks. Infinite if no version
  // can be resharded to the wanted one.
  double EstimateFetch(int tensor, int set, int wanted);

 private:
  int Intern(std::vector<int> set);
  bool IsOverLimit() const { return program_.planner->steps() >= last_plan_step_; }
  Fetched Plan(int tensor, int set, int wanted, bool* is_estimated);
  // The plan from one sharding to another; of infinite time if there is none.
  Moves Between(int tensor, int from, int to, bool* is_estimated);
  double Estimate(int tensor, const Sharding& from, const Sharding& to) const;
  static bool MayBecome(const Sharding& from, const Sharding& to);

  const PreparedProgram& program_;
  const std::vector<int> classes_;  // By tensor: TensorClasses.
  int64_t last_plan_step_;
  absl::flat_hash_map<Sharding, int> number_of_;
  std::deque<Sharding> shardings_;  // References to them stay valid.
  std::vector<int> alone_;          // By sharding: the set that holds only this sharding.
  absl::flat_hash_map<std::vector<int>, int> set_number_;
  std::vector<std::vector<int>> sets_;  // The shardings of each set, ascending.
  absl::flat_hash_map<std::tuple<int, int, int>, Fetched>
      fetched_;  // By class of tensor, set and wanted sharding.
  absl::flat_hash_map<std::tuple<int, int, int>, Moves> moves_;      // By class of tensor and two shardings.
  absl::flat_hash_map<std::tuple<int, int, int>, double> estimate_;  // By class of tensor and two shardings.
};

}  // namespace toroid
