#include "examples/moe/signature.h"

namespace toroid {

absl::Status NumberParameters(absl::Span<const Value> order, Computation* entry) {
  for (size_t i = 0; i < order.size(); ++i) {
    order[i]->MutableAttrs()->set_parameter_number(static_cast<int64_t>(i));
  }
  return entry->CollectParameters();
}

void DonateState(int64_t arrays, Module* module) {
  for (int64_t i = 0; i < arrays; ++i) {
    auto* entry = module->mutable_proto()->mutable_input_output_alias()->add_entries();
    entry->add_output_shape_index(i);
    entry->set_parameter_number(i);
    entry->set_kind(xla::MAY_ALIAS);
  }
}

}  // namespace toroid
