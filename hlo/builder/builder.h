// Builds modules in C++: an InstructionBuilder for the entry, with sharding annotations.
//
//   Builder b("mlp", /*num_devices=*/8);
//   Value x = b.Split(b.Parameter(Shape(xla::F32, {64, 32}), "x"), 0, 8);
//   Value w = b.Replicate(b.Parameter(Shape(xla::F32, {32, 16}), "w"));
//   Value y = b.Einsum("BM,MH->BH", x, w);
//   ASSIGN_OR_RETURN(auto module, b.Build(b.Maximum(y, b.FullLike(y, 0))));
//
// Errors: Build() returns the first one; values returned after it are meaningless.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/module.h"

namespace toroid {

// The axes that cut one dimension, major to minor: "x", {"x", "y"}, or {} for none.
struct AxisNames {
  AxisNames() = default;
  AxisNames(const char* axis) : names({axis}) {}                                           // NOLINT
  AxisNames(std::initializer_list<const char*> axes) : names(axes.begin(), axes.end()) {}  // NOLINT
  std::vector<std::string> names;
};

// Named axes over devices 0 .. N-1 in row-major order.
struct NamedMesh {
  std::vector<std::pair<std::string, int64_t>> axes;
};

// Which device holds each tile. `tiles`: number of parts of each dimension; `devices`: the devices of the
// tiles in row-major order.
struct DeviceAssignment {
  std::vector<int64_t> tiles;
  std::vector<int64_t> devices;
};

class Builder : public InstructionBuilder {
 public:
  explicit Builder(std::string name, int64_t num_devices = 1);

  // The module with this value as its result. Requires: called once.
  // Errors: kInvalidArgument with the first error.
  absl::StatusOr<std::unique_ptr<Module>> Build(Value root);
  int64_t num_devices() const { return num_devices_; }

  // During its lifetime, new ops get the metadata op_name `path/name` and the source line that opened the
  // scope.
  class Scope {
   public:
    Scope(Builder* builder, absl::string_view name,
          std::source_location where = std::source_location::current());
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder* builder_;
    const xla::OpMetadata* outer_;
  };

  // ---- Sharding annotations
  // Annotations never change logical shapes. A parameter carries its annotation itself. Any other value gets
  // a `Sharding` custom call, whose result must be used in place of the value.

  Value Annotate(Value x, const xla::OpSharding& sharding);
  // The same data on every device.
  Value Replicate(Value x);
  // n parts along the dimension, where n divides the number of devices; part i lies on devices i, i + n, ..
  Value Split(Value x, int64_t dimension, int64_t n);
  // Explicit placement of tiles.
  Value Shard(Value x, const DeviceAssignment& assignment);
  // Mesh axes per dimension; axes that cut no dimension replicate. Requires: SetMesh was called.
  Value Shard(Value x, const std::vector<AxisNames>& axes);
  // Errors: unless the axes' sizes multiply to the number of devices.
  void SetMesh(NamedMesh mesh);

  // Enters manual mode: the result is this device's shard of x. Requires: x is annotated.
  Value AutoToManual(Value x);
  // Leaves manual mode: the devices' values become the shards of an array of sizes `full`. It is cut along
  // the dimensions that grow, in row-major device order, or by `sharding`.
  Value ManualToAuto(Value x, absl::Span<const int64_t> full);
  Value ManualToAuto(Value x, absl::Span<const int64_t> full, const xla::OpSharding& sharding);

 private:
  Builder(std::unique_ptr<Module> module, int64_t num_devices);

  Value AnnotatedCall(absl::string_view target, const Shape& shape, Value operand,
                      const xla::OpSharding& sharding);

  std::unique_ptr<Module> module_;
  int64_t num_devices_;
  NamedMesh mesh_;
};

// The sharding that cuts dimension `dimension` of an array of this rank into n parts, for Builder::Split.
xla::OpSharding SplitSharding(int rank, int64_t dimension, int64_t n, int64_t num_devices);

}  // namespace toroid
