#include "hlo/stablehlo/op_rows.h"

#include "absl/container/flat_hash_map.h"
#include "hlo/stablehlo/body_converter.h"

namespace toroid {

const OpRow* FindOpRow(absl::string_view name) {
  using Table = absl::flat_hash_map<absl::string_view, const OpRow*>;
  static const Table& table = *new Table([] {
    Table rows;
    for (const auto& family :
         {ElementwiseRows(), MovementRows(), ContractionRows(), ReductionRows(), ControlFlowRows(),
          CollectiveRows(), CallRows(), TransferRows(), LinearAlgebraRows(), ShardyRows(), ChloRows()}) {
      for (const OpRow& row : family) rows[row.name] = &row;
    }
    return rows;
  }());
  const auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace toroid
