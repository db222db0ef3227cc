#include "hlo/io/attribute_values.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "hlo/io/sharding_text.h"

namespace toroid {
namespace {

// 3x4x5
absl::StatusOr<std::vector<int64_t>> ParseProduct(TextScanner* scanner) {
  std::vector<int64_t> values;
  do {
    ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
    values.push_back(value);
  } while (scanner->Consume("x"));
  return values;
}

// Reads items `key=value` between braces, separated by blanks or commas; parse(key) reads the value.
template <typename Parse>
absl::Status ParseItems(TextScanner* scanner, const Parse& parse) {
  RETURN_IF_ERROR(scanner->Expect("{"));
  while (!scanner->Consume("}")) {
    if (scanner->Consume(",")) continue;
    ASSIGN_OR_RETURN(const absl::string_view key, scanner->Word("an item or '}'"));
    RETURN_IF_ERROR(scanner->Expect("="));
    RETURN_IF_ERROR(parse(key));
  }
  return absl::OkStatus();
}

absl::Status UnknownItem(TextScanner* scanner, absl::string_view key) {
  return scanner->Error(absl::StrCat("unknown item ", key, " before this"));
}

std::string ShortestDouble(double value) {
  char buffer[40];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

}  // namespace

// ---- Enumerations -----------------------------------------------------------------------------------------

absl::StatusOr<int> ParseEnumerator(TextScanner* scanner, const google::protobuf::EnumDescriptor& type,
                                    absl::string_view prefix, bool lower) {
  const size_t begin = scanner->Position();
  const char next = scanner->Peek();
  if (next == '-' || absl::ascii_isdigit(static_cast<unsigned char>(next))) {
    ASSIGN_OR_RETURN(const int64_t number, scanner->Integer());
    if (number == static_cast<int32_t>(number)) return static_cast<int>(number);
    return scanner->ErrorAt(begin, "integer out of range");
  }
  ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("a name"));
  const google::protobuf::EnumValueDescriptor* value =
      type.FindValueByName(absl::StrCat(prefix, lower ? absl::AsciiStrToUpper(word) : std::string(word)));
  if (value != nullptr) return value->number();
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    names.push_back(EnumeratorText(type, prefix, lower, type.value(i)->number()));
  }
  return scanner->ErrorAt(begin, absl::StrCat("expected one of ", absl::StrJoin(names, ", ")));
}

std::string EnumeratorText(const google::protobuf::EnumDescriptor& type, absl::string_view prefix, bool lower,
                           int number) {
  const google::protobuf::EnumValueDescriptor* value = type.FindValueByNumber(number);
  if (value == nullptr) return absl::StrCat(number);
  const absl::string_view name = absl::StripPrefix(value->name(), prefix);
  return lower ? absl::AsciiStrToLower(name) : std::string(name);
}

// ---- Window -----------------------------------------------------------------------------------------------

absl::Status ParseWindow(TextScanner* scanner, xla::Window* window) {
  std::vector<int64_t> sizes, strides, base_dilations, window_dilations, reversals, lows, highs;
  RETURN_IF_ERROR(ParseItems(scanner, [&](absl::string_view key) -> absl::Status {
    if (key == "pad") {
      do {
        ASSIGN_OR_RETURN(const int64_t low, scanner->Integer());
        RETURN_IF_ERROR(scanner->Expect("_"));
        ASSIGN_OR_RETURN(const int64_t high, scanner->Integer());
        lows.push_back(low);
        highs.push_back(high);
      } while (scanner->Consume("x"));
      return absl::OkStatus();
    }
    std::vector<int64_t>* values = key == "size"           ? &sizes
                                   : key == "stride"       ? &strides
                                   : key == "lhs_dilate"   ? &base_dilations
                                   : key == "rhs_dilate"   ? &window_dilations
                                   : key == "rhs_reversal" ? &reversals
                                                           : nullptr;
    if (values == nullptr) return UnknownItem(scanner, key);
    ASSIGN_OR_RETURN(*values, ParseProduct(scanner));
    return absl::OkStatus();
  }));
  for (const std::vector<int64_t>* values :
       {&strides, &base_dilations, &window_dilations, &reversals, &lows, &highs}) {
    if (!values->empty() && values->size() != sizes.size()) {
      return scanner->Error("the items of the window before this differ in their number of dimensions");
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    xla::WindowDimension* dimension = window->add_dimensions();
    dimension->set_size(sizes[i]);
    dimension->set_stride(strides.empty() ? 1 : strides[i]);
    dimension->set_padding_low(lows.empty() ? 0 : lows[i]);
    dimension->set_padding_high(highs.empty() ? 0 : highs[i]);
    dimension->set_base_dilation(base_dilations.empty() ? 1 : base_dilations[i]);
    dimension->set_window_dilation(window_dilations.empty() ? 1 : window_dilations[i]);
    dimension->set_window_reversal(!reversals.empty() && reversals[i] != 0);
  }
  return absl::OkStatus();
}

std::string WindowToString(const xla::Window& window) {
  std::vector<std::string> items;
  // Prints one value per dimension, and nothing if all are the default.
  const auto add = [&](absl::string_view key, absl::string_view default_text, const auto& text_of) {
    std::vector<std::string> texts;
    for (const xla::WindowDimension& dimension : window.dimensions()) texts.push_back(text_of(dimension));
    if (std::all_of(texts.begin(), texts.end(), [&](const std::string& t) { return t == default_text; }))
      return;
    items.push_back(absl::StrCat(key, "=", absl::StrJoin(texts, "x")));
  };
  using Dimension = xla::WindowDimension;
  add("size", "", [](const Dimension& d) { return absl::StrCat(d.size()); });
  add("stride", "1", [](const Dimension& d) { return absl::StrCat(d.stride()); });
  add("pad", "0_0", [](const Dimension& d) { return absl::StrCat(d.padding_low(), "_", d.padding_high()); });
  add("lhs_dilate", "1", [](const Dimension& d) { return absl::StrCat(d.base_dilation()); });
  add("rhs_dilate", "1", [](const Dimension& d) { return absl::StrCat(d.window_dilation()); });
  add("rhs_reversal", "0", [](const Dimension& d) { return std::string(d.window_reversal() ? "1" : "0"); });
  return absl::StrCat("{", absl::StrJoin(items, " "), "}");
}

// ---- Dimension labels -------------------------------------------------------------------------------------

namespace {

using IntList = google::protobuf::RepeatedField<int64_t>;

// Reads the labels of one array: `first` and `second` are the letters of its two special dimensions.
absl::Status ParseLabels(TextScanner* scanner, char first, char second, int64_t* first_dimension,
                         int64_t* second_dimension, IntList* spatial) {
  const size_t begin = scanner->Position();
  const absl::string_view labels =
      scanner->Run([](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '?'; });
  int found = 0;
  for (const char c : labels) found += absl::ascii_isdigit(static_cast<unsigned char>(c));
  spatial->Resize(found, -1);
  *first_dimension = *second_dimension = -1;
  for (size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (c == '?') continue;
    const bool digit = absl::ascii_isdigit(static_cast<unsigned char>(c));
    int64_t* place = c == first                           ? first_dimension
                     : c == second                        ? second_dimension
                     : digit && c - '0' < spatial->size() ? spatial->Mutable(c - '0')
                                                          : nullptr;
    if (place == nullptr || *place != -1) {
      return scanner->ErrorAt(
          begin, absl::StrCat("label '", std::string(1, c), "' is unknown here, repeated or leaves a gap"));
    }
    *place = static_cast<int64_t>(i);
  }
  if (*first_dimension < 0 || *second_dimension < 0) {
    return scanner->ErrorAt(
        begin, absl::StrCat("expected labels ", std::string(1, first), " and ", std::string(1, second)));
  }
  return absl::OkStatus();
}

std::string Labels(int rank, char first, char second, int64_t first_dimension, int64_t second_dimension,
                   const IntList& spatial) {
  std::string out(rank, '?');
  const auto put = [&](int64_t dimension, char label) {
    if (dimension < 0 || dimension > 63) return;
    if (dimension >= static_cast<int64_t>(out.size())) out.resize(dimension + 1, '?');
    out[dimension] = label;
  };
  put(first_dimension, first);
  put(second_dimension, second);
  for (int i = 0; i < std::min(spatial.size(), 10); ++i) put(spatial[i], static_cast<char>('0' + i));
  return out;
}

}  // namespace

absl::Status ParseDimLabels(TextScanner* scanner, xla::ConvolutionDimensionNumbers* numbers) {
  const size_t begin = scanner->Position();
  int64_t first, second;
  RETURN_IF_ERROR(
      ParseLabels(scanner, 'b', 'f', &first, &second, numbers->mutable_input_spatial_dimensions()));
  numbers->set_input_batch_dimension(first);
  numbers->set_input_feature_dimension(second);
  RETURN_IF_ERROR(scanner->Expect("_"));
  RETURN_IF_ERROR(
      ParseLabels(scanner, 'i', 'o', &first, &second, numbers->mutable_kernel_spatial_dimensions()));
  numbers->set_kernel_input_feature_dimension(first);
  numbers->set_kernel_output_feature_dimension(second);
  RETURN_IF_ERROR(scanner->Expect("->"));
  RETURN_IF_ERROR(
      ParseLabels(scanner, 'b', 'f', &first, &second, numbers->mutable_output_spatial_dimensions()));
  numbers->set_output_batch_dimension(first);
  numbers->set_output_feature_dimension(second);
  const int spatial = numbers->input_spatial_dimensions_size();
  if (numbers->kernel_spatial_dimensions_size() != spatial ||
      numbers->output_spatial_dimensions_size() != spatial) {
    return scanner->ErrorAt(begin, "the arrays differ in their number of spatial dimensions");
  }
  return absl::OkStatus();
}

std::string DimLabelsToString(const xla::ConvolutionDimensionNumbers& numbers, int lhs_rank, int rhs_rank,
                              int output_rank) {
  return absl::StrCat(Labels(lhs_rank, 'b', 'f', numbers.input_batch_dimension(),
                             numbers.input_feature_dimension(), numbers.input_spatial_dimensions()),
                      "_",
                      Labels(rhs_rank, 'i', 'o', numbers.kernel_input_feature_dimension(),
                             numbers.kernel_output_feature_dimension(), numbers.kernel_spatial_dimensions()),
                      "->",
                      Labels(output_rank, 'b', 'f', numbers.output_batch_dimension(),
                             numbers.output_feature_dimension(), numbers.output_spatial_dimensions()));
}

// ---- Padding, slices --------------------------------------------------------------------------------------

absl::Status ParsePadding(TextScanner* scanner, xla::PaddingConfig* padding) {
  const char next = scanner->Peek();
  if (next != '-' && !(next >= '0' && next <= '9')) return absl::OkStatus();  // Rank 0.
  do {
    xla::PaddingConfig::PaddingConfigDimension* dimension = padding->add_dimensions();
    ASSIGN_OR_RETURN(const int64_t low, scanner->Integer());
    RETURN_IF_ERROR(scanner->Expect("_"));
    ASSIGN_OR_RETURN(const int64_t high, scanner->Integer());
    dimension->set_edge_padding_low(low);
    dimension->set_edge_padding_high(high);
    if (scanner->ConsumeAdjacent("_")) {
      ASSIGN_OR_RETURN(const int64_t interior, scanner->Integer());
      dimension->set_interior_padding(interior);
    }
  } while (scanner->ConsumeAdjacent("x"));
  return absl::OkStatus();
}

std::string PaddingToString(const xla::PaddingConfig& padding) {
  bool interior = false;
  for (const auto& dimension : padding.dimensions()) interior |= dimension.interior_padding() != 0;
  return absl::StrJoin(padding.dimensions(), "x",
                       [&](std::string* s, const xla::PaddingConfig::PaddingConfigDimension& d) {
                         absl::StrAppend(s, d.edge_padding_low(), "_", d.edge_padding_high());
                         if (interior) absl::StrAppend(s, "_", d.interior_padding());
                       });
}

absl::Status ParseSlice(TextScanner* scanner, SliceList* slices) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    xla::HloInstructionProto::SliceDimensions* slice = slices->Add();
    RETURN_IF_ERROR(scanner->Expect("["));
    ASSIGN_OR_RETURN(const int64_t start, scanner->Integer());
    RETURN_IF_ERROR(scanner->Expect(":"));
    ASSIGN_OR_RETURN(const int64_t limit, scanner->Integer());
    slice->set_start(start);
    slice->set_limit(limit);
    slice->set_stride(1);
    if (scanner->Consume(":")) {
      ASSIGN_OR_RETURN(const int64_t stride, scanner->Integer());
      slice->set_stride(stride);
    }
    return scanner->Expect("]");
  });
}

std::string SliceToString(const SliceList& slices) {
  bool strides = false;
  for (const auto& slice : slices) strides |= slice.stride() != 1;
  return absl::StrCat(
      "{",
      absl::StrJoin(slices, ", ",
                    [&](std::string* s, const xla::HloInstructionProto::SliceDimensions& slice) {
                      absl::StrAppend(s, "[", slice.start(), ":", slice.limit());
                      if (strides) absl::StrAppend(s, ":", slice.stride());
                      s->push_back(']');
                    }),
      "}");
}

// ---- Aliasing, pairs --------------------------------------------------------------------------------------

absl::Status ParseOutputAliasing(TextScanner* scanner, AliasingList* aliasing) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    xla::OutputOperandAliasing* entry = aliasing->Add();
    ASSIGN_OR_RETURN(const std::vector<int64_t> output, scanner->IntegerList());
    entry->mutable_output_shape_index()->Add(output.begin(), output.end());
    RETURN_IF_ERROR(scanner->Expect(":"));
    RETURN_IF_ERROR(scanner->Expect("("));
    ASSIGN_OR_RETURN(const int64_t operand, scanner->Integer());
    entry->set_operand_index(operand);
    if (scanner->Consume(",")) {
      ASSIGN_OR_RETURN(const std::vector<int64_t> index, scanner->IntegerList());
      entry->mutable_operand_shape_index()->Add(index.begin(), index.end());
    }
    return scanner->Expect(")");
  });
}

std::string OutputAliasingToString(const AliasingList& aliasing) {
  return absl::StrCat("{",
                      absl::StrJoin(aliasing, ", ",
                                    [](std::string* s, const xla::OutputOperandAliasing& entry) {
                                      absl::StrAppend(s, "{", absl::StrJoin(entry.output_shape_index(), ","),
                                                      "}: (", entry.operand_index(), ", {",
                                                      absl::StrJoin(entry.operand_shape_index(), ","), "})");
                                    }),
                      "}");
}

absl::Status ParsePairs(TextScanner* scanner, PairList* pairs) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    xla::SourceTarget* pair = pairs->Add();
    RETURN_IF_ERROR(scanner->Expect("{"));
    ASSIGN_OR_RETURN(const int64_t source, scanner->Integer());
    RETURN_IF_ERROR(scanner->Expect(","));
    ASSIGN_OR_RETURN(const int64_t target, scanner->Integer());
    pair->set_source(source);
    pair->set_target(target);
    return scanner->Expect("}");
  });
}

std::string PairsToString(absl::Span<const std::pair<int64_t, int64_t>> pairs) {
  return absl::StrCat("{",
                      absl::StrJoin(pairs, ",",
                                    [](std::string* s, const std::pair<int64_t, int64_t>& pair) {
                                      absl::StrAppend(s, "{", pair.first, ",", pair.second, "}");
                                    }),
                      "}");
}

// ---- Accuracy, sparsity, domain ---------------------------------------------------------------------------

absl::Status ParseResultAccuracy(TextScanner* scanner, xla::ResultAccuracy* accuracy) {
  return ParseItems(scanner, [&](absl::string_view key) -> absl::Status {
    if (key == "mode") {
      ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("default or highest"));
      xla::ResultAccuracy::Mode mode;
      if (!xla::ResultAccuracy::Mode_Parse(absl::AsciiStrToUpper(word), &mode))
        return UnknownItem(scanner, word);
      accuracy->set_mode(mode);
      return absl::OkStatus();
    }
    if (key != "tolerance") return UnknownItem(scanner, key);
    xla::ResultAccuracy::Tolerance* tolerance = accuracy->mutable_tolerance();
    return ParseItems(scanner, [&](absl::string_view item) -> absl::Status {
      if (item == "ulps") {
        ASSIGN_OR_RETURN(const int64_t ulps, scanner->Integer());
        tolerance->set_ulps(ulps);
        return absl::OkStatus();
      }
      ASSIGN_OR_RETURN(const double value, scanner->Decimal());
      if (item == "atol") {
        tolerance->set_atol(value);
      } else if (item == "rtol") {
        tolerance->set_rtol(value);
      } else {
        return UnknownItem(scanner, item);
      }
      return absl::OkStatus();
    });
  });
}

std::string ResultAccuracyToString(const xla::ResultAccuracy& accuracy) {
  if (accuracy.has_tolerance()) {
    const xla::ResultAccuracy::Tolerance& t = accuracy.tolerance();
    return absl::StrCat("{tolerance={atol=", ShortestDouble(t.atol()), ",rtol=", ShortestDouble(t.rtol()),
                        ",ulps=", t.ulps(), "}}");
  }
  return accuracy.mode() == xla::ResultAccuracy::HIGHEST ? "{mode=highest}" : "{mode=default}";
}

absl::Status ParseSparsityConfig(TextScanner* scanner, xla::SparsityConfig* config) {
  return ParseItems(scanner, [&](absl::string_view side) -> absl::Status {
    if (side != "lhs" && side != "rhs") return UnknownItem(scanner, side);
    xla::SparsityConfig::TensorSparsityConfig* tensor =
        side == "lhs" ? config->mutable_lhs() : config->mutable_rhs();
    return ParseItems(scanner, [&](absl::string_view key) -> absl::Status {
      ASSIGN_OR_RETURN(const std::vector<int64_t> values, ParseProduct(scanner));
      if (key == "sparsity" && values.size() == 2) {
        tensor->set_num_non_zero(values[0]);
        tensor->set_block_size(values[1]);
      } else if (key == "dimension" && values.size() == 1) {
        tensor->set_dimension(values[0]);
      } else if (key == "stride" && values.size() == 1) {
        tensor->set_stride(values[0]);
      } else {
        return UnknownItem(scanner, key);
      }
      return absl::OkStatus();
    });
  });
}

std::string SparsityConfigToString(const xla::SparsityConfig& config) {
  const auto to_string = [](const xla::SparsityConfig::TensorSparsityConfig& t) {
    return absl::StrCat("{sparsity=", t.num_non_zero(), "x", t.block_size(), " dimension=", t.dimension(),
                        " stride=", t.stride(), "}");
  };
  std::vector<std::string> items;
  if (config.has_lhs()) items.push_back(absl::StrCat("lhs=", to_string(config.lhs())));
  if (config.has_rhs()) items.push_back(absl::StrCat("rhs=", to_string(config.rhs())));
  return absl::StrCat("{", absl::StrJoin(items, " "), "}");
}

absl::Status ParseDomain(TextScanner* scanner, xla::HloInstructionProto* instruction) {
  return ParseItems(scanner, [&](absl::string_view key) -> absl::Status {
    if (key == "kind") {
      ASSIGN_OR_RETURN(const std::string kind, scanner->String());
      return kind == "sharding" ? absl::OkStatus()
                                : scanner->Error("only domains of kind \"sharding\" are known");
    }
    if (key != "entry" && key != "exit") return UnknownItem(scanner, key);
    ASSIGN_OR_RETURN(xla::OpSharding sharding, ParseSharding(scanner));
    // Text and proto name the sides inversely: `entry` in text is the exit sharding of the proto.
    *(key == "entry" ? instruction->mutable_domain_exit_sharding()
                     : instruction->mutable_domain_entry_sharding()) = std::move(sharding);
    return absl::OkStatus();
  });
}

std::string DomainToString(const xla::HloInstructionProto& instruction) {
  return absl::StrCat("{kind=\"sharding\", entry=", ShardingToString(instruction.domain_exit_sharding()),
                      ", exit=", ShardingToString(instruction.domain_entry_sharding()), "}");
}

}  // namespace toroid
