// Values of structured instruction attributes in HLO text: a reader and a printer for each. The attributes
// themselves are in the table of attribute_table.cc.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/repeated_field.h"
#include "hlo/io/text_scanner.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

// An enumerator, by its name without `prefix` (in lower case if `lower`), or by its number if this program
// has no name for it.
absl::StatusOr<int> ParseEnumerator(TextScanner* scanner, const google::protobuf::EnumDescriptor& type,
                                    absl::string_view prefix, bool lower);
std::string EnumeratorText(const google::protobuf::EnumDescriptor& type, absl::string_view prefix, bool lower,
                           int number);

// {size=3x3 stride=2x2 pad=1_1x0_2 lhs_dilate=1x1 rhs_dilate=2x2 rhs_reversal=0x1}
absl::Status ParseWindow(TextScanner* scanner, xla::Window* window);
std::string WindowToString(const xla::Window& window);

// b01f_01io->b01f. `lhs_rank` .. `output_rank`: the ranks, for printing a `?` for each dimension without a
// label.
absl::Status ParseDimLabels(TextScanner* scanner, xla::ConvolutionDimensionNumbers* numbers);
std::string DimLabelsToString(const xla::ConvolutionDimensionNumbers& numbers, int lhs_rank, int rhs_rank,
                              int output_rank);

// 0_1x2_-1x0_0_3
absl::Status ParsePadding(TextScanner* scanner, xla::PaddingConfig* padding);
std::string PaddingToString(const xla::PaddingConfig& padding);

using SliceList = google::protobuf::RepeatedPtrField<xla::HloInstructionProto::SliceDimensions>;
// {[0:8:2], [1:3]}
absl::Status ParseSlice(TextScanner* scanner, SliceList* slices);
std::string SliceToString(const SliceList& slices);

using AliasingList = google::protobuf::RepeatedPtrField<xla::OutputOperandAliasing>;
// {{0}: (1, {}), {1}: (0, {0})}
absl::Status ParseOutputAliasing(TextScanner* scanner, AliasingList* aliasing);
std::string OutputAliasingToString(const AliasingList& aliasing);

using PairList = google::protobuf::RepeatedPtrField<xla::SourceTarget>;
// {{0,1},{1,0}}
absl::Status ParsePairs(TextScanner* scanner, PairList* pairs);
std::string PairsToString(absl::Span<const std::pair<int64_t, int64_t>> pairs);

// {mode=highest}, {tolerance={atol=0.5,rtol=0,ulps=2}}
absl::Status ParseResultAccuracy(TextScanner* scanner, xla::ResultAccuracy* accuracy);
std::string ResultAccuracyToString(const xla::ResultAccuracy& accuracy);

// {lhs={sparsity=2x4 dimension=1 stride=1} rhs={...}}
absl::Status ParseSparsityConfig(TextScanner* scanner, xla::SparsityConfig* config);
std::string SparsityConfigToString(const xla::SparsityConfig& config);

// {kind="sharding", entry={...}, exit={...}}
absl::Status ParseDomain(TextScanner* scanner, xla::HloInstructionProto* instruction);
std::string DomainToString(const xla::HloInstructionProto& instruction);

}  // namespace toroid
