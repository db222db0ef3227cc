// BUILD: embed "kernels.textproto"
#include "simulator/simple/kernel_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/match.h"
#include "google/protobuf/text_format.h"
#include "hlo/base/status.h"
#include "simulator/chip/core_model.h"
#include "simulator/program/loop_constant.h"
#include "simulator/simple/grouped_product.h"
#include "simulator/simple/kernel_body.h"
#include "simulator/simple/kernels.pb.h"

namespace toroid {
namespace {

struct EmbeddedFile {
  const char* name;
  const char* text;
};
constexpr EmbeddedFile kFiles[] = {
#include "simulator/simple/kernel_time_embedded.inc"
};

const KernelTable& Kernels() {
  static const auto* table = [] {
    auto* parsed = new KernelTable();
    TOROID_CHECK(google::protobuf::TextFormat::ParseFromString(kFiles[0].text, parsed), kFiles[0].name);
    return parsed;
  }();
  return *table;
}

const KernelSpec* SpecOf(const Instruction& call) {
  if (!IsTpuKernel(call) || call.metadata() == nullptr) return nullptr;
  const int64_t results =
      call.shape().IsTuple() ? static_cast<int64_t>(call.shape().tuple_shapes().size()) : 1;
  for (const KernelSpec& kernel : Kernels().kernels()) {
    if (absl::StrContains(call.metadata()->op_name(), kernel.name()) &&
        (kernel.results() == 0 || kernel.results() == results)) {
      return &kernel;
    }
  }
  return nullptr;
}

// Bundles were counted for one core; several of one device share the blocks.
double CyclesPerBundle(const CoreSpec& core) {
  return static_cast<double>(Kernels().bundle_slots()) / static_cast<double>(core.vector().slots());
}

// Blocks of queries and keys, and how many of all rows x columns are computed.
struct BlockMask {
  double rows = 1, columns = 1;
  double computed = 0;  // Of one head.
};

std::optional<BlockMask> MaskOf(const Instruction& call) {
  if (call.num_operands() < 4) return std::nullopt;
  const Shape& shape = call.operand(1)->shape();
  if (shape.element_type() != xla::S8 || shape.rank() != 3 || shape.NumElements() == 0) return std::nullopt;
  const std::optional<Literal> mask = LoopConstant(*call.operand(1));
  if (!mask.has_value()) return std::nullopt;
  BlockMask blocks;
  blocks.rows = static_cast<double>(shape.dim(1));
  blocks.columns = static_cast<double>(shape.dim(2));
  // The mask of each head, or of all; where heads are on several devices each has a part of it.
  const char* bytes = mask->bytes();
  const int64_t all = mask->shape().NumElements();
  const auto computed = std::count_if(bytes, bytes + all, [](char block) { return block != 0; });
  blocks.computed = static_cast<double>(computed) / static_cast<double>(all) * blocks.rows * blocks.columns;
  return blocks;
}

KernelTime TimeOfBlocks(const GroupedProduct& product, const KernelSpec& kernel, const CoreSpec& core) {
  const double tile = static_cast<double>(core.matrix().tile());
  const auto tiles = [&](double extent) { return std::ceil(extent / tile); };
  const double products = product.block_m * tiles(product.block_k) * tiles(product.block_n) /
                          static_cast<double>(core.matrix().units());
  const double sums =
      product.is_of_matrices ? product.block_k * product.block_n : product.block_m * product.block_n;
  const double others =
      (kernel.block_bundles() + kernel.bundles_per_kilosum() * sums / 1024) * CyclesPerBundle(core);
  KernelTime time;
  time.flops = product.flops;
  time.bytes = product.bytes;
  time.is_matrix_bound = products > others;
  time.seconds = product.blocks * (products + others) / core.clock_hertz();
  return time;
}

std::optional<KernelTime> AttentionTime(const Instruction& group, const KernelSpec& kernel,
                                        const CoreSpec& core) {
  // [batch, heads, queries, head dimension], and the same with keys.
  const Shape &queries = group.operand(2)->shape(), &keys = group.operand(3)->shape();
  if (queries.rank() < 3 || keys.rank() < 3) return std::nullopt;
  const std::optional<BlockMask> mask = MaskOf(group);
  if (!mask.has_value()) return std::nullopt;
  const double depth = static_cast<double>(queries.dim(queries.rank() - 1));
  const double length = static_cast<double>(queries.dim(queries.rank() - 2));
  const double heads = static_cast<double>(queries.NumElements()) / (length * depth);
  const double scores =
      length * static_cast<double>(keys.dim(keys.rank() - 2)) / (mask->rows * mask->columns);
  const double tile = static_cast<double>(core.matrix().tile());
  const double flops = static_cast<double>(kernel.products()) * 2 * scores * depth;
  const double padded = flops * std::ceil(depth / tile) * tile / depth;
  const double products = padded / (2 * tile * tile * static_cast<double>(core.matrix().units()));
  const double per_bundle = CyclesPerBundle(core);
  const double others = scores / 1024 * kernel.bundles_per_kiloscore() * per_bundle;
  KernelTime time;
  time.flops = flops * mask->computed * heads;
  time.is_matrix_bound = products > others;
  const double cycles =
      std::max(products, others) * mask->computed +
      (kernel.block_bundles() * mask->computed + kernel.row_bundles() * mask->rows) * per_bundle;
  time.seconds = cycles * heads / core.clock_hertz();
  return time;
}

}  // namespace

std::optional<KernelTime> KernelTimeOf(const Instruction& group, const CoreSpec& core) {
  const KernelSpec* kernel = SpecOf(group);
  if (kernel == nullptr) return std::nullopt;
  if (!kernel->is_grouped_product()) return AttentionTime(group, *kernel, core);
  const std::optional<GroupedProduct> product = GroupedProductOf(group);
  if (!product.has_value()) return std::nullopt;
  return TimeOfBlocks(*product, *kernel, core);
}

}  // namespace toroid
