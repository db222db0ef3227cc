#include "commands/partition_flags.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/devices/device_limit.h"
#include "partitioner/rewrite/poison_padding.h"
#include "partitioner/search/strategies.h"
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
  app.add_option_function<std::string>(
         "--objective",
         [options](const std::string& objective) {
           options->objective = objective == "bytes" ? Objective::kBytes : Objective::kSeconds;
         },
         "Compare plans by bytes sent and flops, or by predicted seconds; default: bytes, with --machine seconds")
      ->check(CLI::IsMember({"bytes", "seconds"}))
      ->type_name("bytes|seconds");
  app.add_option_function<std::string>(
         "--strategies",
         [options](const std::string& list) {
           options->strategies.clear();
           if (list != "none") options->strategies = absl::StrSplit(list, ',', absl::SkipEmpty());
           const absl::Status known = ListStrategies(options->strategies).status();
           if (!known.ok()) throw CLI::ValidationError("--strategies", std::string(known.message()));
         },
         absl::StrCat(
             "How to look for plans that are better than the first one, separated by commas; default: ",
             absl::StrJoin(DefaultStrategies(), ","),
             "; none: each op is decided alone; frontier:steps=N sets a budget"))
      ->type_name("LIST");
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
           if (when == "auto") return;
           std::erase_if(options->passes,
                         [](const std::string& entry) { return PassOfEntry(entry) == "windowed_einsum"; });
           if (when == "never") return;
           const std::string entry = absl::StrCat("windowed_einsum:", when == "always" ? "bytes=0" : when);
           options->passes.insert(options->passes.begin(), entry);
           const absl::Status known = MakePipeline(options->passes, LocalPasses()).status();
           if (!known.ok()) throw CLI::ValidationError("--windowed_einsum", std::string(known.message()));
         },
         "Write products of gathered or scattered arrays as loops over their parts, so that a part travels while another is "
         "multiplied and no device holds the whole array; auto: for arrays of 4 GiB and more on a device. OPTIONS of "
         "the loops: bytes=N:directions=1|2:unroll=N, for example bytes=1G:directions=2")
      ->type_name("auto|always|never|OPTIONS");
  app.add_flag_callback(
      "--poison_padding", [options] { options->on_local_value = PoisonPadding; },
      "Test aid: write garbage beyond the valid part of every uneven shard");
}

}  // namespace toroid
