#include "tests/op_status/partition_probe.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/literal.h"
#include "partitioner/prepare/sharding_lines.h"
#include "runtime/engine/executor.h"
#include "tests/partition_and_run.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

// A sample whose array constants have become parameters, and their values.
struct OpenSample {
  std::string text;
  std::vector<Literal> arguments;
};

absl::StatusOr<OpenSample> Open(const Module& sample) {
  OpenSample open;
  std::vector<Literal> constants;
  for (const auto& instruction : sample.entry()->instructions()) {
    if (instruction->opcode() != Opcode::kConstant) continue;
    ASSIGN_OR_RETURN(Literal value, Literal::FromProto(instruction->attrs().literal()));
    constants.push_back(std::move(value));
  }
  // One instruction a line; the entry is the last computation, the first line is the module's.
  std::vector<std::string> lines = absl::StrSplit(PrintModule(sample), '\n');
  lines[0] = "HloModule sample";
  size_t next = 0;
  bool entry = false;
  for (std::string& line : lines) {
    entry |= absl::StartsWith(line, "ENTRY");
    const size_t at = line.find(" constant(");
    if (!entry || at == std::string::npos) continue;
    const Literal& value = constants[next++];
    if (value.shape().rank() == 0 || absl::StrContains(line, "ROOT ")) continue;
    line = absl::StrCat(line.substr(0, at), " parameter(", open.arguments.size(), ")");
    open.arguments.push_back(value);
  }
  open.text = absl::StrJoin(lines, "\n");
  return open;
}

// The partitioned result, and whether anything was replicated.
absl::StatusOr<std::pair<Literal, bool>> RunCut(const OpenSample& open, const std::string& sharding) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ParseModule(open.text));
  RETURN_IF_ERROR(ApplyShardingLines({{sharding, ""}}, module.get()));
  PartitionOptions options;
  options.num_partitions = 2;
  options.strategies = NoSearch();  // Samples are so small that gathering all operands sends least.
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, options));
  ASSIGN_OR_RETURN(Literal result, PartitionAndRun(*module, options, open.arguments));
  return std::make_pair(std::move(result), !partitioned.full_replications.empty());
}

void ProbeDimension(const OpenSample& open, const std::string& name, const Shape& shape, int d,
                    const std::string& expected, PartitionProbe* probe) {
  std::vector<int> tiles(shape.rank(), 1);
  tiles[d] = 2;
  const std::string sharding = absl::StrCat(name, "={devices=[", absl::StrJoin(tiles, ","), "]<=[2]}");
  const auto result = RunCut(open, sharding);
  ++probe->cut;
  if (!result.ok()) {
    probe->failures.push_back(absl::StrCat(sharding, ": ", result.status().ToString()));
    return;
  }
  const std::string found = ToText(result->first);
  if (found != expected)
    probe->failures.push_back(absl::StrCat(sharding, ": found ", found, ", expected ", expected));
  if (result->second) probe->replicated.push_back(absl::StrCat(shape.ToString(), ", dimension ", d));
}

void ProbeArray(const OpenSample& open, const std::string& name, const Shape& shape,
                const std::string& expected, PartitionProbe* probe) {
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) >= 2) ProbeDimension(open, name, shape, d, expected, probe);
  }
}

absl::Status Probe(const Module& sample, PartitionProbe* probe) {
  ASSIGN_OR_RETURN(const Literal expected, RunSingle(sample, {}));
  ASSIGN_OR_RETURN(const OpenSample open, Open(sample));
  const std::string text = ToText(expected);
  for (size_t i = 0; i < open.arguments.size(); ++i) {
    ProbeArray(open, absl::StrCat("parameter(", i, ")"), open.arguments[i].shape(), text, probe);
  }
  const Instruction& root = *sample.entry()->root();
  if (!open.arguments.empty() || !root.shape().IsArray()) return absl::OkStatus();
  ProbeArray(open, root.name(), root.shape(), text, probe);
  return absl::OkStatus();
}

}  // namespace

PartitionProbe ProbePartitioning(const Module& sample) {
  PartitionProbe probe;
  if (const absl::Status status = Probe(sample, &probe); !status.ok())
    probe.failures.push_back(status.ToString());
  return probe;
}

}  // namespace toroid
