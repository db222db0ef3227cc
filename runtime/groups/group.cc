#include "runtime/groups/group.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/scalar_body.h"

namespace toroid {
namespace {

std::string ViewText(const View& view) {
  return absl::StrCat(view.offset == 0 ? "" : absl::StrCat("+", view.offset), "[",
                      absl::StrJoin(view.dims, ",",
                                    [](std::string* out, const View::Dim& dim) {
                                      absl::StrAppend(out, dim.size);
                                      if (dim.stride != 1) absl::StrAppend(out, ":", dim.stride);
                                    }),
                      "]");
}

std::string NodeText(const GroupNode& node) {
  const std::string operands = absl::StrCat("(", absl::StrJoin(node.operands, ", "), ")");
  switch (node.kind) {
    case GroupNode::Kind::kSource:
      return absl::StrCat("input ", node.input, ViewText(node.view));
    case GroupNode::Kind::kCount:
      return absl::StrCat("count", ViewText(node.view));
    case GroupNode::Kind::kExpand:
      return absl::StrCat("expand", operands);
    case GroupNode::Kind::kReduceRows:
    case GroupNode::Kind::kReduceLong:
      return absl::StrCat("reduce rows", operands);
    case GroupNode::Kind::kReduceLines:
      return absl::StrCat("reduce lines", operands);
    case GroupNode::Kind::kOp:
      break;
  }
  return absl::StrCat(node.instruction->opcode_name(), operands);
}

}  // namespace

ReduceForm ReduceFormOf(const Instruction& reduce) {
  ReduceForm form;
  if (reduce.opcode() != Opcode::kReduce || reduce.num_operands() != 2 || reduce.shape().IsTuple())
    return form;
  const Shape& shape = reduce.operand(0)->shape();
  if (shape.IsDynamic() || reduce.shape().IsDynamic() || shape.NumElements() == 0) return form;
  const std::optional<SimpleBody> body = ClassifyBody(*reduce.called(0));
  if (!body.has_value()) return form;
  const PrimitiveType type = HeldType(shape.element_type());
  form.opcode = body->opcode;
  form.line = FindLineReduction(body->opcode, type);
  form.fold = FindBinaryLoop(body->opcode, type);
  if (form.line.along == nullptr || form.fold == nullptr) return form;
  std::vector<bool> reduced(shape.rank(), false);
  for (const int64_t d : reduce.dimensions()) reduced[d] = true;
  ReduceNest nest;
  for (int d = 0; d < shape.rank(); ++d) nest.Add(shape.dim(d), !reduced[d]);
  const auto& dims = nest.dims;
  if (dims.empty() || dims.size() > 3) return form;
  if (!dims.back().kept) {
    if (dims.size() > 2) return form;
    form.kind = ReduceForm::Kind::kRows;
    form.row_length = dims.back().size;
  } else if (dims.size() >= 2) {
    // Many short runs of short rows are as fast by themselves.
    constexpr int64_t kFewElements = 256;
    const int64_t elements = dims.back().size * dims[dims.size() - 2].size;
    if (dims.size() == 3 && elements < kFewElements) return form;
    form.kind = ReduceForm::Kind::kLines;
    form.row_length = dims.back().size;
    form.segment_rows = dims[dims.size() - 2].size;
  }
  return form;
}

std::unique_ptr<Group> GroupOf(const Instruction& instruction) {
  auto group = std::make_unique<Group>();
  group->elements = instruction.shape().NumElements();
  group->num_inputs = instruction.num_operands();
  GroupNode node;
  node.type = instruction.shape().element_type();
  node.instruction = &instruction;
  node.op = ElementOpOf(instruction);
  Group::Output output = {instruction.num_operands(), instruction.shape().ByteSize(), 0};
  for (int i = 0; i < instruction.num_operands(); ++i) {
    const Shape& shape = instruction.operand(i)->shape();
    GroupNode source;
    source.kind = GroupNode::Kind::kSource;
    source.type = shape.element_type();
    source.input = i;
    source.input_elements = shape.NumElements();
    source.view = View::Whole(group->elements);
    if (source.input_elements != group->elements) source.view.dims[0].stride = 0;
    group->nodes.push_back(std::move(source));
    node.operands.push_back(i);
    output.depends |= uint64_t{1} << i;
  }
  group->nodes.push_back(std::move(node));
  group->outputs.push_back(output);
  return group;
}

std::string ToString(const Group& group) {
  std::string text = absl::StrCat(group.elements, " elements");
  if (group.row_length > 0) absl::StrAppend(&text, ", rows of ", group.row_length);
  absl::StrAppend(&text, "\n");
  for (size_t i = 0; i < group.nodes.size(); ++i) {
    const GroupNode& node = group.nodes[i];
    absl::StrAppend(&text, "  ", i, " ", TypeName(node.type), node.per_row ? " per row " : " ",
                    NodeText(node));
    for (size_t o = 0; o < group.outputs.size(); ++o) {
      if (group.outputs[o].node == static_cast<int>(i)) absl::StrAppend(&text, " -> output ", o);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace toroid
