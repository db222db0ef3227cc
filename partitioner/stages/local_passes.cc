#include "partitioner/stages/local_passes.h"

#include "hlo/passes/dce_pass.h"
#include "hlo/passes/product_order_pass.h"
#include "partitioner/provenance/causes_pass.h"

namespace toroid {

absl::Span<const NamedPass> LocalPasses() {
  static constexpr NamedPass kPasses[] = {
      {"dead_code", MakePass<DcePass>},              // Drops what nothing needs.
      {"product_order", MakePass<ProductOrderPass>},  // Exchanges the sides of products that are transposed back.
      {"causes", MakePass<CausesPass>},              // Writes why collectives are there; behind it they cannot be merged.
  };
  return kPasses;
}

}  // namespace toroid
