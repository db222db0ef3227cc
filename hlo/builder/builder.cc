#include "hlo/builder/builder.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

Dims AllDims(const Shape& shape) { return Dims(shape.dims().begin(), shape.dims().end()); }

// devices = 0 .. product-1 in the shape `reshape`, transposed by `permutation`, read as `tiles`.
xla::OpSharding IotaSharding(absl::Span<const int64_t> tiles, absl::Span<const int64_t> reshape,
                             absl::Span<const int64_t> permutation, bool replicate_last) {
  xla::OpSharding sharding;
  sharding.set_type(xla::OpSharding::OTHER);
  sharding.mutable_tile_assignment_dimensions()->Add(tiles.begin(), tiles.end());
  sharding.set_replicate_on_last_tile_dim(replicate_last);
  if (std::is_sorted(permutation.begin(), permutation.end())) {
    sharding.add_iota_reshape_dims(
        std::accumulate(tiles.begin(), tiles.end(), int64_t{1}, std::multiplies<>()));
    sharding.add_iota_transpose_perm(0);
  } else {
    sharding.mutable_iota_reshape_dims()->Add(reshape.begin(), reshape.end());
    for (const int64_t d : permutation) sharding.add_iota_transpose_perm(static_cast<int32_t>(d));
  }
  return sharding;
}

xla::OpSharding Manual() {
  xla::OpSharding sharding;
  sharding.set_type(xla::OpSharding::MANUAL);
  return sharding;
}

}  // namespace

xla::OpSharding SplitSharding(int rank, int64_t dimension, int64_t n, int64_t num_devices) {
  if (n == 1) return xla::OpSharding();
  std::vector<int64_t> tiles(rank, 1);
  tiles[dimension] = n;
  if (n == num_devices) return IotaSharding(tiles, {n}, {0}, /*replicate_last=*/false);
  tiles.push_back(num_devices / n);
  // Part i is on devices i, i + n, ..: the major index of a device is the number of the copy.
  return IotaSharding(tiles, {num_devices / n, n}, {1, 0}, /*replicate_last=*/true);
}

Builder::Builder(std::string name, int64_t num_devices)
    : Builder(std::make_unique<Module>(std::move(name)), num_devices) {}

Builder::Builder(std::unique_ptr<Module> module, int64_t num_devices)
    : InstructionBuilder(module->AddComputation("main")),
      module_(std::move(module)),
      num_devices_(num_devices) {
  if (num_devices < 1) Fail(absl::InvalidArgumentError(absl::StrCat(num_devices, " devices; at least 1")));
}

absl::StatusOr<std::unique_ptr<Module>> Builder::Build(Value root) {
  RETURN_IF_ERROR(status());
  Computation* const entry = Finish(root);
  module_->set_entry(entry);
  // Callees were added after their callers; this sorts them.
  module_->RemoveUnreachableComputations();
  return std::move(module_);
}

Builder::Scope::Scope(Builder* builder, absl::string_view name, std::source_location where)
    : builder_(builder), outer_(builder->metadata()) {
  auto* metadata = builder->module()->New<xla::OpMetadata>();
  metadata->set_op_name(outer_ == nullptr ? std::string(name) : absl::StrCat(outer_->op_name(), "/", name));
  metadata->set_source_file(where.file_name());
  metadata->set_source_line(static_cast<int32_t>(where.line()));
  builder->set_metadata(metadata);
}

Builder::Scope::~Scope() { builder_->set_metadata(outer_); }

Value Builder::AnnotatedCall(absl::string_view target, const Shape& shape, Value operand,
                             const xla::OpSharding& sharding) {
  Value call = CustomCall(target, shape, {operand});
  call->set_sharding(module()->New(sharding));
  return call;
}

Value Builder::Annotate(Value x, const xla::OpSharding& sharding) {
  if (x->opcode() != Opcode::kParameter) return AnnotatedCall("Sharding", x->shape(), x, sharding);
  x->set_sharding(module()->New(sharding));
  return x;
}

Value Builder::Replicate(Value x) { return Annotate(x, xla::OpSharding()); }

Value Builder::Split(Value x, int64_t dimension, int64_t n) {
  if (dimension < 0 || dimension >= x->shape().rank() || n < 1 || num_devices_ % n != 0) {
    return Failed(absl::InvalidArgumentError(absl::StrCat(
                      "split of dimension ", dimension, " of ", x->shape().ToString(), " into ", n,
                      " parts on ", num_devices_, " devices; the parts must divide the devices")),
                  x->shape());
  }
  return Annotate(x, SplitSharding(x->shape().rank(), dimension, n, num_devices_));
}

Value Builder::Shard(Value x, const DeviceAssignment& assignment) {
  int64_t count = 1;
  bool valid = static_cast<int>(assignment.tiles.size()) == x->shape().rank();
  for (const int64_t tiles : assignment.tiles) {
    valid &= tiles >= 1 && tiles <= num_devices_;
    if (valid) count *= tiles;
    valid &= count <= num_devices_;
  }
  std::vector<int64_t> sorted = assignment.devices;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) valid &= sorted[i] == static_cast<int64_t>(i);
  if (!valid || count != num_devices_ || static_cast<int64_t>(sorted.size()) != count) {
    return Failed(absl::InvalidArgumentError(absl::StrCat("the device assignment of ", x->shape().ToString(),
                                                          " must have its rank and name each of ",
                                                          num_devices_, " devices once")),
                  x->shape());
  }
  xla::OpSharding sharding;
  sharding.set_type(xla::OpSharding::OTHER);
  sharding.mutable_tile_assignment_dimensions()->Add(assignment.tiles.begin(), assignment.tiles.end());
  sharding.mutable_tile_assignment_devices()->Add(assignment.devices.begin(), assignment.devices.end());
  return Annotate(x, sharding);
}

void Builder::SetMesh(NamedMesh mesh) {
  int64_t count = 1;
  for (const auto& [name, size] : mesh.axes) count = CheckedMultiply(count, size).value_or(0);
  if (count != num_devices_) {
    Fail(absl::InvalidArgumentError(absl::StrCat("a mesh of ", count, " devices on ", num_devices_)));
  }
  mesh_ = std::move(mesh);
}

Value Builder::Shard(Value x, const std::vector<AxisNames>& axes) {
  if (static_cast<int>(axes.size()) != x->shape().rank()) {
    return Failed(
        absl::InvalidArgumentError(absl::StrCat(axes.size(), " lists of axes for ", x->shape().ToString())),
        x->shape());
  }
  std::vector<int64_t> tiles, sizes, permutation;
  std::vector<bool> used(mesh_.axes.size(), false);
  for (const auto& [name, size] : mesh_.axes) sizes.push_back(size);
  for (const AxisNames& dimension : axes) {
    tiles.push_back(1);
    for (const std::string& name : dimension.names) {
      size_t i = 0;
      while (i < mesh_.axes.size() && mesh_.axes[i].first != name) ++i;
      if (i == mesh_.axes.size() || used[i]) {
        return Failed(absl::InvalidArgumentError(absl::StrCat("axis ", name, " is unknown or used twice")),
                      x->shape());
      }
      used[i] = true;
      tiles.back() *= sizes[i];
      permutation.push_back(static_cast<int64_t>(i));
    }
  }
  int64_t rest = 1;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    rest *= sizes[i];
    permutation.push_back(static_cast<int64_t>(i));
  }
  if (rest == num_devices_) return Replicate(x);
  if (rest > 1) tiles.push_back(rest);
  return Annotate(x, IotaSharding(tiles, sizes, permutation, /*replicate_last=*/rest > 1));
}

Value Builder::AutoToManual(Value x) {
  if (x->sharding() == nullptr || x->sharding()->tile_assignment_dimensions_size() < x->shape().rank()) {
    return Failed(
        absl::InvalidArgumentError("AutoToManual of a value without a tiled annotation; Split or Shard it"),
        x->shape());
  }
  Dims dims = AllDims(x->shape());
  for (size_t d = 0; d < dims.size(); ++d) {
    dims[d] = CeilOfRatio(dims[d], x->sharding()->tile_assignment_dimensions(static_cast<int>(d)));
  }
  Value annotated =
      x->opcode() == Opcode::kParameter ? AnnotatedCall("Sharding", x->shape(), x, *x->sharding()) : x;
  return AnnotatedCall("SPMDFullToShardShape", Shape(x->shape().element_type(), dims), annotated, Manual());
}

Value Builder::ManualToAuto(Value x, absl::Span<const int64_t> full) {
  std::vector<int64_t> tiles;
  int64_t count = 1;
  bool valid = static_cast<int>(full.size()) == x->shape().rank();
  for (size_t d = 0; valid && d < full.size(); ++d) {
    const int64_t local = x->shape().dim(d);
    valid = local > 0 ? full[d] >= local : full[d] == 0;
    if (!valid) break;
    tiles.push_back(local > 0 ? CeilOfRatio(full[d], local) : 1);
    count = CheckedMultiply(count, tiles.back()).value_or(-1);
    valid = count >= 1 && count <= num_devices_;
  }
  if (!valid || num_devices_ % count != 0) {
    return Failed(
        absl::InvalidArgumentError(absl::StrCat("ManualToAuto of ", x->shape().ToString(), " to [",
                                                absl::StrJoin(full, ","), "] on ", num_devices_, " devices")),
        x->shape());
  }
  if (count == 1) return ManualToAuto(x, full, xla::OpSharding());
  const int64_t copies = num_devices_ / count;
  if (copies == 1) return ManualToAuto(x, full, IotaSharding(tiles, {count}, {0}, false));
  tiles.push_back(copies);
  return ManualToAuto(x, full, IotaSharding(tiles, {copies, count}, {1, 0}, /*replicate_last=*/true));
}

Value Builder::ManualToAuto(Value x, absl::Span<const int64_t> full, const xla::OpSharding& sharding) {
  Value manual = AnnotatedCall("Sharding", x->shape(), x, Manual());
  return AnnotatedCall("SPMDShardToFullShape", Shape(x->shape().element_type(), full), manual, sharding);
}

}  // namespace toroid
