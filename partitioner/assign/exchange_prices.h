// What the local program of an op sends by itself (halos, tiles, partial results), by writing it.
//
// A family's local program knows best what it exchanges, so it is written into a module of its own and its collectives are
// counted. Each op is written once for each way to cut it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo/cost/cost_model.h"
#include "partitioner/ops/sharding_rule.h"

namespace toroid {

// By factor of a rule: the axes that cut it.
using FactorAxesList = absl::InlinedVector<AxisList, 6>;

class ExchangePrices {
 public:
  // Both must outlive this object.
  ExchangePrices(const Mesh* mesh, const CostModel* cost) : mesh_(*mesh), cost_(*cost) {}

  // On one device, in one execution.
  struct Exchanges {
    double time = 0;   // By the cost model.
    double delay = 0;  // By many collectives, beyond `time`.
    double sent_bytes = 0;
    double collectives = 0;
    // Those of its collectives that send parts of one operand. Where two ops do alike with the same operand, the program does
    // it once (DuplicatesPass).
    struct Part {
      int operand = 0;
      size_t hash = 0;  // Of all that it does with the operand.
      double time = 0, sent_bytes = 0;
    };
    std::vector<Part> parts;
  };

  // The exchanges of `op` of the global program if its factors are cut over `factor_axes`. Nothing for a cut that has no local
  // program. References stay valid.
  const Exchanges& Of(const Instruction& op, const ShardingRule& rule,
                      absl::Span<const AxisList> factor_axes);

 private:
  Exchanges Write(const Instruction& op, const ShardingRule& rule,
                  absl::Span<const AxisList> factor_axes) const;

  const Mesh& mesh_;
  const CostModel& cost_;
  absl::flat_hash_map<std::pair<const Instruction*, FactorAxesList>, std::unique_ptr<Exchanges>> known_;
};

}  // namespace toroid
