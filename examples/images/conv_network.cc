#include "examples/images/conv_network.h"

#include <random>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/builder/builder.h"
#include "hlo/gradient/gradient.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/passes/dce_pass.h"

namespace toroid {
namespace {

// More than the tiles and elements of any machine; products of sizes stay far from overflow.
constexpr int64_t kMaxSize = int64_t{1} << 20;

int64_t SizeAfter(const ConvLayer& layer, int64_t n) { return CeilOfRatio(n, layer.stride); }

// The mesh axes of an image's dimensions, for Builder::Shard.
std::vector<AxisNames> ImageAxes() { return {"batch", "rows", "columns", {}}; }

class Network {
 public:
  explicit Network(const ConvNetworkConfig& config) : config_(config), b_("conv_network", config.devices()) {
    b_.SetMesh(
        {{{"batch", config.batch_parts}, {"rows", config.row_parts}, {"columns", config.column_parts}}});
  }

  Builder& b() { return b_; }
  const std::vector<Value>& weights() const { return weights_; }

  Value Loss() {
    Value x = Image({config_.batch, config_.height, config_.width, config_.channels}, "images");
    Value target = Image(ResultSizes(), "targets");
    for (size_t i = 0; i < config_.layers.size(); ++i)
      x = Layer(x, config_.layers[i], absl::StrCat("layer_", i));
    x = Pool(x);
    Value error = b_.Convert(b_.Subtract(x, target), xla::F32);
    Value sum = b_.Sum(b_.Multiply(error, error), {0, 1, 2, 3});
    return b_.MultiplyNumber(sum, 1.0 / static_cast<double>(x->shape().NumElements()));
  }

 private:
  Value Image(const std::vector<int64_t>& dims, const std::string& name) {
    return b_.Shard(b_.Parameter(Shape(config_.type, dims), name), ImageAxes());
  }

  Value Weight(const std::vector<int64_t>& dims, const std::string& name) {
    weights_.push_back(b_.Replicate(b_.Parameter(Shape(config_.type, dims), name)));
    return weights_.back();
  }

  std::vector<int64_t> ResultSizes() const {
    int64_t h = config_.height, w = config_.width;
    for (const ConvLayer& layer : config_.layers) {
      h = SizeAfter(layer, h);
      w = SizeAfter(layer, w);
    }
    const int64_t features = config_.layers.empty() ? config_.channels : config_.layers.back().features;
    return {config_.batch, h / config_.pool, w / config_.pool, features};
  }

  Value Layer(Value x, const ConvLayer& layer, const std::string& name) {
    Builder::Scope scope(&b_, name);
    const int64_t k = layer.kernel, reach = (k - 1) * layer.dilation;
    Value kernel = Weight({k, k, x->shape().dim(3), layer.features}, absl::StrCat(name, ".kernel"));
    Value bias = Weight({layer.features}, absl::StrCat(name, ".bias"));
    xla::Window window;
    for (int i = 0; i < 2; ++i) {
      xla::WindowDimension* dim = window.add_dimensions();
      dim->set_size(k);
      dim->set_stride(layer.stride);
      dim->set_padding_low(reach / 2);
      dim->set_padding_high(reach / 2);
      dim->set_base_dilation(1);
      dim->set_window_dilation(layer.dilation);
    }
    x = b_.Convolution(x, kernel, window, RowsAndColumns());
    x = b_.Add(x, b_.Broadcast(bias, x->shape().dims(), {3}));
    return b_.Maximum(x, b_.FullLike(x, 0));
  }

  Value Pool(Value x) {
    Builder::Scope scope(&b_, "pool");
    xla::Window window;
    for (const int64_t size : {int64_t{1}, config_.pool, config_.pool, int64_t{1}}) {
      xla::WindowDimension* dim = window.add_dimensions();
      dim->set_size(size);
      dim->set_stride(size);
      dim->set_base_dilation(1);
      dim->set_window_dilation(1);
    }
    return b_.ReduceWindow(Opcode::kMaximum, x, window);
  }

  // Dimension orders: images b01f, kernels 01io.
  static xla::ConvolutionDimensionNumbers RowsAndColumns() {
    xla::ConvolutionDimensionNumbers numbers;
    numbers.set_input_feature_dimension(3);
    numbers.set_output_feature_dimension(3);
    numbers.set_kernel_input_feature_dimension(2);
    numbers.set_kernel_output_feature_dimension(3);
    for (const int64_t d : {0, 1}) {
      numbers.add_input_spatial_dimensions(d + 1);
      numbers.add_kernel_spatial_dimensions(d);
      numbers.add_output_spatial_dimensions(d + 1);
    }
    return numbers;
  }

  const ConvNetworkConfig& config_;
  Builder b_;
  std::vector<Value> weights_;
};

// The operands over which an op's windows slide. In a gradient by a kernel the second operand, which is the
// longer window, is an image too.
std::vector<const Instruction*> Images(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kReduceWindow:
      return {op.operand(0)};
    case Opcode::kSelectAndScatter:
      return {op.operand(0), op.operand(1)};
    case Opcode::kConvolution: {
      const ConvolutionView numbers(op);
      const bool by_kernel = op.operand(1)->shape().dim(numbers.kernel_spatial()[0]) >
                             op.shape().dim(numbers.output_spatial()[0]);
      if (by_kernel) return {op.operand(0), op.operand(1)};
      return {op.operand(0)};
    }
    default:
      return {};
  }
}

}  // namespace

absl::Status ConvNetworkConfig::Check() const {
  for (const int64_t size : {batch, height, width, channels, pool, batch_parts, row_parts, column_parts}) {
    if (size < 1 || size > kMaxSize) {
      return absl::InvalidArgumentError(
          absl::StrCat("a size of the images or the mesh is ", size, "; say 1 to ", kMaxSize));
    }
  }
  if (batch_parts * row_parts > kMaxSize || devices() > kMaxSize) {
    return absl::InvalidArgumentError(
        absl::StrCat("the mesh has more than ", kMaxSize, " devices; cut less"));
  }
  if (!IsFloat(type)) return absl::InvalidArgumentError("images are of floating point");
  int64_t h = height, w = width;
  for (const ConvLayer& layer : layers) {
    for (const int64_t size : {layer.features, layer.kernel, layer.stride, layer.dilation}) {
      if (size < 1 || size > kMaxSize) {
        return absl::InvalidArgumentError(
            absl::StrCat("a size of a layer is ", size, "; say 1 to ", kMaxSize));
      }
    }
    if (layer.kernel % 2 == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a kernel of ", layer.kernel, " rows has no middle; take an odd number"));
    }
    h = SizeAfter(layer, h);
    w = SizeAfter(layer, w);
  }
  if (h < pool || w < pool) {
    return absl::InvalidArgumentError(absl::StrCat("images of ", height, " x ", width, " leave ", h, " x ", w,
                                                   " for windows of ", pool, " x ", pool,
                                                   "; take larger ones"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Module>> BuildConvNetwork(const ConvNetworkConfig& config) {
  RETURN_IF_ERROR(config.Check());
  Network network(config);
  return network.b().Build(network.Loss());
}

absl::StatusOr<std::unique_ptr<Module>> BuildConvNetworkGradient(const ConvNetworkConfig& config) {
  RETURN_IF_ERROR(config.Check());
  Network network(config);
  Builder& b = network.b();
  Value loss = network.Loss();
  ASSIGN_OR_RETURN(const std::vector<Value> gradients,
                   Gradients(loss, network.weights(), GradientOptions(), &b));
  std::vector<Value> results = {loss};
  for (Value gradient : gradients) results.push_back(b.Replicate(gradient));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, b.Build(b.Tuple(results)));
  EliminateDeadCode(module.get());
  return module;
}

std::vector<Literal> ConvNetworkArguments(const Module& module, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> distribution(-0.5f, 0.5f);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    Literal literal(parameter->shape());
    for (float& value : literal.mutable_data<float>()) value = distribution(random);
    arguments.push_back(std::move(literal));
  }
  return arguments;
}

int64_t BytesIfGathered(const Module& module, const ConvNetworkConfig& config) {
  absl::flat_hash_set<const Instruction*> images;
  for (const auto& op : module.entry()->instructions()) {
    for (const Instruction* image : Images(*op)) images.insert(image);
  }
  const int64_t group = config.row_parts * config.column_parts;
  int64_t bytes = 0;
  for (const Instruction* image : images) {
    int64_t tile = CeilOfRatio(image->shape().dim(0), config.batch_parts) *
                   CeilOfRatio(image->shape().dim(1), config.row_parts) *
                   CeilOfRatio(image->shape().dim(2), config.column_parts) * image->shape().dim(3);
    bytes += tile * ByteWidth(image->shape().element_type()) * (group - 1);
  }
  return bytes;
}

}  // namespace toroid
