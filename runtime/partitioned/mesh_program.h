// Runs a partitioned module repeatedly, with values that stay on its mesh between runs.
//
//   ASSIGN_OR_RETURN(const auto program, MeshProgram::Create(*partitioned, *module));
//   ASSIGN_OR_RETURN(MeshValue state, program->Cut(0, initial));
//   for (...) {
//     ASSIGN_OR_RETURN(std::vector<MeshValue> results, program->Run({std::move(state)}, options));
//     ASSIGN_OR_RETURN(state, program->Feed(0, std::move(results[0]), 0));
//   }
//   ASSIGN_OR_RETURN(const Literal final, program->AssembleParameter(0, state));
//
// A result fed to a parameter that is cut the same way is not copied.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/executor.h"
#include "runtime/mesh/mesh_value.h"

namespace toroid {

class MeshProgram {
 public:
  // `global` is the module before partitioning; only its shapes are used. Its parameters must be arrays, its
  // result an array or a tuple of arrays. `partitioned` must outlive the program, unchanged.
  // Errors: kInvalidArgument for other parameters or results, or if `partitioned` was not made from such a
  // module; those of Executor::Create.
  static absl::StatusOr<std::unique_ptr<MeshProgram>> Create(const Module& partitioned, const Module& global);

  int64_t num_devices() const { return num_devices_; }
  int num_parameters() const { return static_cast<int>(parameters_.size()); }
  int num_results() const { return static_cast<int>(results_.size()); }
  // Shapes of whole arrays.
  const Shape& parameter_shape(int i) const { return parameters_[i].global; }
  const Shape& result_shape(int i) const { return results_[i].global; }

  // The parts of parameter `i` on the devices. Errors: those of CutLiteral; kInvalidArgument for another
  // shape.
  absl::StatusOr<MeshValue> Cut(int i, const Literal& value) const;
  // The arrays of the result. `options`: num_partitions is set to the module's; all devices are here.
  // Errors: those of Executor::Run.
  absl::StatusOr<std::vector<MeshValue>> Run(std::vector<MeshValue> arguments, RunOptions options);
  // Result `result` as parameter `parameter`: unchanged if both are cut alike, else assembled and cut anew.
  // Errors: kInvalidArgument if their shapes differ.
  absl::StatusOr<MeshValue> Feed(int result, MeshValue value, int parameter) const;
  // Parameter `theirs` of `other` as parameter `parameter` of this program, which has as many devices.
  absl::StatusOr<MeshValue> Take(const MeshProgram& other, int theirs, MeshValue value, int parameter) const;
  // Result `theirs` of `other` as parameter `parameter` of this program.
  absl::StatusOr<MeshValue> TakeResult(const MeshProgram& other, int theirs, MeshValue value,
                                       int parameter) const;
  // Whole arrays, assembled from the parts on the devices.
  absl::StatusOr<Literal> AssembleParameter(int i, const MeshValue& value) const;
  absl::StatusOr<Literal> AssembleResult(int i, const MeshValue& value) const;

 private:
  struct Place {
    Shape global;
    std::vector<HloSharding> sharding;  // One entry.
  };

  MeshProgram() = default;
  absl::StatusOr<MeshValue> Recut(const Place& from, MeshValue value, int parameter) const;

  int64_t num_devices_ = 1;
  bool tuple_ = false;
  std::vector<Place> parameters_, results_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace toroid
