#include "runtime/kernels/convolution.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/kernels/window_padding.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/loops/gemm.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kBlockBytes = 4 << 20;  // Size of the window matrix.

int64_t Product(absl::Span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t d : dims) product *= d;
  return product;
}

// The sizes of one convolution in the order batch, spatial, feature.
struct ConvolutionSizes {
  explicit ConvolutionSizes(const OpCall& call)
      : numbers(call.instruction()), window(WindowView(call.instruction()).dimensions()) {
    const Shape& lhs = call.operand_shape(0);
    const Shape& rhs = call.operand_shape(1);
    feature_groups = numbers.feature_groups();
    batch_groups = numbers.batch_groups();
    batch = lhs.dim(numbers.input_batch());
    features = lhs.dim(numbers.input_feature());
    kernel_features = rhs.dim(numbers.kernel_input_feature());
    out_features = rhs.dim(numbers.kernel_output_feature());
    // The padded operand; batch and feature dimensions have no window.
    Dims input_dims = {batch};
    input_window.emplace_back();
    for (size_t i = 0; i < window.size(); ++i) {
      spatial.push_back(lhs.dim(numbers.input_spatial()[i]));
      kernel_spatial.push_back(rhs.dim(numbers.kernel_spatial()[i]));
      out_spatial.push_back(call.shape().dim(numbers.output_spatial()[i]));
      input_window.push_back(window[i]);
      input_dims.push_back(spatial.back());
    }
    input_window.emplace_back();
    input_dims.push_back(features);
    type = GemmType(call.operand_shape(1).element_type(),
                    GemmType(call.operand_shape(0).element_type(), call.shape().element_type()));
    width = ByteWidth(type);
    input = Shape(lhs.element_type(), input_dims);
    padded = PaddedDims(input, input_window);
  }

  const ConvolutionView numbers;
  const std::vector<WindowDim> window;
  std::vector<WindowDim> input_window;
  int64_t feature_groups, batch_groups, batch, features, kernel_features, out_features;
  Dims spatial, kernel_spatial, out_spatial;
  Shape input;  // [N, spatial, F]
  Dims padded;  // [N, padded spatial, F]
  PrimitiveType type;
  int64_t width;

  int64_t out_batch() const { return batch / batch_groups; }
  int64_t groups() const { return std::max(feature_groups, batch_groups); }
  int64_t window_elements() const { return Product(kernel_spatial) * kernel_features; }
};

// Converts n elements into a new array of the product's type.
absl::Status ToProductType(const OpCall& call, PrimitiveType from, PrimitiveType to, int64_t n,
                           MeshBuffer* buffer) {
  if (from == to) return absl::OkStatus();
  MeshBuffer converted;
  RETURN_IF_ERROR(call.New(CheckedMultiply(n, ByteWidth(to)).value_or(INT64_MAX), true, &converted));
  FindConvertLoop(from, to)(buffer->data(), converted.mutable_data(), n);
  *buffer = std::move(converted);
  return absl::OkStatus();
}

// lhs as [rows, N, padded spatial, F] in the product's type.
absl::Status PrepareInput(const OpCall& call, const ConvolutionSizes& s, int64_t rows, const char* lhs,
                          MeshBuffer* out) {
  const Shape& shape = call.operand_shape(0);
  const PrimitiveType from = shape.element_type();
  const int64_t width = ByteWidth(from), row_bytes = shape.ByteSize();
  const Dims strides = RowMajorStrides(shape.dims(), width), target = RowMajorStrides(s.input.dims(), width);
  MeshBuffer ordered;
  RETURN_IF_ERROR(call.New(rows * row_bytes, true, &ordered));
  StridedLoop loop;
  loop.width = width;
  loop.Add(rows, row_bytes, row_bytes);
  loop.Add(s.batch, strides[s.numbers.input_batch()], target[0]);
  for (size_t i = 0; i < s.spatial.size(); ++i) {
    loop.Add(s.spatial[i], strides[s.numbers.input_spatial()[i]], target[i + 1]);
  }
  loop.Add(s.features, strides[s.numbers.input_feature()], target.back());
  ParallelStridedCopy(std::move(loop), lhs, ordered.mutable_data());
  RETURN_IF_ERROR(ToProductType(call, from, s.type, rows * shape.NumElements(), &ordered));

  int64_t padded_bytes = rows * s.width;
  for (const int64_t size : s.padded) padded_bytes = CheckedMultiply(padded_bytes, size).value_or(INT64_MAX);
  RETURN_IF_ERROR(call.New(padded_bytes, true, out));
  std::memset(out->mutable_data(), 0, padded_bytes);
  PlaceInPadding(s.input, s.input_window, s.width, rows, /*x_uniform=*/false, ordered.data(),
                 out->mutable_data());
  return absl::OkStatus();
}

// One row of rhs as [group, window positions, I, O / groups] in the product's type.
absl::Status PrepareKernel(const OpCall& call, const ConvolutionSizes& s, const char* rhs, MeshBuffer* out) {
  const Shape& shape = call.operand_shape(1);
  const PrimitiveType from = shape.element_type();
  const int64_t width = ByteWidth(from), per_group = s.out_features / s.groups();
  const Dims strides = RowMajorStrides(shape.dims(), width);
  RETURN_IF_ERROR(call.New(shape.ByteSize(), true, out));
  Dims sizes = {s.groups()};
  sizes.insert(sizes.end(), s.kernel_spatial.begin(), s.kernel_spatial.end());
  sizes.push_back(s.kernel_features);
  sizes.push_back(per_group);
  const Dims target = RowMajorStrides(sizes, width);
  const int64_t out_stride = strides[s.numbers.kernel_output_feature()];
  StridedLoop loop;
  loop.width = width;
  loop.Add(s.groups(), per_group * out_stride, target[0]);
  int64_t offset = 0;
  for (size_t i = 0; i < s.kernel_spatial.size(); ++i) {
    const int64_t stride = strides[s.numbers.kernel_spatial()[i]];
    const bool reversed = s.window[i].reversed;
    if (reversed) offset += (s.kernel_spatial[i] - 1) * stride;
    loop.Add(s.kernel_spatial[i], reversed ? -stride : stride, target[i + 1]);
  }
  loop.Add(s.kernel_features, strides[s.numbers.kernel_input_feature()], target[sizes.size() - 2]);
  loop.Add(per_group, out_stride, target.back());
  if (shape.NumElements() > 0) ParallelStridedCopy(std::move(loop), rhs + offset, out->mutable_data());
  return ToProductType(call, from, s.type, shape.NumElements(), out);
}

// Convolves `batch` images with a kernel; both are prepared. `out` is [batch / batch groups, output spatial,
// output features].
absl::Status Convolve(const OpCall& call, const ConvolutionSizes& s, int64_t batch, const char* input,
                      const char* kernel, char* out) {
  const Dims strides = RowMajorStrides(s.padded, s.width);
  const int64_t out_batch = batch / s.batch_groups, positions = Product(s.out_spatial);
  const int64_t k = s.window_elements(), per_group = s.out_features / s.groups();
  // A block is several images, or several lines of the first spatial dimension of one image.
  const int64_t image_bytes =
      std::max<int64_t>(1, CheckedMultiply(positions, k * s.width).value_or(INT64_MAX));
  const int64_t lines = s.out_spatial.empty() ? 1 : s.out_spatial[0];
  const int64_t line_positions = positions / std::max<int64_t>(1, lines);
  const int64_t block_images =
      std::clamp<int64_t>(kBlockBytes / image_bytes, 1, std::max<int64_t>(1, out_batch));
  const int64_t block_lines =
      block_images > 1
          ? lines
          : std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(1, image_bytes / lines), 1, lines);
  const int64_t block_rows = block_images * block_lines * line_positions;
  MeshBuffer matrix, product;
  RETURN_IF_ERROR(call.New(block_rows * k * s.width, true, &matrix));
  RETURN_IF_ERROR(call.New(block_rows * per_group * s.width, true, &product));
  for (int64_t g = 0; g < s.groups(); ++g) {
    const int64_t first_image = s.batch_groups > 1 ? g * out_batch : 0;
    const int64_t first_feature = s.feature_groups > 1 ? g * s.kernel_features : 0;
    const char* group_kernel = kernel + g * k * per_group * s.width;
    for (int64_t image = 0; image < out_batch; image += block_images) {
      for (int64_t line = 0; line < lines; line += block_lines) {
        const int64_t images = std::min(block_images, out_batch - image),
                      count = std::min(block_lines, lines - line);
        StridedLoop windows;
        windows.width = s.width;
        Dims sizes = {images};
        for (size_t i = 0; i < s.out_spatial.size(); ++i) sizes.push_back(i == 0 ? count : s.out_spatial[i]);
        sizes.insert(sizes.end(), s.kernel_spatial.begin(), s.kernel_spatial.end());
        sizes.push_back(s.kernel_features);
        const Dims target = RowMajorStrides(sizes, s.width);
        windows.Add(images, strides[0], target[0]);
        const size_t spatial = s.out_spatial.size();
        int64_t source = (first_image + image) * strides[0] + first_feature * s.width;
        for (size_t i = 0; i < spatial; ++i) {
          const int64_t stride = s.out_spatial[i] > 1 ? s.window[i].stride : 0;
          if (i == 0) source += line * stride * strides[1];
          windows.Add(sizes[i + 1], stride * strides[i + 1], target[i + 1]);
        }
        for (size_t i = 0; i < spatial; ++i) {
          const int64_t dilation = s.kernel_spatial[i] > 1 ? s.window[i].window_dilation : 0;
          windows.Add(s.kernel_spatial[i], dilation * strides[i + 1], target[1 + spatial + i]);
        }
        windows.Add(s.kernel_features, s.width, s.width);
        ParallelStridedCopy(std::move(windows), input + source, matrix.mutable_data());
        GemmBatch gemm;
        gemm.m = images * count * line_positions;
        gemm.k = k;
        gemm.n = per_group;
        char* at = out + ((image * lines + line) * line_positions * s.out_features + g * per_group) * s.width;
        if (s.groups() == 1) {
          Gemm(s.type, gemm, matrix.data(), group_kernel, at);
          continue;
        }
        Gemm(s.type, gemm, matrix.data(), group_kernel, product.mutable_data());
        StridedLoop place;
        place.width = s.width;
        place.Add(gemm.m, per_group * s.width, s.out_features * s.width);
        place.Add(per_group, s.width, s.width);
        ParallelStridedCopy(std::move(place), product.data(), at);
      }
    }
  }
  return absl::OkStatus();
}

// Puts [rows, N / B, out spatial, O] into the result's dimension order and type.
absl::Status Finish(OpCall& call, const ConvolutionSizes& s, int64_t rows, bool uniform, MeshBuffer ordered) {
  const Shape& shape = call.shape();
  RETURN_IF_ERROR(ToProductType(call, s.type, shape.element_type(), rows * shape.NumElements(), &ordered));
  RETURN_IF_ERROR(call.NewResult(uniform));
  const int64_t width = ByteWidth(shape.element_type());
  Dims sizes = {s.out_batch()};
  sizes.insert(sizes.end(), s.out_spatial.begin(), s.out_spatial.end());
  sizes.push_back(s.out_features);
  const Dims source = RowMajorStrides(sizes, width), target = RowMajorStrides(shape.dims(), width);
  StridedLoop loop;
  loop.width = width;
  loop.Add(rows, call.result_bytes(), call.result_bytes());
  loop.Add(s.out_batch(), source[0], target[s.numbers.output_batch()]);
  for (size_t i = 0; i < s.out_spatial.size(); ++i) {
    loop.Add(s.out_spatial[i], source[i + 1], target[s.numbers.output_spatial()[i]]);
  }
  loop.Add(s.out_features, source.back(), target[s.numbers.output_feature()]);
  ParallelStridedCopy(std::move(loop), ordered.data(), call.result().mutable_data());
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteConvolution(OpCall& call) {
  const ConvolutionSizes s(call);
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  if (call.result_elements() == 0) return call.NewResult(uniform);
  MeshBuffer input, kernel, out;
  RETURN_IF_ERROR(PrepareInput(call, s, call.rows(0), call.data(0), &input));
  const int64_t out_row = call.result_elements() * s.width, input_row = Product(s.padded) * s.width;
  RETURN_IF_ERROR(call.New(out_row, uniform, &out));
  if (call.uniform(1) && !call.uniform(0) && s.batch_groups == 1) {
    RETURN_IF_ERROR(PrepareKernel(call, s, call.data(1), &kernel));
    RETURN_IF_ERROR(Convolve(call, s, rows * s.batch, input.data(), kernel.data(), out.mutable_data()));
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      if (row == 0 || !call.uniform(1)) {
        const int64_t kernel_row = call.operand_shape(1).ByteSize();
        RETURN_IF_ERROR(
            PrepareKernel(call, s, call.data(1) + (call.uniform(1) ? 0 : row * kernel_row), &kernel));
      }
      RETURN_IF_ERROR(Convolve(call, s, s.batch, input.data() + (call.uniform(0) ? 0 : row * input_row),
                               kernel.data(), out.mutable_data() + row * out_row));
    }
  }
  return Finish(call, s, rows, uniform, std::move(out));
}

}  // namespace toroid
