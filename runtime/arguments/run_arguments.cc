#include "runtime/arguments/run_arguments.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/text_table.h"
#include "hlo/devices/spmd_record.h"
#include "runtime/arguments/argument_domains.h"
#include "runtime/arguments/npy.h"
#include "runtime/arguments/npz.h"
#include "runtime/arguments/numpy_arguments.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/mesh/limit_error.h"
#include "runtime/partitioned/shard_literal.h"

namespace toroid {
namespace {

// Most bytes of a file of arguments beside its values: a snapshot's module, headers.
constexpr int64_t kBesideValues = 16 << 20;

constexpr absl::string_view kDevicesSuffix = "_devices";

class NpyInfeed : public Infeed {
 public:
  explicit NpyInfeed(std::vector<NpyArray> arrays) : arrays_(std::move(arrays)) {}
  int64_t size() const override { return static_cast<int64_t>(arrays_.size()); }
  absl::StatusOr<Literal> Value(int64_t i, PrimitiveType type) const override {
    if (arrays_[i].untyped.empty()) return arrays_[i].values;
    return AsType(arrays_[i], type);
  }

 private:
  const std::vector<NpyArray> arrays_;
};

absl::StatusOr<RunArguments> RecordedArguments(const HloFile& file) {
  RunArguments arguments;
  ASSIGN_OR_RETURN(arguments.values, file.Arguments());
  ASSIGN_OR_RETURN(arguments.result, file.Result());
  return arguments;
}

// Says which limit was exceeded, if a reader refused the size.
absl::Status NamingTheLimit(const absl::Status& status, int64_t max_bytes) {
  if (status.code() != absl::StatusCode::kResourceExhausted) return status;
  return OverMemoryLimit(absl::StrCat(status.message(), "; the limit is ", BytesText(max_bytes)));
}

// Reads a file whose values take at most `max_bytes`.
absl::StatusOr<std::string> ReadValues(const std::string& path, int64_t max_bytes) {
  const int64_t most = CheckedAdd(max_bytes, kBesideValues).value_or(INT64_MAX);
  if (most >= static_cast<int64_t>(kMaxFileBytes)) return ReadInput(path);
  absl::StatusOr<std::string> bytes = ReadInput(path, static_cast<size_t>(most));
  if (!bytes.ok()) return NamingTheLimit(bytes.status(), max_bytes);
  return bytes;
}

absl::StatusOr<RunArguments> ArgumentsOfFile(const Module& module, const std::string& path,
                                             int64_t max_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is a folder; give one file that holds all arguments: .npz, .npy or a snapshot"));
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadValues(path, max_bytes));
  if (LooksLikeNumpy(bytes)) {
    ASSIGN_OR_RETURN(const std::vector<Shape> shapes, GlobalArgumentShapes(module));
    auto values = NumpyArguments(bytes, *module.entry(), shapes, max_bytes);
    if (!values.ok()) return AnnotateMarked(values.status(), path);
    return RunArguments{*std::move(values), std::nullopt};
  }
  auto snapshot = ReadHlo(bytes);
  if (!snapshot.ok()) return Annotate(snapshot.status(), path);
  if (!snapshot->HasArguments() && module.entry()->num_parameters() > 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": holds no arguments"));
  }
  return RecordedArguments(*snapshot);
}

}  // namespace

bool AreArgumentsGenerated(const HloFile& file, const std::string& args) {
  return args.empty() && !file.HasArguments() && file.snapshot == nullptr;
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

absl::StatusOr<RunArguments> FindArguments(const HloFile& file, const std::string& args, uint64_t seed,
                                           int64_t max_bytes) {
  if (!args.empty()) return ArgumentsOfFile(*file.module, args, max_bytes);
  if (!AreArgumentsGenerated(file, args)) return RecordedArguments(file);
  ASSIGN_OR_RETURN(const std::vector<Shape> shapes, GlobalArgumentShapes(*file.module));
  RETURN_IF_ERROR(CheckArgumentBytes(shapes, max_bytes));
  RunArguments arguments;
  arguments.values = RandomLiterals(shapes, IndexBound(*file.module), seed, ArgumentDomains(*file.module));
  return arguments;
}

absl::StatusOr<Literal> ReadExpected(const Module& module, const std::string& path, int64_t max_bytes) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadValues(path, max_bytes));
  Shape shape = module.entry()->root()->shape();
  if (IsPartitioned(module)) {
    ASSIGN_OR_RETURN(const int64_t num_partitions, PartitionsOf(module));
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, OutputShardings(module));
    ASSIGN_OR_RETURN(shape, GlobalShape(shape, shardings, num_partitions));
  }
  if (LooksLikeNumpy(bytes)) {
    auto result = NumpyExpected(bytes, shape, max_bytes);
    if (!result.ok()) return AnnotateMarked(result.status(), path);
    return result;
  }
  auto snapshot = ReadHlo(bytes);
  if (!snapshot.ok()) return Annotate(snapshot.status(), path);
  ASSIGN_OR_RETURN(std::optional<Literal> result, snapshot->Result());
  if (!result.has_value()) return absl::InvalidArgumentError(absl::StrCat(path, ": holds no result"));
  return *std::move(result);
}

absl::StatusOr<std::string> OutfeedArchive(const Outfeed& outfeed) {
  std::vector<Literal> arrays;
  std::vector<std::string> names;
  for (size_t i = 0; i < outfeed.size(); ++i) {
    arrays.push_back(outfeed[i].value);
    names.push_back(absl::StrCat("arr_", i));
    if (outfeed[i].devices.empty()) continue;
    arrays.push_back(
        Literal::Array<int64_t>({static_cast<int64_t>(outfeed[i].devices.size())}, outfeed[i].devices));
    names.push_back(absl::StrCat("arr_", i, kDevicesSuffix));
  }
  return WriteNpz(arrays, names);
}

absl::StatusOr<std::shared_ptr<const Infeed>> ReadInfeed(const std::string& path, int64_t max_bytes) {
  if (path.empty()) return nullptr;
  ASSIGN_OR_RETURN(const std::string bytes, ReadValues(path, max_bytes));
  auto members = ReadNpz(bytes, max_bytes);
  if (!members.ok()) return AnnotateMarked(NamingTheLimit(members.status(), max_bytes), path);
  members->erase(std::remove_if(members->begin(), members->end(),
                                [](const NpzMember& member) {
                                  return absl::StartsWith(member.name, "arr_") &&
                                         absl::EndsWith(member.name, kDevicesSuffix);
                                }),
                 members->end());
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
  std::vector<NpyArray> values(n);
  for (size_t i = 0; i < n; ++i) values[by_number ? places[i] : i] = std::move((*members)[i].array);
  return std::make_shared<NpyInfeed>(std::move(values));
}

}  // namespace toroid
