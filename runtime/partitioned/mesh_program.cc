#include "runtime/partitioned/mesh_program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/devices/spmd_record.h"
#include "runtime/partitioned/shard_literal.h"

namespace toroid {
namespace {

// Whether every device holds the same part of an array under both shardings.
bool CutAlike(const HloSharding& a, const HloSharding& b, const Shape& global, int64_t num_devices) {
  const auto whole = [](const HloSharding& sharding) {
    return !sharding.IsTiled() ||
           std::none_of(sharding.subgroups().begin(), sharding.subgroups().end(),
                        [](const HloSharding::Subgroup& s) { return s.type == xla::OpSharding::UNREDUCED; });
  };
  const auto plain = [](const HloSharding& sharding) {
    return sharding.IsTiled() || sharding.kind() == HloSharding::Kind::kReplicated;
  };
  if (!plain(a) || !plain(b) || !whole(a) || !whole(b)) return false;
  if (a.ShardDims(global.dims()) != b.ShardDims(global.dims())) return false;
  for (int64_t device = 0; device < num_devices; ++device) {
    if (a.TileIndex(device, global.rank()) != b.TileIndex(device, global.rank())) return false;
  }
  return true;
}

absl::Status DoNotBelongTogether(const Module& module) {
  return absl::InvalidArgumentError(
      absl::StrCat(module.entry()->name(), ": the partitioned module was not made from this module"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MeshProgram>> MeshProgram::Create(const Module& partitioned,
                                                                 const Module& global) {
  std::unique_ptr<MeshProgram> program(new MeshProgram());
  ASSIGN_OR_RETURN(program->num_devices_, PartitionsOf(partitioned));
  const Computation &entry = *global.entry(), &local = *partitioned.entry();
  const Shape& result = entry.root()->shape();
  program->tuple_ = result.IsTuple();
  if (local.num_parameters() != entry.num_parameters() ||
      local.root()->shape().IsTuple() != program->tuple_) {
    return DoNotBelongTogether(global);
  }
  for (int i = 0; i < entry.num_parameters(); ++i) {
    if (!entry.parameter(i)->shape().IsArray()) {
      return absl::InvalidArgumentError(absl::StrCat(entry.parameter(i)->Path(),
                                                     ": is no array; give the arrays of a tuple as "
                                                     "parameters of their own"));
    }
    ASSIGN_OR_RETURN(std::vector<HloSharding> sharding, ParameterShardings(partitioned, i));
    program->parameters_.push_back({entry.parameter(i)->shape(), std::move(sharding)});
  }
  std::vector<Shape> shapes = {result};
  if (program->tuple_) shapes.assign(result.tuple_shapes().begin(), result.tuple_shapes().end());
  ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, OutputShardings(partitioned));
  if (shardings.size() != shapes.size()) return DoNotBelongTogether(global);
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!shapes[i].IsArray()) {
      return absl::InvalidArgumentError(
          absl::StrCat(entry.root()->Path(), ": element ", i, " of the result is no array"));
    }
    program->results_.push_back({shapes[i], {shardings[i]}});
  }
  ASSIGN_OR_RETURN(program->executor_, Executor::Create(partitioned));
  return program;
}

absl::StatusOr<MeshValue> MeshProgram::Cut(int i, const Literal& value) const {
  const Place& place = parameters_[i];
  if (!value.shape().Compatible(place.global)) {
    return absl::InvalidArgumentError(absl::StrCat("parameter ", i, " is ", place.global.ToString(),
                                                   ", its value ", value.shape().ToString()));
  }
  return CutLiteral(value, place.sharding, num_devices_);
}

absl::StatusOr<std::vector<MeshValue>> MeshProgram::Run(std::vector<MeshValue> arguments,
                                                        RunOptions options) {
  options.num_partitions = num_devices_;
  ASSIGN_OR_RETURN(const MeshValue result, executor_->Run(std::move(arguments), options));
  if (!tuple_) return std::vector<MeshValue>{result};
  std::vector<MeshValue> results;
  for (int i = 0; i < num_results(); ++i) results.push_back(result.element(i));
  return results;
}

absl::StatusOr<MeshValue> MeshProgram::Recut(const Place& from, MeshValue value, int parameter) const {
  const Place& to = parameters_[parameter];
  if (!from.global.Compatible(to.global) || (value.num_devices() != num_devices_ && !value.uniform())) {
    return absl::InvalidArgumentError(absl::StrCat("parameter ", parameter, " takes ", to.global.ToString(),
                                                   " on ", num_devices_, " devices, the value is ",
                                                   from.global.ToString(), " on ", value.num_devices()));
  }
  if (CutAlike(from.sharding[0], to.sharding[0], to.global, num_devices_)) return value;
  ASSIGN_OR_RETURN(const Literal whole, AssembleLiteral(value, from.global, from.sharding));
  return Cut(parameter, whole);
}

absl::StatusOr<MeshValue> MeshProgram::Feed(int result, MeshValue value, int parameter) const {
  return Recut(results_[result], std::move(value), parameter);
}

absl::StatusOr<MeshValue> MeshProgram::Take(const MeshProgram& other, int theirs, MeshValue value,
                                            int parameter) const {
  return Recut(other.parameters_[theirs], std::move(value), parameter);
}

absl::StatusOr<MeshValue> MeshProgram::TakeResult(const MeshProgram& other, int theirs, MeshValue value,
                                                  int parameter) const {
  return Recut(other.results_[theirs], std::move(value), parameter);
}

absl::StatusOr<Literal> MeshProgram::AssembleParameter(int i, const MeshValue& value) const {
  return AssembleLiteral(value, parameters_[i].global, parameters_[i].sharding);
}

absl::StatusOr<Literal> MeshProgram::AssembleResult(int i, const MeshValue& value) const {
  return AssembleLiteral(value, results_[i].global, results_[i].sharding);
}

}  // namespace toroid
