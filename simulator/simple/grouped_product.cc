#include "simulator/simple/grouped_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "simulator/simple/kernel_body.h"

namespace toroid {
namespace {

double Extent(const Shape& shape, int dim) { return static_cast<double>(shape.dim(dim)); }

double BytesOf(const Shape& shape) { return static_cast<double>(shape.ByteSize()); }

bool IsIndices(const Shape& shape) {
  return shape.IsArray() && shape.element_type() == xla::S32 && shape.rank() == 1;
}

// What says which rows belong to which group.
struct Groups {
  int first_array = 0;  // Operands from here on are arrays.
  double all = 0;       // Of all devices.
  double blocks = 0;    // At most, of rows.
};

std::optional<Groups> GroupsOf(const Instruction& call) {
  constexpr int kIndices = 4;
  int first = 0;
  if (call.num_operands() > 0 && call.operand(0)->shape().IsArray() && call.operand(0)->shape().rank() == 0)
    ++first;
  if (call.num_operands() < first + kIndices + 2) return std::nullopt;
  for (int i = 0; i < kIndices; ++i) {
    if (!IsIndices(call.operand(first + i)->shape())) return std::nullopt;
  }
  const Shape &offsets = call.operand(first)->shape(), &ids = call.operand(first + 1)->shape();
  if (ids.dim(0) != call.operand(first + 2)->shape().dim(0) || offsets.dim(0) < 2) return std::nullopt;
  return Groups{first + kIndices, Extent(offsets, 0) - 1, Extent(ids, 0)};
}

}  // namespace

std::optional<GroupedProduct> GroupedProductOf(const Instruction& call) {
  const std::optional<Groups> groups = GroupsOf(call);
  if (!groups.has_value() || !call.shape().IsArray()) return std::nullopt;
  const Shape& lhs = call.operand(groups->first_array)->shape();
  const Shape& rhs = call.operand(groups->first_array + 1)->shape();
  const Shape& result = call.shape();
  GroupedProduct product;
  product.is_of_matrices = result.rank() == 3;
  const Shape& matrices = product.is_of_matrices ? result : rhs;
  const Shape& columns = product.is_of_matrices ? rhs : result;
  if (lhs.rank() != 2 || columns.rank() != 2 || matrices.rank() != 3) return std::nullopt;
  const std::optional<KernelBody> body = ReadKernelBody(call);
  if (!body.has_value() || body->windows.size() < 3 || body->windows[0].size() != 2) return std::nullopt;
  const std::vector<int64_t>& of_columns = product.is_of_matrices ? body->windows[1] : body->windows.back();
  if (of_columns.size() != 2) return std::nullopt;
  const auto block = [](int64_t extent) { return static_cast<double>(std::max<int64_t>(1, extent)); };
  product.block_m = block(body->windows[0][0]);
  product.block_k = block(body->windows[0][1]);
  product.block_n = block(of_columns[1]);
  const double m = Extent(lhs, 0), k = Extent(lhs, 1), n = Extent(columns, 1), local = Extent(matrices, 0);
  const double share = std::min(1.0, local / groups->all);
  const double row_blocks = std::min(groups->blocks, std::ceil(m * share / product.block_m) + local - 1);
  const double blocks_k = std::ceil(k / product.block_k), blocks_n = std::ceil(n / product.block_n);
  product.blocks = row_blocks * blocks_k * blocks_n;
  product.flops = 2 * m * share * k * n;
  if (product.is_of_matrices) {
    product.bytes = share * (BytesOf(lhs) * blocks_n + BytesOf(rhs) * blocks_k) + BytesOf(result);
  } else {
    // With one block of what is contracted, a matrix stays for all rows of its group.
    const double times_read = blocks_k > 1 ? row_blocks : local;
    product.bytes =
        share * BytesOf(lhs) * blocks_n + times_read * BytesOf(rhs) / local + share * BytesOf(result);
  }
  return product;
}

}  // namespace toroid
