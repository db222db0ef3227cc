#include "tests/partitioner/sharding_search/searched_program.h"

#include <utility>

#include "hlo/base/status.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "hlo/passes/change_mesh.h"
#include "partitioner/search/strategies.h"

namespace toroid {

int SearchedProgram::TensorOf(const std::string& name, int leaf) const {
  for (const auto& instruction : program->flat->entry()->instructions()) {
    if (instruction->name() == name) return program->graph->Leaves(*instruction)[leaf];
  }
  TOROID_CHECK(false, "no instruction ", name);
  return -1;
}

std::unique_ptr<Module> OnMesh(const std::string& text, const std::string& mesh) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  TOROID_CHECK(module.ok(), module.status().message(), "\n", text);
  const absl::Status verified = VerifyModule(**module);
  TOROID_CHECK(verified.ok(), verified.message(), "\n", text);
  if (!mesh.empty()) {
    const auto sizes = ParseAxisSizes(mesh);
    TOROID_CHECK(sizes.ok(), sizes.status().message());
    const absl::Status changed = ChangeMesh(*sizes, module->get());
    TOROID_CHECK(changed.ok(), changed.message());
  }
  return *std::move(module);
}

SearchedProgram PrepareForSearch(const std::string& text, const std::string& mesh) {
  SearchedProgram searched;
  searched.module = OnMesh(text, mesh);
  auto program = PrepareProgram(*searched.module, PartitionOptions());
  TOROID_CHECK(program.ok(), program.status().message(), "\n", text);
  searched.program = *std::move(program);
  searched.memo = std::make_unique<PlanMemo>(*searched.program);
  std::optional<PricedPlan> base = Propagated(CheapestAssignments(), searched.memo.get());
  TOROID_CHECK(base.has_value(), "no plan\n", text);
  searched.base = std::move(base->plan);
  // Axes of the mesh have prime sizes; neighbours make an axis of the author.
  const Mesh& axes = searched.program->annotations.mesh;
  int next = 0;
  for (const AxisSize& author : *ParseAxisSizes(mesh.empty() ? "x=1" : mesh)) {
    AxisList unit;
    for (int64_t size = 1; size < author.size; size *= axes.size(next++)) unit.push_back(next);
    if (!unit.empty()) searched.space.units.push_back(unit);
  }
  if (mesh.empty()) searched.space.units = SingleAxes(axes);
  return searched;
}

ShardingSearchOptions FewSteps() {
  ShardingSearchOptions options;
  options.solve.steps = 10;
  options.solve.threads = 1;
  return options;
}

}  // namespace toroid
