// Writes the parameters and results of the entry computation, in the layouts and device orders of its caller.
//
// Between them all arrays are row-major and tiles lie in mesh order. Parameters and results have the layouts
// that the module states for them. Arrays whose sharding lists the devices in another order than the mesh are
// permuted here.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "partitioner/rewrite/rewriters.h"
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

// The op whose line is that of output `i` of `n`: what makes it, since a tuple has no line; the root where nothing in the
// program does.
const Instruction& MakerOf(const Instruction& root, size_t n, size_t i) {
  if (root.opcode() != Opcode::kTuple || static_cast<size_t>(root.num_operands()) != n) return root;
  const Instruction& made = *root.operand(static_cast<int>(i));
  return made.opcode() == Opcode::kParameter ? root : made;
}

}  // namespace

RewriteState::RewriteState(const PreparedProgram& program, const Plan& plan, LocalValueHook hook, Module* out)
    : program(program),
      module(*program.flat),
      graph(*program.graph),
      annotations(program.annotations),
      mesh(program.annotations.mesh),
      decided(plan),
      plan(plan.shardings),
      names(module, graph, annotations, program.relabeled),
      out(out),
      replications(module),
      values(program, plan.shardings, names, std::move(hook), &replications) {
  spmd.module = out;
  spmd.mesh = &mesh;
  spmd.cost = &program.planner->cost();
  spmd.name_of = [this](const Instruction& instruction) { return names.NameOf(instruction); };
  // Collectives that are added get channel ids above those of the input.
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      spmd.channel = std::max(spmd.channel, instruction->attrs().channel_id());
    }
  }
}

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

void RewriteParameters(RewriteState& state, SpmdBuilder& b, const Computation& entry) {
  const xla::ProgramShapeProto& program = state.module.proto().host_program_shape();
  for (const Instruction* parameter : entry.parameters()) {
    const auto leaves = state.graph.Leaves(*parameter);
    const int number = static_cast<int>(parameter->parameter_number());
    const Shape shape = InEntryLayout(
        parameter->shape(), number < program.parameters_size() ? &program.parameters(number) : nullptr);
    Instruction* local =
        b.computation()->AddParameter(PlannedLocalShape(state, b, shape, leaves), parameter->name());
    local->set_metadata(parameter->metadata());
    local->set_frontend_attributes(parameter->frontend_attributes());
    const std::vector<Instruction*> locals = b.Flatten(local);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const int t = leaves[i];
      const Sharding sharding = state.values.Planned(t);
      Instruction* leaf = locals[i];
      if (state.graph.shape(t).IsArray()) leaf = b.ToRowMajor(leaf);
      if (const DeviceOrder* order = ForeignOrder(state.annotations, t)) {
        b.SetProvenance(parameter, "device order");
        leaf = FromDeviceOrder(b, leaf, *order, sharding);
      }
      state.values.AddMade(b, t, sharding, leaf);
    }
  }
}

void RewriteResults(RewriteState& state, SpmdBuilder& b, const Computation& entry) {
  const Instruction& root = *entry.root();
  const auto leaves = state.graph.Leaves(root);
  const xla::ProgramShapeProto& program = state.module.proto().host_program_shape();
  const Shape result = InEntryLayout(root.shape(), program.has_result() ? &program.result() : nullptr);
  std::vector<const Shape*> shapes;
  AppendLeaves(result, &shapes);
  std::vector<Instruction*> locals;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const int output = state.graph.outputs()[i];
    const Instruction& maker = MakerOf(root, leaves.size(), i);
    Sharding wanted = state.plan[output];
    wanted.manual = state.annotations.manual[leaves[i]];
    const std::string name = state.names.OutputName(static_cast<int>(i));
    Instruction* local = state.values.Get(b, leaves[i], wanted, maker, name);
    if (const DeviceOrder* order = ForeignOrder(state.annotations, output)) {
      b.SetProvenance(&maker, "device order", name);
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
