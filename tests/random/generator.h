// Writes one random program: the frame that the kinds share. A kind adds parameters and lines, and one
// result.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/devices/mesh.h"
#include "hlo/ir/native_types.h"
#include "tests/random/random_program.h"

namespace toroid {

inline std::string ShapeText(absl::string_view type, const Dims& dims) {
  return absl::StrCat(type, "[", absl::StrJoin(dims, ","), "]");
}

inline std::string List(const Dims& values) { return absl::StrCat("{", absl::StrJoin(values, ","), "}"); }

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  RandomProgram Make(absl::string_view kind);

  int64_t Uniform(int64_t low, int64_t high) {  // Including both ends.
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool Chance(int percent) { return Uniform(1, 100) <= percent; }
  template <typename T>
  const T& Pick(const std::vector<T>& values) {
    return values[Uniform(0, static_cast<int64_t>(values.size()) - 1)];
  }
  const char* Of(std::initializer_list<const char*> names) {
    return *(names.begin() + Uniform(0, static_cast<int64_t>(names.size()) - 1));
  }

  // A size that is uneven for most device counts; sometimes 1 or 0.
  int64_t Size() { return Chance(4) ? 0 : Chance(12) ? 1 : Uniform(2, 9); }
  Dims RandomDims(int low, int high) {
    Dims dims;
    for (int64_t rank = Uniform(low, high); rank > 0; --rank) dims.push_back(Size());
    return dims;
  }
  Dims NonEmptyDims(int low, int high) {
    Dims dims = RandomDims(low, high);
    for (int64_t& size : dims) size = std::max<int64_t>(size, 1);
    return dims;
  }
  std::string NumberType() {
    return Of({"f32", "f32", "f32", "s32", "f64", "s8", "u8", "u32", "bf16", "s64"});
  }

  // A sharding attribute for an array, or nothing.
  std::string ShardingText(const Dims& dims, int percent = 80) {
    if (!Chance(percent)) return "";
    Sharding sharding = Sharding::Replicated(static_cast<int>(dims.size()));
    for (int axis = 0; axis < mesh_.num_axes(); ++axis) {
      if (dims.empty() || Chance(25)) continue;
      sharding.dims[Uniform(0, static_cast<int64_t>(dims.size()) - 1)].push_back(axis);
    }
    for (AxisList& dim : sharding.dims) {
      std::vector<int> axes(dim.begin(), dim.end());
      std::shuffle(axes.begin(), axes.end(), random_);
      dim = AxisList();
      for (const int axis : axes) dim.push_back(axis);
    }
    HloSharding hlo = mesh_.ToHlo(sharding);
    if (hlo.IsTiled() && Chance(6)) {
      // The same tiles with the devices in another order.
      std::vector<int64_t> devices(mesh_.num_devices());
      std::iota(devices.begin(), devices.end(), 0);
      std::shuffle(devices.begin(), devices.end(), random_);
      hlo = HloSharding::Tiled({hlo.tiles().begin(), hlo.tiles().end()},
                               {hlo.subgroups().begin(), hlo.subgroups().end()},
                               *DeviceOrder::Explicit(devices));
    }
    return absl::StrCat(", sharding=", hlo.ToString());
  }

  // Adds a parameter and returns its name. Values: integers in [low, high].
  std::string Parameter(const std::string& type, const Dims& dims, int64_t low = -4, int64_t high = 4) {
    const std::string name = absl::StrCat("p", program_.arguments.size());
    absl::StrAppend(&body_, "  ", name, " = ", ShapeText(type, dims), " parameter(",
                    program_.arguments.size(), ")", ShardingText(dims), "\n");
    Literal literal(Shape(*TypeFromName(type), dims));
    if (low < 0 && (type[0] == 'u')) low = 0;
    VisitArrayType(
        literal.shape().element_type(),
        [&](auto tag) {
          using T = typename decltype(tag)::type;
          for (T& value : literal.mutable_data<T>()) {
            if constexpr (std::is_same_v<T, bool>) {
              value = Chance(50);
            } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
              value = T(Uniform(low, high), Uniform(low, high));
            } else {
              // Beyond 2^63 doubles and signed integers cannot hold the values: see Indices.
              value = T(static_cast<double>(Uniform(low, high)));
              if constexpr (std::is_same_v<T, uint64_t>) {
                if (huge_) value = Chance(30) ? ~T(0) - static_cast<T>(Uniform(0, 3)) : value;
              }
            }
          }
          return 0;
        },
        0);
    program_.arguments.push_back(std::move(literal));
    return name;
  }

  // Adds `name = SHAPE op`, which becomes the current result.
  void Result(const std::string& type, const Dims& dims, const std::string& op) {
    result_ = absl::StrCat("r", next_result_++);
    result_type_ = type;
    result_dims_ = dims;
    absl::StrAppend(&body_, "  ", result_, " = ", ShapeText(type, dims), " ", op, "\n");
  }
  void Text(const std::string& lines) { absl::StrAppend(&body_, lines); }
  void Line(const std::string& text) { absl::StrAppend(&body_, "  ", text, "\n"); }
  // Adds a computation of two scalars and returns its name.
  std::string ReducerText(const std::string& opcode, const std::string& type) {
    const std::string name = absl::StrCat(opcode, "_", type, "_", next_result_++);
    absl::StrAppend(&computations_, name, " {\n  a = ", type, "[] parameter(0)\n  b = ", type,
                    "[] parameter(1)\n  ROOT c = ", type, "[] ", opcode, "(a, b)\n}\n\n");
    return name;
  }
  void Computation(const std::string& text) { absl::StrAppend(&computations_, text, "\n"); }
  std::string Fresh(const std::string& base) { return absl::StrCat(base, next_result_++); }

  void Elementwise();
  void UnaryMath();
  void BinaryMath();
  void BitOps();
  void ComplexParts();
  void ReducePrecision();
  void Identity();
  void Fft();
  void Cholesky();
  void TriangularSolve();
  void TopKCall();
  void VariadicReduce();
  void OpaqueReduce();
  std::string InitValue(const std::string& opcode, const std::string& type);
  void CumulativeWindow();
  void InfiniteFactor();
  std::string Indices(const std::string& type, const Dims& dims);
  std::string ConstantIntegers(const Dims& dims, const std::string& type);
  std::string CountedIndices(const std::string& type, const Dims& dims, const Dims& in, const Dims& map);
  std::string IndexedTail(const std::string& x, const std::string& type, const Dims& dims);
  void CallOp();
  std::string DominantMatrices(const std::string& type, const Dims& dims, int64_t large);
  void Broadcast();
  void Reshape();
  void Transpose();
  void Reverse();
  void Slice();
  std::string MostOf(const std::string& type, const Dims& dims);
  void Roll();
  void Pad();
  void Concatenate();
  void IotaAndConstant();
  void Convert();
  void BitcastConvert();
  void Dot();
  void Convolution();
  void Reduce();
  void ArgMax();
  void ReduceWindow();
  void SelectAndScatter();
  void DynamicSlice();
  void DynamicUpdateSlice();
  void Gather();
  void Scatter();
  void Sort();
  void TopK();
  // The first elements of each sorted line, by topk or the custom-call TopK.
  void FirstOfLines(const std::string& op, const std::string& attributes);
  void Map();
  void RareOps();
  void Annotation();
  std::string LoopState(const Dims& dims);
  std::string LoopComputations(const Dims& dims);
  std::string LoopText(const Dims& dims, const std::string& x, const std::string& v,
                       const std::string& computations, const std::string& result);
  void While();
  void SharedWhile();
  void CalledWhile();
  void Conditional();
  void HandedOn();
  void TupleArgument();
  void SharedSum();
  void GroupedShardings();
  void RaggedDot();
  void ScaledDot();
  void RandomBits();
  void BatchNorm();
  void Scan();
  void Fusion();
  void FreeValue();
  void ManualRegion();
  void Replicas();
  void Tail();

 private:
  std::mt19937_64 random_;
  Mesh mesh_;
  RandomProgram program_;
  std::string header_, computations_, body_;
  // For the one-device program: replaces the first reference_end_ characters of the body; empty: no
  // replacement.
  std::string reference_;
  size_t reference_end_ = 0;
  std::string result_, result_type_;
  Dims result_dims_;
  int next_result_ = 0;
  bool huge_ = false;  // Parameters of type u64 hold values near 2^64.
};

}  // namespace toroid
