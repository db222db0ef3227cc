#include "partitioner/assign/exchange_prices.h"

#include <algorithm>
#include <optional>

#include "absl/hash/hash.h"
#include "hlo/analysis/alike.h"
#include "hlo/analysis/collective.h"
#include "hlo/analysis/liveness.h"
#include "hlo/analysis/side_effects.h"
#include "hlo/ir/module.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {
namespace {

// By instruction: a hash of all that is computed, and the operands (parameters) that it is computed from.
struct Origins {
  explicit Origins(const Computation& computation) : hash(computation.size()), operands(computation.size()) {
    for (const auto& instruction : computation.instructions()) {
      const int i = instruction->index();
      if (instruction->opcode() == Opcode::kParameter) {
        hash[i] = absl::HashOf(instruction->shape().dims());
        operands[i] = uint64_t{1} << std::min<int64_t>(63, instruction->parameter_number());
        continue;
      }
      hash[i] = absl::HashOf(static_cast<int>(instruction->opcode()), instruction->shape().dims(),
                             HashOfAttributes(*instruction));
      for (const Instruction* operand : instruction->operands()) {
        hash[i] = absl::HashOf(hash[i], hash[operand->index()]);
        operands[i] |= operands[operand->index()];
      }
    }
  }

  std::vector<size_t> hash;
  std::vector<uint64_t> operands;
};

}  // namespace

const ExchangePrices::Exchanges& ExchangePrices::Of(const Instruction& op, const ShardingRule& rule,
                                                    absl::Span<const AxisList> factor_axes) {
  static const Exchanges* const kNone = new Exchanges();
  if (FamilyOf(op.opcode()).program == nullptr && !HasTrait(op.opcode(), kExchangesData)) return *kNone;
  if (rule.operands.size() != static_cast<size_t>(op.num_operands())) return *kNone;  // Tuples are handed on.
  std::unique_ptr<Exchanges>& known = known_[{&op, {factor_axes.begin(), factor_axes.end()}}];
  if (known == nullptr) known = std::make_unique<Exchanges>(Write(op, rule, factor_axes));
  return *known;
}

ExchangePrices::Exchanges ExchangePrices::Write(const Instruction& op, const ShardingRule& rule,
                                                absl::Span<const AxisList> factor_axes) const {
  Module module("price", *op.module());
  module.config().num_partitions = mesh_.num_devices();
  SpmdModule spmd;
  spmd.module = &module;
  spmd.mesh = &mesh_;
  spmd.cost = &cost_;
  Computation* main = module.AddComputation("main");
  SpmdBuilder b(&spmd, main);
  OpContext context{&op, &rule, factor_axes, &b};
  for (int k = 0; k < op.num_operands(); ++k) {
    const Sharding sharding = ShardingUnder(mesh_, rule, rule.operands[k], factor_axes);
    context.operands.push_back(main->AddParameter(b.ShardShape(SourceOf(op, k).shape(), sharding)));
    context.operand_shardings.push_back(sharding);
  }
  for (const TensorFactors& result : rule.results) {
    Sharding sharding = ShardingUnder(mesh_, rule, result, factor_axes);
    sharding.partial = PartialAxes(rule, factor_axes);
    if (sharding.partial != 0) sharding.reducer = rule.reducer;
    context.results.push_back(std::move(sharding));
  }
  Exchanges exchanges;
  main->set_root(b.Tuple(LocalProgram(context)));
  const std::vector<bool> needed = NeededInstructions(*main, SideEffects(module));
  const DeviceCounts counts = DeviceCountsOf(module);
  const AxisList axes = mesh_.InOrder(UsedAxes(factor_axes));  // Those that its collectives may run over.
  const Origins origins(*main);
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (computation.get() == main && !needed[instruction->index()]) continue;
      const std::optional<Collective> collective = CollectiveOf(*instruction, counts);
      if (!collective) continue;
      ++exchanges.collectives;
      const double sent = static_cast<double>(SentBytes(collective->kind, collective->operand_bytes,
                                                        std::max<int64_t>(1, collective->group_size)));
      const double time = cost_.CollectiveTime(collective->kind, collective->operand_bytes, mesh_, axes);
      exchanges.sent_bytes += sent;
      exchanges.time += time;
      if (computation.get() != main) continue;
      const uint64_t operands = origins.operands[instruction->index()];
      if (operands == 0 || (operands & (operands - 1)) != 0) continue;
      exchanges.parts.push_back({__builtin_ctzll(operands), origins.hash[instruction->index()], time, sent});
    }
  }
  exchanges.delay = cost_.SerialDelay(static_cast<int64_t>(exchanges.collectives));
  return exchanges;
}

}  // namespace toroid
