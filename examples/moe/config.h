// Sizes and choices of the MoE Transformer.
//
// Letters of shapes as in the paper: G groups, S tokens of a group, B sequences of a group, L and T
// positions, M model, H hidden, N heads, K head width, E experts, C capacity, V vocabulary.
// Source: GShard, arXiv:2006.16668, Table 1 and appendix A.2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/shape.h"

namespace toroid {

// How tokens get to their experts and back.
enum class Dispatch {
  kEinsum,  // Products with one-hot masks, partitioned by the compiler.
  kGather,  // Rows picked by index, on each device (section 3.2 of the paper).
};
// Parses "einsum" or "gather".
// Errors: kInvalidArgument for any other word.
absl::StatusOr<Dispatch> ParseDispatch(absl::string_view word);

struct MoeTransformerConfig {
  int64_t devices = 2048;
  int64_t layers = 36;            // Both stacks together; each has half.
  int64_t experts = 2048;         // E, per MoE layer; 0: every layer is dense.
  int64_t groups = 2048;          // G
  int64_t sequences = 4;          // Per group.
  int64_t sequence_length = 512;  // S = sequences * sequence_length = 2048 tokens per group.
  int64_t model = 1024;           // M
  int64_t hidden = 8192;          // H, of dense and of expert feed-forward layers.
  int64_t heads = 16;             // N
  int64_t head_dim = 128;         // K
  int64_t source_vocabulary = 64000;
  int64_t target_vocabulary = 32000;
  // Weight of the auxiliary loss, which is scaled by E^2: tokens spread evenly over the experts cost
  // `aux_weight`.
  double aux_weight = 0.01;
  // Whether a token's position in its expert's buffer is counted by products with a triangular matrix, which
  // Lingvo (core/py_utils.py, CumSum) calls faster on TPUs of 2019, or by cumulative sums.
  bool cumulative_sums_by_products = false;
  // Whether rows of tables are looked up by products with one-hot rows, whose derivative is a product too, as
  // in Lingvo (core/gshard_builder.py, Embedding), or by gathers.
  bool embedding_by_products = false;
  Dispatch dispatch = Dispatch::kEinsum;
  // Places in each expert's buffer per group; 0: twice an even share, as in the paper's training.
  int64_t expert_capacity = 0;
  PrimitiveType type = xla::F32;  // Type of activations. Weights are f32; the gating is computed in f32.
  // Whether the values between the two products of a feed-forward layer are rounded to bf16, as a TPU's
  // matrix units read them, and kept as bf16 until the backward pass.
  bool bf16_hidden = false;
  // Whether attention scores are written as bf16 and kept as bf16 until the backward pass. GShard's figure 7
  // has no room for more: it has 88 KiB per token and layer between 12 and 24 layers, where bf16 scores of
  // 256 positions take 12 KiB and f32 scores 24 KiB. The roofline for attention in figure 8 decides nothing:
  // it is near that of bf16 scores that pass memory once each way, but also near that of products in
  // sequences of 512.
  bool bf16_scores = false;

  // ---- In training
  double dropout = 0.1;  // For the embedded input, each sublayer's output, and attention weights.
  // Share of a label's probability that is spread over the whole vocabulary.
  double label_smoothing = 0.1;
  // Whether token 0 is padding: it is not attended to, takes no place in an expert's buffer, and has no loss
  // as a label.
  bool padding = false;
  // Whether source, target and output share one table of `target_vocabulary` rows.
  bool shared_embedding = false;

  // ---- A dense model as a pipeline (pipeline.h)
  // Stages of each stack, one after the other on as many parts of the mesh; 1: no pipeline.
  int64_t stages = 1;
  // Parts of a batch; a multiple of the stages.
  int64_t microbatches = 1;

  int64_t tokens_per_group() const { return sequences * sequence_length; }
  // C = max(1, ceil(2S / E)) unless expert_capacity is set; 0 without experts.
  int64_t capacity() const {
    if (experts == 0 || expert_capacity > 0) return experts == 0 ? 0 : expert_capacity;
    return std::max<int64_t>(1, (2 * tokens_per_group() + experts - 1) / experts);
  }
  // Number of MoE layers: every second feed-forward layer of a stack, beginning with the second.
  int64_t moe_layers() const { return experts == 0 ? 0 : 2 * (layers / 2 / 2); }
  // Number of parts into which a dimension of this size is cut: the largest divisor of the devices that does
  // not exceed the size.
  int64_t Parts(int64_t size) const;

  // Errors: kInvalidArgument unless layers is even, all sizes are positive, the capacity is not negative and
  // rates are in [0, 1); for Dispatch::kGather if groups are cut into unequal parts; for a pipeline whose
  // stages, microbatches or mesh come out uneven, or that has experts or padding.
  absl::Status Check() const;
};

// A row of Table 1: experts = groups = devices in {128, 512, 2048}, layers in {12, 36, 60}. With 60 layers
// activations are bf16 (section 4.3).
MoeTransformerConfig PaperConfig(int64_t experts, int64_t layers);

// A model by name: "2048e_36l" is PaperConfig(2048, 36); "t_96l" is the dense Transformer of 96 layers, in 16
// stages on 2048 devices. The paper gives neither its sizes nor its stages: heads of 64 give its 2.3 billion
// weights (2.35; heads of 128 give 2.95).
// Errors: kInvalidArgument for an unknown name, with the names of Table 1.
absl::StatusOr<MoeTransformerConfig> PaperConfig(absl::string_view name);

// The smallest model that has every part: 2 devices, 4 layers, small sizes.
MoeTransformerConfig TinyConfig();

}  // namespace toroid
