// Opcodes, and the columns of the table in opcode.inc.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace toroid {

inline constexpr int kVariadic = -1;

// Attributes an opcode carries, one bit per group of text attributes and proto fields.
enum Attribute : uint64_t {
  kNoAttribute = 0,
  kDimensions = 1ull << 0,             // dimensions={...}
  kOptionalDimensions = 1ull << 1,     // dimensions={...}, may be absent
  kInferredDimension = 1ull << 2,      // inferred_dimension=
  kIotaDimension = 1ull << 3,          // iota_dimension=
  kSliceDimensions = 1ull << 4,        // slice={[a:b:s], ...}
  kDynamicSliceSizes = 1ull << 5,      // dynamic_slice_sizes={...}
  kPaddingConfig = 1ull << 6,          // padding=1_2x0_0_1
  kComparison = 1ull << 7,             // direction=, type=
  kTupleIndex = 1ull << 8,             // index=
  kLiteral = 1ull << 9,                // constant(...)
  kParameterNumber = 1ull << 10,       // parameter(...)
  kParameterReplication = 1ull << 11,  // parameter_replication={...}
  kExponentBits = 1ull << 12,
  kMantissaBits = 1ull << 13,
  kResultAccuracy = 1ull << 14,
  kDomainShardings = 1ull << 15,    // domain={kind=, entry=, exit=}
  kGatherDimensions = 1ull << 16,   // offset_dims= ... slice_sizes=
  kScatterDimensions = 1ull << 17,  // update_window_dims= ...
  kIndicesAreSorted = 1ull << 18,
  kUniqueIndices = 1ull << 19,
  kToApply = 1ull << 20,              // to_apply=
  kDotDimensions = 1ull << 21,        // lhs_contracting_dims= ...
  kRaggedDotDimensions = 1ull << 22,  // as dot, lhs_ragged_dims=, rhs_group_dims=
  kPrecision = 1ull << 23,            // operand_precision=, algorithm=
  kWindow = 1ull << 24,               // window={...}
  kDimLabels = 1ull << 25,            // dim_labels=
  kGroupCounts = 1ull << 26,          // feature_group_count=, batch_group_count=
  kConvolutionKind = 1ull << 27,
  kSparsityConfig = 1ull << 28,
  kSelectScatter = 1ull << 29,  // select=, scatter=
  kScanOptions = 1ull << 30,    // num_carries=, is_reverse=, is_associative=
  kIsStable = 1ull << 31,
  kTopKOptions = 1ull << 32,       // k=, largest=
  kBatchNormOptions = 1ull << 33,  // epsilon=, feature_index=
  kFftOptions = 1ull << 34,        // fft_type=, fft_length=
  kCholeskyOptions = 1ull << 35,   // lower=
  kTriangularSolveOptions = 1ull << 36,
  kDistribution = 1ull << 37,
  kDelta = 1ull << 38,
  kRngAlgorithm = 1ull << 39,
  kIsComposite = 1ull << 40,
  kFusionOptions = 1ull << 41,      // kind=, calls=
  kOutputAliasing = 1ull << 42,     // output_to_operand_aliasing=
  kConditionBody = 1ull << 43,      // condition=, body=
  kBranches = 1ull << 44,           // true_computation=/false_computation= or branch_computations=
  kCustomCallOptions = 1ull << 45,  // custom_call_target= ...
  kDeviceGroups = 1ull << 46,       // replica_groups=, channel_id=
  kGlobalIds = 1ull << 47,          // use_global_device_ids=
  kConstrainLayout = 1ull << 48,
  kSourceTargetPairs = 1ull << 49,  // source_target_pairs=, channel_id=, slice_sizes=
  kInfeedConfig = 1ull << 50,
  kOutfeedConfig = 1ull << 51,  // outfeed_config=, outfeed_shape=
  kChannel = 1ull << 52,        // channel_id=, is_host_transfer=
  kPrefetchIndex = 1ull << 53,
  kAsyncOptions = 1ull << 54,  // calls=, async_execution_thread=
};

// Properties of opcodes that analyses ask for. Custom calls have further ones, by target and flags.
enum Trait : uint32_t {
  kNoTrait = 0,
  // Has a side effect and is never dropped: sends or receives messages, or draws from a hidden state.
  kSideEffect = 1u << 0,
  // Makes no array of its own: a parameter, or an alias of its operands under another shape.
  kNoStorage = 1u << 1,
  // Elements of the result are elements of the operands, bit for bit.
  kDataMovement = 1u << 2,
  // A result leaf may be written over the operand leaf of the same number, whole or in part.
  kInPlace = 1u << 3,
  // Computed by the unit for transcendental functions, if the machine has one.
  kTranscendental = 1u << 4,
  // Runs computations over values in memory: call, while, conditional, async-start. (What fusions and
  // reducers run stays in registers.)
  kRunsBody = 1u << 5,
  // Exchanges data between devices. Asynchronous starts have it, their dones do not.
  kExchangesData = 1u << 6,
  // Accepts any operands, including those with run-time sizes or without data on this device: it hands them
  // on, calls computations with them, or asks only for their sizes.
  kTakesAnyBuffer = 1u << 7,
  // Computing it again costs no more than reading its result: one walk over the operands. Elementwise ops are
  // cheap without this trait.
  kCheap = 1u << 8,
  // Consumers can make its elements while reading, without arithmetic, so that computing it again is free.
  kFreeToRepeat = 1u << 9,
};

enum class Opcode : uint8_t {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) enumerator,
#include "hlo/opcode.inc"
#undef HLO_OP
  kUnknown,  // An opcode that the table lacks; the instruction keeps its wire name.
};

inline constexpr int kNumOpcodes = static_cast<int>(Opcode::kUnknown);

// Wire name, e.g. "dynamic-slice"; "unknown" for kUnknown.
absl::string_view OpcodeName(Opcode opcode);

// The opcode of a wire name; nullopt if the table has none.
std::optional<Opcode> OpcodeFromName(absl::string_view name);

// The direction of a comparison opcode of older writers, e.g. "LT" for "less-than"; nullopt for all others.
std::optional<absl::string_view> RetiredComparisonDirection(absl::string_view name);

// Number of operands, or kVariadic.
int OpcodeArity(Opcode opcode);

// OR of Attribute bits.
uint64_t OpcodeAttributes(Opcode opcode);
inline bool HasAttribute(Opcode opcode, Attribute attribute) {
  return (OpcodeAttributes(opcode) & attribute) != 0;
}

// OR of Trait bits; kSideEffect for kUnknown.
uint32_t OpcodeTraits(Opcode opcode);
inline bool HasTrait(Opcode opcode, Trait trait) { return (OpcodeTraits(opcode) & trait) != 0; }

// True for ops whose result element at an index depends only on the operands' elements at that index:
// the Unary and Binary families, compare, select, clamp, convert and the identities (copy, opt-barrier).
bool IsElementwise(Opcode opcode);

// True for ops that exchange data between devices, asynchronous starts included.
inline bool IsCollective(Opcode opcode) { return HasTrait(opcode, kExchangesData); }

}  // namespace toroid
