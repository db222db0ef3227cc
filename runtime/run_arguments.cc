#include "runtime/run_arguments.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/text_table.h"
#include "hlo/ir/spmd_record.h"
#include "runtime/npz.h"
#include "runtime/numpy_arguments.h"
#include "runtime/random_arguments.h"
#include "runtime/shard_literal.h"

namespace toroid {
namespace {

absl::StatusOr<RunArguments> RecordedArguments(const HloFile& file) {
  RunArguments arguments;
  ASSIGN_OR_RETURN(arguments.values, file.Arguments());
  ASSIGN_OR_RETURN(arguments.result, file.Result());
  return arguments;
}

absl::StatusOr<RunArguments> ArgumentsOfFile(const Module& module, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadInput(path));
  if (LooksLikeNumpy(bytes)) {
    auto values = NumpyArguments(bytes, *module.entry());
    if (!values.ok()) return Annotate(values.status(), path);
    return RunArguments{*std::move(values), std::nullopt};
  }
  auto snapshot = ReadHlo(bytes);
  if (!snapshot.ok()) return Annotate(snapshot.status(), path);
  if (!snapshot->HasArguments() && module.entry()->num_parameters() > 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": holds no arguments"));
  }
  return RecordedArguments(*snapshot);
}

absl::StatusOr<std::vector<Shape>> GlobalArgumentShapes(const Module& module) {
  std::vector<Shape> shapes;
  int64_t num_partitions = 1;
  if (IsPartitioned(module)) {
    ASSIGN_OR_RETURN(num_partitions, PartitionsOf(module));
  }
  for (int i = 0; i < module.entry()->num_parameters(); ++i) {
    Shape shape = module.entry()->parameter(i)->shape();
    if (IsPartitioned(module)) {
      ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, ParameterShardings(module, i));
      ASSIGN_OR_RETURN(shape, GlobalShape(shape, shardings, num_partitions));
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace

absl::StatusOr<RunArguments> FindArguments(const HloFile& file, const std::string& args, uint64_t seed,
                                           int64_t max_bytes) {
  if (!args.empty()) return ArgumentsOfFile(*file.module, args);
  if (file.HasArguments() || file.snapshot != nullptr) return RecordedArguments(file);
  ASSIGN_OR_RETURN(const std::vector<Shape> shapes, GlobalArgumentShapes(*file.module));
  int64_t bytes = 0;
  for (const Shape& shape : shapes) {
    const std::optional<int64_t> sum = CheckedAdd(bytes, shape.ByteSize());
    if (!sum || *sum > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the arguments take ", sum ? BytesText(*sum) : "more than 9.2 EB", ", the limit is ",
                       BytesText(max_bytes), "; raise it with --max_bytes"));
    }
    bytes = *sum;
  }
  RunArguments arguments;
  arguments.values = RandomLiterals(shapes, IndexBound(*file.module), seed);
  return arguments;
}

absl::StatusOr<std::vector<NpyArray>> ReadInfeed(const std::string& path) {
  std::vector<NpyArray> values;
  if (path.empty()) return values;
  ASSIGN_OR_RETURN(const std::string bytes, ReadInput(path));
  auto members = ReadNpz(bytes);
  if (!members.ok()) return Annotate(members.status(), path);
  const size_t n = members->size();
  std::vector<size_t> places(n);
  std::vector<bool> taken(n, false);
  bool by_number = true;
  for (size_t i = 0; i < n && by_number; ++i) {
    size_t& place = places[i];
    by_number =
        absl::SimpleAtoi(absl::StripPrefix((*members)[i].name, "arr_"), &place) && place < n && !taken[place];
    if (by_number) taken[place] = true;
  }
  values.resize(n);
  for (size_t i = 0; i < n; ++i) values[by_number ? places[i] : i] = std::move((*members)[i].array);
  return values;
}

}  // namespace toroid
