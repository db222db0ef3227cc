#include "partitioner/command/partition_flags.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/ir/device_limit.h"
#include "partitioner/rewrite/poison_padding.h"
#include "partitioner/stages/local_passes.h"

namespace toroid {

void AddPartitionFlags(CLI::App& app, PartitionOptions* options) {
  app.add_option("--num_partitions", options->num_partitions,
                 "Number of devices; default: what the module's shardings name; 1 ignores shardings")
      ->check(CLI::Range(int64_t{1}, kMaxDevices));
  app.add_option_function<std::string>(
         "--device_order",
         [options](const std::string& value) {
           absl::string_view seed = value;
           uint64_t number = 0;
           if (!absl::ConsumePrefix(&seed, "random:") || !absl::SimpleAtoi(seed, &number)) {
             throw CLI::ValidationError("--device_order", "expected random:SEED with a number");
           }
           options->device_order_seed = number;
         },
         "random:SEED relabels the devices of all shardings by a permutation; results and bytes stay the "
         "same")
      ->type_name("random:SEED");
  app.add_option("--search", options->searched_instructions,
                 "Instructions of programs that are written to be compared, in all; 0: what is best op by op")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--passes",
         [options](const std::string& list) {
           options->passes.clear();
           if (list != "none") options->passes = absl::StrSplit(list, ',', absl::SkipEmpty());
           const absl::Status known = MakePipeline(options->passes, LocalPasses()).status();
           if (!known.ok()) throw CLI::ValidationError("--passes", std::string(known.message()));
         },
         absl::StrCat("Passes over the partitioned program, in order, separated by commas; default: ",
                      absl::StrJoin(DefaultPasses(), ","), "; none: no pass"))
      ->type_name("LIST");
  app.add_option_function<std::string>(
         "--windowed_einsum",
         [options](const std::string& when) {
           options->windowed_einsum_bytes = when == "always"  ? 0
                                            : when == "never" ? INT64_MAX
                                                              : kWindowedEinsumBytes;
         },
         "Products of gathered or scattered arrays as loops over their parts, so that parts travel while others are multiplied and no "
         "device holds all of the array; auto: of arrays of 4 GiB and more on a device")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("auto|always|never");
  app.add_option_function<int>(
         "--windowed_einsum_directions",
         [options](int count) { options->windowed_einsum_both_directions = count == 2; },
         "Of such a loop: 1: parts come from the next device; 2: half of them from each side")
      ->check(CLI::IsMember({1, 2}))
      ->type_name("1|2");
  app.add_option("--windowed_einsum_unroll", options->windowed_einsum_unroll,
                 "Of such a loop: parts in a trip")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  app.add_flag_callback(
      "--poison_padding", [options] { options->on_local_value = PoisonPadding; },
      "Test aid: write garbage beyond the valid part of every uneven shard");
}

}  // namespace toroid
