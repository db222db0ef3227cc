#include "runtime/kernels/batch_norm.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/loops/convert_loops.h"

namespace toroid {
namespace {

using Values = std::vector<double>;

// x as [outer, features, inner].
struct FeatureLayout {
  int64_t outer = 1, features = 1, inner = 1;

  explicit FeatureLayout(const OpCall& call) {
    const Shape& shape = call.operand_shape(0);
    const int64_t feature = call.attrs().feature_index();
    for (int d = 0; d < shape.rank(); ++d) {
      (d < feature ? outer : d == feature ? features : inner) *= shape.dim(d);
    }
  }
  double count() const { return static_cast<double>(outer * inner); }

  // Calls f(element, feature).
  template <typename F>
  void ForEach(F&& f) const {
    int64_t i = 0;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < features; ++k) {
        for (int64_t j = 0; j < inner; ++j) f(i++, k);
      }
    }
  }
};

Values Read(const OpCall& call, int i, int64_t row) {
  const Shape& shape = call.operand_shape(i);
  Values values(shape.NumElements());
  FindConvertLoop(shape.element_type(), xla::F64)(
      call.data(i) + (call.uniform(i) ? 0 : row * shape.ByteSize()), values.data(), values.size());
  return values;
}

void Write(const Values& values, PrimitiveType type, int64_t row, MeshBuffer* buffer) {
  const int64_t n = static_cast<int64_t>(values.size());
  FindConvertLoop(xla::F64, type)(values.data(), buffer->mutable_data() + row * n * ByteWidth(type), n);
}

// Calls row_function(row) -> results for every row and stores them in the result or its tuple.
template <typename F>
absl::Status ForEachRow(OpCall& call, F&& row_function) {
  const PrimitiveType type = call.operand_shape(0).element_type();
  if (!IsFloat(type)) return absl::UnimplementedError(absl::StrCat("not defined on ", TypeName(type)));
  const bool uniform = call.AllUniform(), tuple = call.shape().IsTuple();
  const int count = tuple ? static_cast<int>(call.shape().tuple_shapes().size()) : 1;
  std::vector<MeshBuffer> buffers(count);
  for (int i = 0; i < count; ++i) {
    const Shape& shape = tuple ? call.shape().tuple_shape(i) : call.shape();
    RETURN_IF_ERROR(call.New(shape.ByteSize(), uniform, &buffers[i]));
  }
  // Scratch of one row: operands, results and one temporary array.
  RETURN_IF_ERROR(
      call.CheckMemory(static_cast<int64_t>(sizeof(double)) * 4 * call.operand_shape(0).NumElements()));
  for (int64_t row = 0; row < (uniform ? 1 : call.copies()); ++row) {
    const std::vector<Values> results = row_function(row);
    for (int i = 0; i < count; ++i) {
      const Shape& shape = tuple ? call.shape().tuple_shape(i) : call.shape();
      Write(results[i], shape.element_type(), row, &buffers[i]);
    }
  }
  if (!tuple) {
    call.result() = std::move(buffers[0]);
    return absl::OkStatus();
  }
  MeshBuffer result = MeshBuffer::Tuple(count);
  for (int i = 0; i < count; ++i) result.mutable_element(i) = std::move(buffers[i]);
  call.result() = std::move(result);
  return absl::OkStatus();
}

Values Normalize(const FeatureLayout& layout, const Values& x, const Values& scale, const Values& offset,
                 const Values& mean, const Values& variance, double epsilon) {
  Values y(x.size());
  layout.ForEach([&](int64_t i, int64_t k) {
    y[i] = (x[i] - mean[k]) / std::sqrt(variance[k] + epsilon) * scale[k] + offset[k];
  });
  return y;
}

}  // namespace

absl::Status ExecuteBatchNormTraining(OpCall& call) {
  const FeatureLayout layout(call);
  return ForEachRow(call, [&](int64_t row) -> std::vector<Values> {
    const Values x = Read(call, 0, row);
    Values mean(layout.features, 0), variance(layout.features, 0);
    layout.ForEach([&](int64_t i, int64_t k) { mean[k] += x[i]; });
    for (double& m : mean) m /= layout.count();
    layout.ForEach([&](int64_t i, int64_t k) { variance[k] += (x[i] - mean[k]) * (x[i] - mean[k]); });
    for (double& v : variance) v /= layout.count();
    Values y =
        Normalize(layout, x, Read(call, 1, row), Read(call, 2, row), mean, variance, call.attrs().epsilon());
    return {std::move(y), std::move(mean), std::move(variance)};
  });
}

absl::Status ExecuteBatchNormInference(OpCall& call) {
  const FeatureLayout layout(call);
  return ForEachRow(call, [&](int64_t row) -> std::vector<Values> {
    return {Normalize(layout, Read(call, 0, row), Read(call, 1, row), Read(call, 2, row), Read(call, 3, row),
                      Read(call, 4, row), call.attrs().epsilon())};
  });
}

absl::Status ExecuteBatchNormGrad(OpCall& call) {
  const FeatureLayout layout(call);
  return ForEachRow(call, [&](int64_t row) -> std::vector<Values> {
    const Values x = Read(call, 0, row), scale = Read(call, 1, row), mean = Read(call, 2, row);
    const Values variance = Read(call, 3, row), dy = Read(call, 4, row);
    Values dx(x.size()), dscale(layout.features), doffset(layout.features, 0), moment(layout.features, 0);
    Values r(layout.features);
    for (int64_t k = 0; k < layout.features; ++k) r[k] = 1 / std::sqrt(variance[k] + call.attrs().epsilon());
    layout.ForEach([&](int64_t i, int64_t k) {
      doffset[k] += dy[i];
      moment[k] += dy[i] * (x[i] - mean[k]);
    });
    for (int64_t k = 0; k < layout.features; ++k) dscale[k] = moment[k] * r[k];
    const double n = layout.count();
    layout.ForEach([&](int64_t i, int64_t k) {
      dx[i] = scale[k] * r[k] / n * (n * dy[i] - doffset[k] - (x[i] - mean[k]) * r[k] * r[k] * moment[k]);
    });
    return {std::move(dx), std::move(dscale), std::move(doffset)};
  });
}

}  // namespace toroid
