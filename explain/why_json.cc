#include "explain/why_json.h"

#include <vector>

#include "explain/origins.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/source_frames.h"
#include "nlohmann/json.hpp"
#include "partitioner/provenance/program_names.h"

namespace toroid {
namespace {

// The version of the keys' meaning.
constexpr int kSchemaVersion = 1;

const char* KindText(AxisOrigin::Kind kind) {
  switch (kind) {
    case AxisOrigin::Kind::kAsked:
      return "asked";
    case AxisOrigin::Kind::kCheapest:
      return "cheapest";
    case AxisOrigin::Kind::kSearched:
      break;
  }
  return "searched";
}

class Writer {
 public:
  explicit Writer(const Partitioned& partitioned)
      : program_(*partitioned.program),
        graph_(*program_.graph),
        names_(*program_.flat, graph_, program_.annotations, program_.relabeled),
        origins_(program_, partitioned.shardings),
        frames_(*program_.flat),
        maker_(graph_.num_tensors(), nullptr),
        output_(graph_.num_tensors(), -1) {
    for (const Instruction* instruction : graph_.ReachedInstructions(*program_.flat)) {
      for (const int t : graph_.Leaves(*instruction)) {
        if (maker_[t] == nullptr) maker_[t] = instruction;
      }
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) output_[graph_.outputs()[i]] = static_cast<int>(i);
    // A call that annotates a result stands for it.
    for (const FlowOp& op : graph_.ops()) {
      if (op.instruction != nullptr || output_[op.results[0]] < 0) continue;
      const Instruction* maker = maker_[op.operands[0]];
      if (maker != nullptr && IsCallTo(*maker, "xla.sdy.FuncResultSharding"))
        output_[op.operands[0]] = output_[op.results[0]];
    }
  }

  nlohmann::ordered_json Values() {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (!graph_.shape(t).IsArray() || (maker_[t] == nullptr && output_[t] < 0)) continue;
      nlohmann::ordered_json cuts = nlohmann::ordered_json::array();
      for (const AxisOrigin& origin : origins_.Of(t)) cuts.push_back(CutJson(origin));
      if (cuts.empty()) continue;
      nlohmann::ordered_json value = ValueJson(t);
      value["shape"] = graph_.shape(t).ToString();
      value["cuts"] = std::move(cuts);
      values.push_back(std::move(value));
    }
    return values;
  }

 private:
  // Which value it is: an argument, a result, or one in between.
  nlohmann::ordered_json ValueJson(int tensor) {
    nlohmann::ordered_json json;
    const Instruction* maker = maker_[tensor];
    json["name"] = maker == nullptr ? names_.OutputName(output_[tensor]) : names_.NameOf(*maker);
    json["instruction"] = maker == nullptr ? "" : maker->name();
    json["argument"] = nullptr;
    json["result"] = nullptr;
    const bool is_argument = maker != nullptr && maker->opcode() == Opcode::kParameter &&
                             maker->computation() == program_.flat->entry();
    if (is_argument) json["argument"] = maker->parameter_number();
    if (output_[tensor] >= 0) json["result"] = output_[tensor];
    json["source"] = maker == nullptr ? "" : frames_.LineOf(maker->metadata());
    return json;
  }

  nlohmann::ordered_json CutJson(const AxisOrigin& origin) {
    Sharding one;
    one.dims = {origin.axes};
    const std::string axes = names_.Text(one);  // [{"data"}]
    return {{"dim", origin.dim},
            {"axes", axes.substr(1, axes.size() - 2)},
            {"kind", KindText(origin.kind)},
            {"hops", origin.hops.size() - 1},
            {"origin", ValueJson(origin.hops.back().tensor)}};
  }

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ProgramNames names_;
  const Origins origins_;
  SourceFrames frames_;
  std::vector<const Instruction*> maker_;  // By tensor: the first instruction with it.
  std::vector<int> output_;                // By tensor: the number of the output that it is; -1 for none.
};

}  // namespace

absl::StatusOr<std::string> WhyJson(const Partitioned& partitioned) {
  if (partitioned.program == nullptr) {
    return absl::FailedPreconditionError(
        "--why_json needs the module before partitioning, and several devices: the reasons are not in a partitioned module");
  }
  const nlohmann::ordered_json json = {{"schema_version", kSchemaVersion},
                                       {"num_partitions", partitioned.num_partitions},
                                       {"values", Writer(partitioned).Values()}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace toroid
