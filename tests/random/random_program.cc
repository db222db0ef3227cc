#include "tests/random/random_program.h"

#include <numeric>

#include "partitioner/rewrite/poison_padding.h"
#include "tests/random/generator.h"

namespace toroid {
namespace {

const std::vector<std::pair<std::string, void (Generator::*)()>>& Kinds() {
  static const auto* const kinds = new std::vector<std::pair<std::string, void (Generator::*)()>>{
      {"elementwise", &Generator::Elementwise},
      {"unary-math", &Generator::UnaryMath},
      {"binary-math", &Generator::BinaryMath},
      {"bit-ops", &Generator::BitOps},
      {"complex", &Generator::ComplexParts},
      {"reduce-precision", &Generator::ReducePrecision},
      {"identity", &Generator::Identity},
      {"fft", &Generator::Fft},
      {"cholesky", &Generator::Cholesky},
      {"triangular-solve", &Generator::TriangularSolve},
      {"topk-call", &Generator::TopKCall},
      {"variadic-reduce", &Generator::VariadicReduce},
      {"call", &Generator::CallOp},
      {"broadcast", &Generator::Broadcast},
      {"reshape", &Generator::Reshape},
      {"transpose", &Generator::Transpose},
      {"reverse", &Generator::Reverse},
      {"slice", &Generator::Slice},
      {"pad", &Generator::Pad},
      {"concatenate", &Generator::Concatenate},
      {"roll", &Generator::Roll},
      {"iota", &Generator::IotaAndConstant},
      {"convert", &Generator::Convert},
      {"bitcast-convert", &Generator::BitcastConvert},
      {"dot", &Generator::Dot},
      {"convolution", &Generator::Convolution},
      {"reduce", &Generator::Reduce},
      {"opaque-reduce", &Generator::OpaqueReduce},
      {"cumulative-window", &Generator::CumulativeWindow},
      {"infinite-factor", &Generator::InfiniteFactor},
      {"rare-ops", &Generator::RareOps},
      {"argmax", &Generator::ArgMax},
      {"reduce-window", &Generator::ReduceWindow},
      {"select-and-scatter", &Generator::SelectAndScatter},
      {"dynamic-slice", &Generator::DynamicSlice},
      {"dynamic-update-slice", &Generator::DynamicUpdateSlice},
      {"gather", &Generator::Gather},
      {"scatter", &Generator::Scatter},
      {"sort", &Generator::Sort},
      {"topk", &Generator::TopK},
      {"map", &Generator::Map},
      {"annotation", &Generator::Annotation},
      {"while", &Generator::While},
      {"shared-while", &Generator::SharedWhile},
      {"called-while", &Generator::CalledWhile},
      {"conditional", &Generator::Conditional},
      {"handed-on", &Generator::HandedOn},
      {"tuple-argument", &Generator::TupleArgument},
      {"shared-sum", &Generator::SharedSum},
      {"grouped-shardings", &Generator::GroupedShardings},
      {"ragged-dot", &Generator::RaggedDot},
      {"scaled-dot", &Generator::ScaledDot},
      {"random-bits", &Generator::RandomBits},
      {"batch-norm", &Generator::BatchNorm},
      {"scan", &Generator::Scan},
      {"fusion", &Generator::Fusion},
      {"free-value", &Generator::FreeValue},
      {"manual-region", &Generator::ManualRegion},
      {"replicas", &Generator::Replicas},
  };
  return *kinds;
}

}  // namespace

// A second op after the first, so that it meets the first one's partial sums, padding and layouts.
void Generator::Tail() {
  const std::string type = result_type_;
  const Dims dims = result_dims_;
  if (!program_.exact || type == "pred" || !Chance(60)) return;
  const std::string x = result_;
  switch (Uniform(0, 11)) {
    case 0:
      Result(type, dims, absl::StrCat("add(", x, ", ", x, ")"));
      return;
    case 1: {
      const std::string y = Parameter(type, dims);
      Result(type, dims, absl::StrCat(Of({"add", "multiply", "subtract", "maximum"}), "(", x, ", ", y, ")"));
      return;
    }
    case 2: {
      Dims reduced, out;
      for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
        if (Chance(50)) {
          reduced.push_back(d);
        } else {
          out.push_back(dims[d]);
        }
      }
      if (type == "bf16") return;
      const std::string opcode = Of({"add", "maximum", "minimum"}), init = InitValue(opcode, type);
      Result(type, out,
             absl::StrCat("reduce(", x, ", ", init, "), dimensions=", List(reduced),
                          ", to_apply=", ReducerText(opcode, type)));
      return;
    }
    case 3: {
      Dims permutation(dims.size());
      std::iota(permutation.begin(), permutation.end(), 0);
      std::shuffle(permutation.begin(), permutation.end(), random_);
      Dims out;
      for (const int64_t d : permutation) out.push_back(dims[d]);
      Result(type, out, absl::StrCat("transpose(", x, "), dimensions=", List(permutation)));
      return;
    }
    case 4: {
      int64_t n = 1;
      for (const int64_t size : dims) n *= size;
      Result(type, {n}, absl::StrCat("reshape(", x, ")"));
      return;
    }
    case 5: {
      if (type[0] == 'u') return;
      Result(type, dims, absl::StrCat("abs(", x, ")"));
      return;
    }
    case 6:
    case 7:
      if (!dims.empty() && *std::min_element(dims.begin(), dims.end()) > 0) IndexedTail(x, type, dims);
      return;
    case 8: {
      if (dims.empty()) return;
      const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1), start = Uniform(0, dims[d]);
      Dims out = dims;
      std::vector<std::string> bounds;
      out[d] = dims[d] - start;
      for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
        bounds.push_back(absl::StrCat("[", i == d ? start : 0, ":", dims[i], "]"));
      }
      Result(type, out, absl::StrCat("slice(", x, "), slice={", absl::StrJoin(bounds, ", "), "}"));
      return;
    }
    case 9: {
      if (dims.empty()) return;
      const int64_t d = Uniform(0, static_cast<int64_t>(dims.size()) - 1);
      Dims other = dims, out = dims;
      other[d] = Size();
      out[d] += other[d];
      const std::string y = Parameter(type, other);
      Result(type, out, absl::StrCat("concatenate(", x, ", ", y, "), dimensions={", d, "}"));
      return;
    }
    case 10: {
      if (dims.empty()) return;
      Result(type, dims,
             absl::StrCat("reverse(", x, "), dimensions={", Uniform(0, static_cast<int64_t>(dims.size()) - 1),
                          "}"));
      return;
    }
    default: {
      Dims out = dims, map(dims.size());
      std::iota(map.begin(), map.end(), 0);
      out.push_back(Uniform(1, 4));
      Result(type, out, absl::StrCat("broadcast(", x, "), dimensions=", List(map)));
      return;
    }
  }
}

RandomProgram Generator::Make(absl::string_view kind) {
  const int64_t devices = Pick(std::vector<int64_t>{1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16});
  std::vector<int64_t> cuts;
  if (devices == 6 || devices == 12) cuts.push_back(Chance(50) ? 2 : 3);
  mesh_ = Mesh(devices, cuts, DeviceOrder(devices));
  program_.options.num_partitions = devices;
  if (Chance(40)) program_.options.device_order_seed = random_() % 1000;
  if (Chance(40)) program_.options.on_local_value = PoisonPadding;
  program_.options.replicate_outputs = Chance(10);
  const auto* chosen = &Pick(Kinds());
  for (const auto& entry : Kinds()) {
    if (entry.first == kind) chosen = &entry;
  }
  program_.kind = chosen->first;
  (this->*chosen->second)();
  Tail();
  // The last line is the root.
  const size_t root = body_.rfind("\n  ", body_.size() - 2);
  const size_t at = root == std::string::npos ? 0 : root + 1;
  body_.insert(at + 2, "ROOT ");
  const std::string sharding =
      body_.find("sharding=", at) == std::string::npos ? ShardingText(result_dims_, 60) : "";
  body_.insert(body_.size() - 1, sharding);
  const auto program = [&](absl::string_view lines) {
    return absl::StrCat("HloModule random", header_, "\n\n", computations_, "ENTRY main {\n", lines, "}\n");
  };
  program_.text = program(body_);
  if (!reference_.empty())
    program_.reference = program(absl::StrCat(reference_, body_.substr(reference_end_)));
  return std::move(program_);
}

const std::vector<std::string>& RandomProgramKinds() {
  static const auto* const names = [] {
    auto* list = new std::vector<std::string>;
    for (const auto& entry : Kinds()) list->push_back(entry.first);
    return list;
  }();
  return *names;
}

RandomProgram MakeRandomProgram(uint64_t seed, absl::string_view kind) { return Generator(seed).Make(kind); }

}  // namespace toroid
