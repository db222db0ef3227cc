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
  explicit ConvolutionSizes(const Instruction& convolution)
      : numbers(convolution), window(WindowView(convolution).dimensions()) {
    const Shape &lhs = convolution.operand(0)->shape(), &rhs = convolution.operand(1)->shape();
    const Shape& result = convolution.shape();
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
      out_spatial.push_back(result.dim(numbers.output_spatial()[i]));
      input_window.push_back(window[i]);
      input_dims.push_back(spatial.back());
    }
    input_window.emplace_back();
    input_dims.push_back(features);
    type = GemmType(rhs.element_type(), GemmType(lhs.element_type(), result.element_type()));
    width = ByteWidth(type);
    input = Shape(lhs.element_type(), input_dims);
    padded = PaddedDims(input, input_window);
    input_in_order = InOrder(numbers.input_batch(), numbers.input_spatial(), numbers.input_feature());
    output_in_order = InOrder(numbers.output_batch(), numbers.output_spatial(), numbers.output_feature());
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
  // The dimensions of lhs, and of the result, are in the order batch, spatial, feature.
  bool input_in_order, output_in_order;

  // Whether windows reach beyond the input, or between its elements.
  bool pads() const {
    for (const WindowDim& w : window) {
      if (w.padding_low != 0 || w.padding_high != 0 || w.base_dilation != 1) return true;
    }
    return false;
  }
  int64_t out_batch() const { return batch / batch_groups; }
  int64_t groups() const { return std::max(feature_groups, batch_groups); }
  int64_t window_elements() const { return Product(kernel_spatial) * kernel_features; }

 private:
  static bool InOrder(int64_t batch, absl::Span<const int64_t> spatial, int64_t feature) {
    for (size_t i = 0; i < spatial.size(); ++i) {
      if (spatial[i] != static_cast<int64_t>(i) + 1) return false;
    }
    return batch == 0 && feature == static_cast<int64_t>(spatial.size()) + 1;
  }
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

// lhs as [rows, N, spatial, F].
absl::Status OrderInput(const OpCall& call, const ConvolutionSizes& s, int64_t rows, MeshBuffer* ordered) {
  const Shape& shape = call.operand_shape(0);
  const int64_t width = ByteWidth(shape.element_type()), row_bytes = shape.ByteSize();
  const Dims strides = RowMajorStrides(shape.dims(), width), target = RowMajorStrides(s.input.dims(), width);
  RETURN_IF_ERROR(call.New(rows * row_bytes, true, ordered));
  StridedLoop loop;
  loop.width = width;
  loop.Add(rows, row_bytes, row_bytes);
  loop.Add(s.batch, strides[s.numbers.input_batch()], target[0]);
  for (size_t i = 0; i < s.spatial.size(); ++i) {
    loop.Add(s.spatial[i], strides[s.numbers.input_spatial()[i]], target[i + 1]);
  }
  loop.Add(s.features, strides[s.numbers.input_feature()], target.back());
  ParallelStridedCopy(std::move(loop), call.data(0), ordered->mutable_data());
  return absl::OkStatus();
}

// lhs as [rows, N, padded spatial, F] in the product's type: the operand itself if it is that, else in `made`.
absl::Status PrepareInput(const OpCall& call, const ConvolutionSizes& s, int64_t rows, MeshBuffer* made,
                          const char** input) {
  const Shape& shape = call.operand_shape(0);
  *made = call.operand(0);
  if (!s.input_in_order) RETURN_IF_ERROR(OrderInput(call, s, rows, made));
  RETURN_IF_ERROR(ToProductType(call, shape.element_type(), s.type, rows * shape.NumElements(), made));
  if (s.pads()) {
    MeshBuffer padded;
    int64_t bytes = rows * s.width;
    for (const int64_t size : s.padded) bytes = CheckedMultiply(bytes, size).value_or(INT64_MAX);
    RETURN_IF_ERROR(call.New(bytes, true, &padded));
    std::memset(padded.mutable_data(), 0, bytes);
    PlaceInPadding(s.input, s.input_window, s.width, rows, /*x_uniform=*/false, made->data(),
                   padded.mutable_data());
    *made = std::move(padded);
  }
  *input = made->data();
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

// What a window matrix holds at a time: several images, or several lines of the first spatial dimension of one.
struct WindowBlock {
  int64_t images, lines, rows;

  WindowBlock(const ConvolutionSizes& s, int64_t out_batch) {
    const int64_t positions = Product(s.out_spatial);
    const int64_t image_bytes =
        std::max<int64_t>(1, CheckedMultiply(positions, s.window_elements() * s.width).value_or(INT64_MAX));
    const int64_t all_lines = s.out_spatial.empty() ? 1 : s.out_spatial[0];
    images = std::clamp<int64_t>(kBlockBytes / image_bytes, 1, std::max<int64_t>(1, out_batch));
    lines = images > 1 ? all_lines
                       : std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(1, image_bytes / all_lines), 1,
                                             all_lines);
    rows = images * lines * (positions / std::max<int64_t>(1, all_lines));
  }

  int64_t matrix_bytes(const ConvolutionSizes& s) const { return rows * s.window_elements() * s.width; }
  // Of a product that is put among those of other groups.
  int64_t product_bytes(const ConvolutionSizes& s) const {
    return s.groups() == 1 ? 0 : rows * (s.out_features / s.groups()) * s.width;
  }
};

// Convolves `batch` images with a kernel; both are prepared. `out` is [batch / batch groups, output spatial,
// output features].
absl::Status Convolve(const OpCall& call, const ConvolutionSizes& s, int64_t batch, const char* input,
                      const char* kernel, char* out) {
  const Dims strides = RowMajorStrides(s.padded, s.width);
  const int64_t out_batch = batch / s.batch_groups, positions = Product(s.out_spatial);
  const int64_t k = s.window_elements(), per_group = s.out_features / s.groups();
  const int64_t lines = s.out_spatial.empty() ? 1 : s.out_spatial[0];
  const int64_t line_positions = positions / std::max<int64_t>(1, lines);
  const WindowBlock block(s, out_batch);
  MeshBuffer matrix, product;
  RETURN_IF_ERROR(call.New(block.matrix_bytes(s), true, &matrix));
  RETURN_IF_ERROR(call.New(block.product_bytes(s), true, &product));
  for (int64_t g = 0; g < s.groups(); ++g) {
    const int64_t first_image = s.batch_groups > 1 ? g * out_batch : 0;
    const int64_t first_feature = s.feature_groups > 1 ? g * s.kernel_features : 0;
    const char* group_kernel = kernel + g * k * per_group * s.width;
    for (int64_t image = 0; image < out_batch; image += block.images) {
      for (int64_t line = 0; line < lines; line += block.lines) {
        const int64_t images = std::min(block.images, out_batch - image),
                      count = std::min(block.lines, lines - line);
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
  if (s.output_in_order) {
    ordered.set_uniform(uniform);
    call.result() = std::move(ordered);
    return absl::OkStatus();
  }
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

int64_t ConvolutionScratchBytes(const Instruction& convolution, absl::Span<const int64_t> rows) {
  const ConvolutionSizes s(convolution);
  const Shape &lhs = convolution.operand(0)->shape(), &rhs = convolution.operand(1)->shape(),
              &shape = convolution.shape();
  const auto bytes_of = [](int64_t elements, int64_t width, int64_t copies) {
    return SaturatingMultiply(SaturatingMultiply(elements, width), copies);
  };
  const int64_t most_rows = std::max(rows[0], rows[1]);
  const bool converts_input = lhs.element_type() != s.type, converts_result = shape.element_type() != s.type;
  const int64_t result = bytes_of(shape.NumElements(), ByteWidth(shape.element_type()), most_rows);
  // The arrays that stand beside one another: while the input is prepared, in the products, and when they end.
  const int64_t ordered =
      s.input_in_order ? 0 : bytes_of(lhs.NumElements(), ByteWidth(lhs.element_type()), rows[0]);
  const int64_t converted = converts_input ? bytes_of(lhs.NumElements(), s.width, rows[0]) : 0;
  const int64_t padded = s.pads() ? bytes_of(Product(s.padded), s.width, rows[0]) : 0;
  const int64_t unpadded = converts_input ? converted : ordered;
  const int64_t input = s.pads() ? padded : unpadded;
  const int64_t kernel = bytes_of(rhs.NumElements(), s.width, 1);
  const int64_t out = bytes_of(shape.NumElements(), s.width, most_rows);
  const bool all_rows = rows[1] == 1 && rows[0] > 1 && s.batch_groups == 1;
  const WindowBlock block(s, s.out_batch() * (all_rows ? rows[0] : 1));
  const int64_t preparing = std::max(SaturatingAdd(ordered, converted), SaturatingAdd(unpadded, padded));
  const int64_t products =
      SaturatingAdd(SaturatingAdd(input, kernel), SaturatingAdd(out, block.matrix_bytes(s))) +
      block.product_bytes(s);
  const int64_t ending = SaturatingAdd(converts_result || !s.output_in_order ? result : 0,
                                       converts_result && !s.output_in_order ? std::max(out, result) : out);
  return std::max(preparing, std::max(products, ending)) - result;
}

absl::Status ExecuteConvolution(OpCall& call) {
  const ConvolutionSizes s(call.instruction());
  const bool uniform = call.AllUniform();
  const int64_t rows = uniform ? 1 : call.copies();
  if (call.result_elements() == 0) return call.NewResult(uniform);
  MeshBuffer made, kernel, out;
  const char* input;
  RETURN_IF_ERROR(PrepareInput(call, s, call.rows(0), &made, &input));
  const int64_t out_row = call.result_elements() * s.width, input_row = Product(s.padded) * s.width;
  RETURN_IF_ERROR(call.New(out_row, uniform, &out));
  if (call.uniform(1) && !call.uniform(0) && s.batch_groups == 1) {
    RETURN_IF_ERROR(PrepareKernel(call, s, call.data(1), &kernel));
    RETURN_IF_ERROR(Convolve(call, s, rows * s.batch, input, kernel.data(), out.mutable_data()));
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      if (row == 0 || !call.uniform(1)) {
        const int64_t kernel_row = call.operand_shape(1).ByteSize();
        RETURN_IF_ERROR(
            PrepareKernel(call, s, call.data(1) + (call.uniform(1) ? 0 : row * kernel_row), &kernel));
      }
      RETURN_IF_ERROR(Convolve(call, s, s.batch, input + (call.uniform(0) ? 0 : row * input_row),
                               kernel.data(), out.mutable_data() + row * out_row));
    }
  }
  made.Reset();
  kernel.Reset();
  return Finish(call, s, rows, uniform, std::move(out));
}

}  // namespace toroid
