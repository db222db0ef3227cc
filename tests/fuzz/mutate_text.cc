#include "tests/fuzz/mutate_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "hlo/opcode.h"

namespace toroid {
namespace {

struct Range {
  size_t begin, end;
};

bool IsWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
}

// A token at a random place.
Range TokenAt(absl::string_view text, RandomSource* random) {
  if (text.empty()) return {0, 0};
  size_t begin = random->Below(text.size()), end = begin + 1;
  if (!IsWord(text[begin])) return {begin, end};
  while (begin > 0 && IsWord(text[begin - 1])) --begin;
  while (end < text.size() && IsWord(text[end])) ++end;
  return {begin, end};
}

// A token that is a number; any other token if no number is near.
Range NumberAt(absl::string_view text, RandomSource* random) {
  for (int i = 0; i < 16; ++i) {
    const Range token = TokenAt(text, random);
    if (token.begin < token.end && absl::ascii_isdigit(static_cast<unsigned char>(text[token.begin])))
      return token;
  }
  return TokenAt(text, random);
}

// Up to `lines` lines at a random place.
Range LinesAt(absl::string_view text, int64_t lines, RandomSource* random) {
  if (text.empty()) return {0, 0};
  const size_t at = random->Below(text.size());
  const size_t before = at == 0 ? absl::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = before == absl::string_view::npos ? 0 : before + 1;
  size_t end = begin;
  for (int64_t i = 0; i < lines && end < text.size(); ++i) {
    const size_t next = text.find('\n', end);
    end = next == absl::string_view::npos ? text.size() : next + 1;
  }
  return {begin, std::min(end, begin + 2000)};
}

void Replace(const Range& range, absl::string_view by, std::string* text) {
  text->replace(range.begin, range.end - range.begin, by.data(), by.size());
}

std::string Copy(absl::string_view text, const Range& range) {
  return std::string(text.substr(range.begin, range.end - range.begin));
}

void MutateOnce(absl::string_view other, absl::Span<const std::string> dictionary, RandomSource* random,
                std::string* text) {
  static constexpr absl::string_view kBrackets[] = {"{",  "}",  "(",  ")",  "[",  "]",
                                                    "{}", "((", "[[", "{{", "\"", ","};
  switch (random->Below(13)) {
    case 0:
    case 1:
    case 2:
      return Replace(NumberAt(*text, random), absl::StrCat(random->Integer()), text);
    case 3:
      return Replace(TokenAt(*text, random), Copy(*text, TokenAt(*text, random)), text);
    case 4:
      return Replace(TokenAt(*text, random), "", text);
    case 5:
      if (!dictionary.empty()) Replace(TokenAt(*text, random), random->Of(dictionary), text);
      return;
    case 6: {
      const size_t at = TokenAt(*text, random).begin;
      return Replace({at, at}, Copy(other, TokenAt(other, random)), text);
    }
    case 7:
      return Replace(LinesAt(*text, 1 + random->Below(3), random), "", text);
    case 8: {
      const size_t at = LinesAt(*text, 1, random).begin;
      return Replace({at, at}, Copy(*text, LinesAt(*text, 1 + random->Below(3), random)), text);
    }
    case 9:
      return Replace(LinesAt(*text, 1, random), Copy(other, LinesAt(other, 1 + random->Below(6), random)),
                     text);
    case 10: {
      std::string run;
      const int64_t length = random->OneIn(50) ? random->Below(5000) : 1 + random->Below(3);
      const absl::string_view bracket = random->Of<absl::string_view>(kBrackets);
      for (int64_t i = 0; i < length; ++i) absl::StrAppend(&run, bracket);
      const size_t at = TokenAt(*text, random).begin;
      return Replace({at, at}, run, text);
    }
    case 11:
      if (random->OneIn(4)) text->resize(random->Below(static_cast<int64_t>(text->size()) + 1));
      return;
    default:
      return MutateBytes(other, random, text);
  }
}

}  // namespace

void MutateText(absl::string_view other, absl::Span<const std::string> dictionary, RandomSource* random,
                std::string* text) {
  for (int64_t i = random->OneIn(3) ? random->Below(6) : 0; i >= 0; --i)
    MutateOnce(other, dictionary, random, text);
}

void MutateBytes(absl::string_view other, RandomSource* random, std::string* bytes) {
  if (bytes->empty()) {
    bytes->assign(other.data(), other.size());
    return;
  }
  const size_t at = random->Below(bytes->size());
  switch (random->Below(6)) {
    case 0:
      (*bytes)[at] ^= static_cast<char>(1 << random->Below(8));
      break;
    case 1:
      (*bytes)[at] = static_cast<char>(random->Bits());
      break;
    case 2:
      bytes->insert(at, 1 + random->Below(4), static_cast<char>(random->Bits()));
      break;
    case 3:
      bytes->erase(at, 1 + random->Below(random->OneIn(4) ? 64 : 4));
      break;
    case 4:
      (*bytes)[at] = random->OneIn(2) ? '\xff' : '\x80';
      break;
    default: {
      if (other.empty()) return;
      const size_t from = random->Below(other.size());
      bytes->insert(at, std::string(other.substr(from, 1 + random->Below(64))));
    }
  }
}

const std::vector<std::string>& HloTextWords() {
  static const auto* const words = [] {
    auto* list = new std::vector<std::string>;
    for (int i = 0; i < kNumOpcodes; ++i) list->push_back(std::string(OpcodeName(static_cast<Opcode>(i))));
    for (const absl::string_view word :
         {"f32[]",
          "f32[4]",
          "f32[0]",
          "bf16[4,4]",
          "s4[3]",
          "u2[5]",
          "pred[]",
          "s32[]",
          "c64[2]",
          "f8e4m3fn[4]",
          "f64[2,3]",
          "token[]",
          "(f32[], s32[])",
          "()",
          "f32[<=4]",
          "f32[4,4]{0,1}",
          "f32[4]{0:T(8,128)S(1)}",
          "ROOT",
          "ENTRY",
          "%",
          "dimensions={0}",
          "dimensions={1,0}",
          "to_apply=",
          "calls=",
          "condition=",
          "body=",
          "sharding={replicated}",
          "sharding={devices=[2,1]<=[2]}",
          "sharding={manual}",
          "sharding={maximal device=0}",
          "replica_groups={{0,1}}",
          "replica_groups=[1,2]<=[2]",
          "channel_id=1",
          "use_global_device_ids=true",
          "window={size=2x2 pad=1_1x0_0}",
          "window={size=3 stride=2 pad=-1_2 lhs_dilate=2 rhs_dilate=2 rhs_reversal=1}",
          "dim_labels=b01f_01io->b01f",
          "padding=1_1_1",
          "slice={[0:4:2]}",
          "dynamic_slice_sizes={1,1}",
          "index=0",
          "inf",
          "nan",
          "-nan",
          "-0",
          "1e400",
          "iota_dimension=0",
          "is_stable=true",
          "custom_call_target=\"Sharding\"",
          "metadata={op_name=\"x\"}",
          "frontend_attributes={a=\"b\"}",
          "backend_config={\"a\":{}}",
          "control-predecessors={}",
          "type=TOTALORDER",
          "direction=LT",
          "lhs_contracting_dims={0}",
          "rhs_contracting_dims={0}",
          "lhs_batch_dims={0}",
          "feature_group_count=2",
          "batch_group_count=2",
          "fft_type=RFFT",
          "fft_length={4}",
          "exponent_bits=5",
          "mantissa_bits=2",
          "/*",
          "*/",
          "//",
          "=",
          "<=",
          "->",
          "...",
          "constant({...})"}) {
      list->push_back(std::string(word));
    }
    return list;
  }();
  return *words;
}

}  // namespace toroid
