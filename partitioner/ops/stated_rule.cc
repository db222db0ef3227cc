#include "partitioner/ops/stated_rule.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/io/sdy_sharding.h"

namespace toroid {
namespace {

constexpr size_t kMaxFactors = 64;

absl::Status CheckTensors(const std::vector<SdyShardingRule::Tensor>& tensors,
                          const std::vector<const Shape*>& shapes, const SdyShardingRule& rule,
                          absl::string_view what) {
  if (tensors.size() != shapes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the sharding rule has ", tensors.size(), " ", what, ", the call ", shapes.size()));
  }
  for (size_t t = 0; t < tensors.size(); ++t) {
    const Shape& shape = *shapes[t];
    if (static_cast<int>(tensors[t].size()) != shape.rank()) {
      return absl::InvalidArgumentError(absl::StrCat("the sharding rule gives one of the ", what, " ",
                                                     tensors[t].size(), " dimensions, which is ",
                                                     shape.ToString()));
    }
    for (int d = 0; d < shape.rank(); ++d) {
      int64_t size = 1;
      for (const int factor : tensors[t][d]) {
        size = CheckedMultiply(size, rule.factors[factor].size).value_or(-1);
      }
      if (tensors[t][d].empty() || tensors[t][d].size() > DimFactors::kMax || size != shape.dim(d)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the factors of the sharding rule do not make dimension ", d, " of ", shape.ToString()));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SdyShardingRule> ReadRule(const Instruction& op, const std::string& text) {
  ASSIGN_OR_RETURN(SdyShardingRule rule, ParseSdyShardingRule(text));
  if (rule.factors.size() > kMaxFactors) {
    return absl::InvalidArgumentError(absl::StrCat("the sharding rule has ", rule.factors.size(),
                                                   " factors, at most ", kMaxFactors, " are possible"));
  }
  std::vector<const Shape*> operands, results;
  for (const Instruction* operand : op.operands()) AppendLeaves(operand->shape(), &operands);
  AppendLeaves(op.shape(), &results);
  RETURN_IF_ERROR(CheckTensors(rule.operands, operands, rule, "operands"));
  RETURN_IF_ERROR(CheckTensors(rule.results, results, rule, "results"));
  for (size_t t = 0; t < results.size(); ++t) {
    for (int d = 0; d < results[t]->rank(); ++d) {
      for (const int factor : rule.results[t][d]) {
        if (!rule.factors[factor].is_reduction) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("the sharding rule reduces factor ", rule.factors[factor].name, ", yet dimension ",
                         d, " of the result ", results[t]->ToString(),
                         " has it; a factor of both passes through or is in need_replication"));
      }
    }
  }
  return rule;
}

// The factors of the dimensions of some tensors, one bit each.
uint64_t FactorsOf(const std::vector<SdyShardingRule::Tensor>& tensors) {
  uint64_t factors = 0;
  for (const SdyShardingRule::Tensor& tensor : tensors) {
    for (const std::vector<int>& dim : tensor) {
      for (const int factor : dim) factors |= uint64_t{1} << factor;
    }
  }
  return factors;
}

// `passes`: an operand and a result have the factor. A factor of only one side, such as the rows of a matrix to be factorized,
// says nothing of how a part of it would be computed.
FactorKind KindOf(const SdyShardingRule::Factor& factor, bool passes) {
  if (factor.needs_replication || factor.is_permutation) return FactorKind::kNeedsReplication;
  if (factor.is_reduction) return FactorKind::kReduction;
  return passes ? FactorKind::kPassThrough : FactorKind::kNeedsReplication;
}

}  // namespace

std::optional<ShardingRule> StatedShardingRule(const Instruction& op) {
  const std::string* text = op.FrontendAttribute(kStatedRule);
  if (text == nullptr) return std::nullopt;
  for (const Instruction* operand : op.operands()) {
    if (!operand->shape().IsArray()) return std::nullopt;
  }
  const absl::StatusOr<SdyShardingRule> stated = ReadRule(op, *text);
  if (!stated.ok()) return std::nullopt;
  ShardingRule rule;
  const uint64_t passing = FactorsOf(stated->operands) & FactorsOf(stated->results);
  for (const SdyShardingRule::Factor& factor : stated->factors) {
    const size_t at = static_cast<size_t>(&factor - stated->factors.data());
    const int number = rule.AddFactor(factor.size, KindOf(factor, passing >> at & 1));
    // Cuts the factor only evenly, as it is unknown what the target does with padding.
    rule.factors[number].composite = true;
    rule.factors[number].holds_back = factor.is_blocked;
  }
  const auto factors = [&](const SdyShardingRule::Tensor& tensor) {
    TensorFactors dims(tensor.size());
    for (size_t d = 0; d < tensor.size(); ++d) {
      for (const int factor : tensor[d]) dims[d].push_back(factor);
    }
    return dims;
  };
  for (const SdyShardingRule::Tensor& tensor : stated->operands) rule.operands.push_back(factors(tensor));
  for (const SdyShardingRule::Tensor& tensor : stated->results) rule.results.push_back(factors(tensor));
  return rule;
}

absl::Status CheckStatedRule(const Instruction& op) {
  const std::string* text = op.FrontendAttribute(kStatedRule);
  if (text == nullptr || op.opcode() != Opcode::kCustomCall) return absl::OkStatus();
  return ReadRule(op, *text).status();
}

}  // namespace toroid
