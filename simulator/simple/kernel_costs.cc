#include "simulator/simple/kernel_costs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "nlohmann/json.hpp"
#include "simulator/simple/kernel_body.h"

namespace toroid {
namespace {

constexpr double kMostPicoseconds = 9e18;

bool IsKernel(const Instruction& op) { return op.opcode() == Opcode::kCustomCall && !IsIdentityTarget(op); }

// A number, or one in quotes as programs after the TPU compiler's passes have it; 0 for anything else.
double NumberAt(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  double value = 0;
  if (found->is_number()) value = found->get<double>();
  if (found->is_string() && !absl::SimpleAtod(found->get_ref<const std::string&>(), &value)) value = 0;
  return std::isfinite(value) ? std::max(0.0, value) : 0;
}

bool HasName(const Instruction& call, absl::string_view name) {
  if (absl::StrContains(call.custom_call_target(), name)) return true;
  if (call.metadata() != nullptr && absl::StrContains(call.metadata()->op_name(), name)) return true;
  return absl::StrContains(KernelNameOf(call), name);
}

absl::Status IsNoCost(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("--kernel_cost=", text,
                                                 ": give NAME=TIME with a unit, such as my_kernel=250us, or "
                                                 "NAME=FLOPS,BYTES, such as my_kernel=2e12,3e9"));
}

}  // namespace

absl::StatusOr<KernelCost> ParseKernelCost(absl::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == absl::string_view::npos || equals == 0) return IsNoCost(text);
  KernelCost cost;
  cost.name = std::string(text.substr(0, equals));
  const std::vector<absl::string_view> values = absl::StrSplit(text.substr(equals + 1), ',');
  absl::Duration time;
  if (values.size() == 1 && absl::ParseDuration(values[0], &time)) {
    const double picoseconds = absl::ToDoubleSeconds(time) * 1e12;
    if (!(picoseconds >= 0 && picoseconds < kMostPicoseconds)) return IsNoCost(text);
    cost.picoseconds = static_cast<int64_t>(std::llround(picoseconds));
    return cost;
  }
  if (values.size() != 2 || !absl::SimpleAtod(values[0], &cost.flops) ||
      !absl::SimpleAtod(values[1], &cost.bytes) || !std::isfinite(cost.flops) || !std::isfinite(cost.bytes) ||
      cost.flops < 0 || cost.bytes < 0) {
    return IsNoCost(text);
  }
  return cost;
}

std::optional<KernelCost> CostEstimateOf(const Instruction& call) {
  if (!IsKernel(call) || !absl::StrContains(call.backend_config(), "cost_estimate")) return std::nullopt;
  const nlohmann::json config =
      nlohmann::json::parse(call.backend_config(), nullptr, /*allow_exceptions=*/false);
  const nlohmann::json::json_pointer place("/custom_call_config/cost_estimate");
  if (!config.is_object() || !config.contains(place) || !config[place].is_object()) return std::nullopt;
  const nlohmann::json& estimate = config[place];
  KernelCost cost;
  cost.name = KernelNameOf(call);
  cost.flops = NumberAt(estimate, "flops");
  cost.transcendentals = NumberAt(estimate, "transcendentals");
  cost.bytes = NumberAt(estimate, "bytes_accessed");
  return cost.flops + cost.transcendentals + cost.bytes > 0 ? std::optional<KernelCost>(cost) : std::nullopt;
}

std::string KernelNameOf(const Instruction& call) {
  const std::optional<KernelBody> body = IsTpuKernel(call) ? ReadKernelBody(call) : std::nullopt;
  if (body.has_value() && !body->name.empty()) return body->name;
  if (IsTpuKernel(call) && call.metadata() != nullptr && !call.metadata()->op_name().empty()) {
    const std::vector<absl::string_view> path = absl::StrSplit(call.metadata()->op_name(), '/');
    return std::string(path.back());
  }
  return std::string(call.custom_call_target());
}

absl::Status CheckKernelCosts(const std::vector<KernelCost>& costs, const Module& module) {
  if (costs.empty()) return absl::OkStatus();
  std::vector<const Instruction*> kernels;
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (IsKernel(*op)) kernels.push_back(op.get());
    }
  }
  for (const KernelCost& cost : costs) {
    if (std::any_of(kernels.begin(), kernels.end(),
                    [&](const Instruction* call) { return HasName(*call, cost.name); })) {
      continue;
    }
    std::set<std::string> names;
    for (const Instruction* call : kernels) names.insert(KernelNameOf(*call));
    return absl::NotFoundError(absl::StrCat(
        "--kernel_cost names ", cost.name, ", and the program ",
        names.empty() ? "has no custom calls"
                      : absl::StrCat("has no such custom call; it has ", absl::StrJoin(names, ", "))));
  }
  return absl::OkStatus();
}

const GroupTime& KernelCosts::TimeOf(const Instruction& group) {
  const GroupTime& modelled = model_->TimeOf(group);
  if (!IsKernel(group)) return modelled;
  const auto [found, is_new] = known_.try_emplace(&group);
  GroupTime& time = found->second;
  if (!is_new) return time;
  time = modelled;
  for (const KernelCost& cost : given_) {
    if (!HasName(group, cost.name)) continue;
    time = TimeBy(cost, modelled);
    time.kernel_cost = KernelCostSource::kGiven;
    return time;
  }
  if (time.kernel_cost == KernelCostSource::kModel) return time;
  if (const std::optional<KernelCost> estimate = CostEstimateOf(group); estimate.has_value()) {
    time = TimeBy(*estimate, modelled);
    time.kernel_cost = KernelCostSource::kEstimate;
  }
  return time;
}

GroupTime KernelCosts::TimeBy(const KernelCost& cost, GroupTime time) const {
  if (cost.picoseconds.has_value()) {
    time.picoseconds = *cost.picoseconds;
    time.bound = Bound::kNothing;
    return time;
  }
  const double peak = PeakMatrixFlopsPerSecond(core_);
  const double reached = core_.has_simple() ? core_.simple().product_efficiency() : 1;
  const double lanes = static_cast<double>(core_.vector().lanes() * core_.vector().sublanes());
  const double slots = cost.transcendentals / lanes * core_.vector().slots_of().exponential();
  const double matrix = cost.flops / (peak * reached);
  const double vector = slots / static_cast<double>(core_.vector().slots()) / core_.clock_hertz();
  const double memory = cost.bytes / StreamBytesPerSecond(core_);
  const double seconds = std::max({matrix, vector, memory});
  time.bound = seconds == 0        ? Bound::kNothing
               : seconds == matrix ? Bound::kMatrix
               : seconds == memory ? Bound::kMemory
                                   : Bound::kVector;
  time.flops = cost.flops + cost.transcendentals;
  time.bytes = cost.bytes;
  const double overhead = core_.group_cycles() / core_.clock_hertz();
  time.picoseconds = static_cast<int64_t>(std::min((seconds + overhead) * 1e12, kMostPicoseconds));
  const double roofline = std::max(cost.flops / peak, cost.bytes / core_.memory().bytes_per_second());
  time.roofline_picoseconds = static_cast<int64_t>(std::min(roofline * 1e12, kMostPicoseconds));
  return time;
}

}  // namespace toroid
