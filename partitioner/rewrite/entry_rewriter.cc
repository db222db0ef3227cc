#include "partitioner/rewrite/entry_rewriter.h"

#include <string>
#include <utility>
#include <vector>

#include "partitioner/spmd/permute_tiles.h"

namespace toroid {
namespace {

// `shape`, of a parameter or the result of the entry, in the layouts that the module states for it. These
// override the layouts of the instruction, which may be defaults.
Shape InEntryLayout(const Shape& shape, const xla::ShapeProto* stated) {
  if (stated == nullptr) return shape;
  const absl::StatusOr<Shape> layout = Shape::FromProto(*stated);
  return layout.ok() && layout->Compatible(shape) ? WithLayoutOf(shape.WithRowMajorLayout(), *layout) : shape;
}

// The device order of the tensor's annotation if it is not the mesh's; null otherwise.
const DeviceOrder* ForeignOrder(const Annotations& annotations, int tensor) {
  const std::optional<Annotation>& annotation = annotations.tensor[tensor];
  return annotation && annotation->foreign ? &annotation->foreign->order() : nullptr;
}

}  // namespace

Shape PlannedLocalShape(const RewriteState& state, const SpmdBuilder& b, const Shape& shape,
                        absl::Span<const int> leaves) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      elements.push_back(PlannedLocalShape(state, b, element, leaves));
      leaves.remove_prefix(element.NumLeaves());
    }
    return Shape::Tuple(std::move(elements));
  }
  return shape.IsArray() ? WithLayoutOf(b.ShardShape(shape, state.plan[leaves[0]]), shape) : shape;
}

void EntryRewriter::RewriteParameters(SpmdBuilder& b, const Computation& entry) {
  const xla::ProgramShapeProto& program = state_.module.proto().host_program_shape();
  for (const Instruction* parameter : entry.parameters()) {
    const auto leaves = state_.graph.Leaves(*parameter);
    const int number = static_cast<int>(parameter->parameter_number());
    const Shape shape = InEntryLayout(
        parameter->shape(), number < program.parameters_size() ? &program.parameters(number) : nullptr);
    Instruction* local =
        b.computation()->AddParameter(PlannedLocalShape(state_, b, shape, leaves), parameter->name());
    local->set_metadata(parameter->metadata());
    local->set_frontend_attributes(parameter->frontend_attributes());
    const std::vector<Instruction*> locals = b.Flatten(local);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const int t = leaves[i];
      const Sharding sharding = state_.values.Planned(t);
      Instruction* leaf = locals[i];
      if (state_.graph.shape(t).IsArray()) leaf = b.ToRowMajor(leaf);
      if (const DeviceOrder* order = ForeignOrder(state_.annotations, t)) {
        b.SetProvenance(parameter, "device order");
        leaf = FromDeviceOrder(b, leaf, *order, sharding);
      }
      state_.values.AddMade(b, t, sharding, leaf);
    }
  }
}

void EntryRewriter::RewriteResults(SpmdBuilder& b, const Computation& entry) {
  const Instruction& root = *entry.root();
  const auto leaves = state_.graph.Leaves(root);
  const xla::ProgramShapeProto& program = state_.module.proto().host_program_shape();
  const Shape result = InEntryLayout(root.shape(), program.has_result() ? &program.result() : nullptr);
  std::vector<const Shape*> shapes;
  AppendLeaves(result, &shapes);
  std::vector<Instruction*> locals;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const int output = state_.graph.outputs()[i];
    Sharding wanted = state_.plan[output];
    wanted.manual = state_.annotations.manual[leaves[i]];
    const std::string name = state_.names.OutputName(static_cast<int>(i));
    Instruction* local = state_.values.Get(b, leaves[i], wanted, root, name);
    if (const DeviceOrder* order = ForeignOrder(state_.annotations, output)) {
      b.SetProvenance(&root, "device order", name);
      local = ToDeviceOrder(b, local, *order, wanted);
    }
    b.SetProvenance(&root);
    // The caller expects results in the layouts that the entry states.
    if (shapes[i]->IsArray()) local = b.ToLayout(local, *shapes[i]);
    locals.push_back(local);
  }
  b.computation()->set_root(b.Unflatten(root.shape(), locals));
}

}  // namespace toroid
