// A small convolutional network on images cut into tiles of rows and columns.
//
//   x [B,H,W,C] -> for each layer relu(convolution(x, kernel) + bias) -> maxima over windows -> y
//   loss = mean of (y - target)^2
//
// Convolutions are padded so that stride 1 keeps the image's size. Images and targets are cut along batch,
// rows and columns of a mesh; weights are replicated; all other shardings are propagated.
// Source: GShard, arXiv:2006.16668, A.4.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

struct ConvLayer {
  int64_t features;
  int64_t kernel = 3;  // Odd; the number of rows and of columns.
  int64_t stride = 1;
  int64_t dilation = 1;  // Dilation of the kernel.
};

struct ConvNetworkConfig {
  int64_t batch = 2;
  int64_t height = 24, width = 24;
  int64_t channels = 3;
  std::vector<ConvLayer> layers = {{8}, {16, 3, 2}, {16, 3, 1, 2}, {16}};
  int64_t pool = 2;  // Rows and columns of a pooling window; also its stride.
  PrimitiveType type = xla::F32;
  // The number of parts of each dimension; the mesh has one device per tile.
  int64_t batch_parts = 1, row_parts = 2, column_parts = 2;

  int64_t devices() const { return batch_parts * row_parts * column_parts; }
  // Errors: kInvalidArgument for sizes that are not positive, an even kernel, a mesh that is too large, or
  // images that are empty after some layer.
  absl::Status Check() const;
};

// Parameters: images [B,H,W,C], targets shaped like y, then kernel and bias of each layer. Result: a tuple of
// the loss and its derivatives by the kernels and biases, in this order.
// Errors: those of ConvNetworkConfig::Check.
absl::StatusOr<std::unique_ptr<Module>> BuildConvNetworkGradient(const ConvNetworkConfig& config);

// The forward pass: the same parameters, with the loss as its result.
absl::StatusOr<std::unique_ptr<Module>> BuildConvNetwork(const ConvNetworkConfig& config);

// Values of a module's parameters, uniform in [-0.5, 0.5).
std::vector<Literal> ConvNetworkArguments(const Module& module, uint64_t seed);

// Bytes that one device would send if every image that a window of `module` (one of the above) slides over,
// in the backward pass too, were gathered once over the devices that share it, instead of exchanging halos.
int64_t BytesIfGathered(const Module& module, const ConvNetworkConfig& config);

}  // namespace toroid
