// BUILD: size = "medium"
#include "examples/decoding/beam_decoder.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/examples/decoding/plain_beam_search.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLength = 6, kSteps = 7;

MoeTransformerConfig SmallModel(int64_t devices, int64_t sentences) {
  MoeTransformerConfig config = TinyConfig();
  config.devices = config.groups = devices;
  config.sequences = sentences / devices;
  config.sequence_length = kLength;
  config.experts = 8;
  config.padding = true;
  config.target_vocabulary = 9;
  return config;
}

DecodeOptions Beam(int64_t beam) {
  DecodeOptions options;
  options.search.beam = beam;
  options.steps = kSteps;
  return options;
}

// Sentences of 1 to L words, padded. [sentences * L]
std::vector<int32_t> RandomSource(const MoeTransformerConfig& config, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> tokens(config.groups * config.sequences * config.sequence_length);
  for (size_t row = 0; row < tokens.size(); row += config.sequence_length) {
    const int64_t words = 1 + static_cast<int64_t>(random() % config.sequence_length);
    for (int64_t i = 0; i < words; ++i)
      tokens[row + i] = static_cast<int32_t>(1 + random() % (config.source_vocabulary - 1));
  }
  return tokens;
}

absl::StatusOr<std::vector<std::vector<DecodedSentence>>> DecodeOnMesh(const MoeTransformerConfig& config,
                                                                       const DecodeOptions& options,
                                                                       const NamedWeights& weights,
                                                                       const std::vector<int32_t>& source) {
  ASSIGN_OR_RETURN(const std::unique_ptr<BeamDecoder> decoder, BeamDecoder::Create(config, options));
  RETURN_IF_ERROR(decoder->SetWeights(weights.names, weights.arrays));
  return decoder->Decode(Literal::Array<int32_t>({config.groups, config.sequences, config.sequence_length},
                                                 absl::MakeConstSpan(source)));
}

std::string Words(const DecodedSentence& sentence) {
  std::string text;
  for (const int32_t word : sentence.words) absl::StrAppend(&text, word, " ");
  return absl::StrCat(text, sentence.is_finished ? "." : "...");
}

void ExpectSame(const std::vector<std::vector<DecodedSentence>>& is,
                const std::vector<std::vector<DecodedSentence>>& should) {
  ASSERT_EQ(is.size(), should.size());
  for (size_t s = 0; s < is.size(); ++s) {
    ASSERT_EQ(is[s].size(), should[s].size()) << "sentence " << s;
    for (size_t k = 0; k < is[s].size(); ++k) {
      SCOPED_TRACE(absl::StrCat("sentence ", s, ", hypothesis ", k));
      EXPECT_EQ(Words(is[s][k]), Words(should[s][k]));
      EXPECT_NEAR(is[s][k].log_probability, should[s][k].log_probability, 2e-4);
      EXPECT_NEAR(is[s][k].score, should[s][k].score, 2e-4);
    }
  }
}

TEST(BeamDecoderTest, FindsWhatAPlainSearchFindsForAnyBeamOnAnyMesh) {
  int finished = 0, open = 0, longest = 0;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const NamedWeights weights = RandomWeights(SmallModel(1, 8), seed);
    const std::vector<int32_t> source = RandomSource(SmallModel(1, 8), seed);
    for (const int64_t beam : {1, 2, 4}) {
      const DecodeOptions options = Beam(beam);
      ASSERT_OK_AND_ASSIGN(const auto plain, PlainBeamSearch::Create(SmallModel(1, 8), options, weights));
      std::vector<std::vector<DecodedSentence>> expected;
      for (int64_t s = 0; s < 8; ++s) {
        ASSERT_OK_AND_ASSIGN(auto hypotheses,
                             plain->Decode(absl::MakeConstSpan(source).subspan(s * kLength, kLength)));
        for (const DecodedSentence& hypothesis : hypotheses) {
          (hypothesis.is_finished ? finished : open) += 1;
          longest = std::max<int>(longest, static_cast<int>(hypothesis.words.size()));
        }
        expected.push_back(std::move(hypotheses));
      }
      for (const int64_t devices : {1, 2, 8}) {
        SCOPED_TRACE(absl::StrCat("seed ", seed, ", beam ", beam, ", ", devices, " devices"));
        ASSERT_OK_AND_ASSIGN(const auto decoded,
                             DecodeOnMesh(SmallModel(devices, 8), options, weights, source));
        ExpectSame(decoded, expected);
      }
    }
  }
  // Ends of all kinds.
  EXPECT_GT(finished, 50);
  EXPECT_GT(open, 50);
  EXPECT_GT(longest, 3);
}

TEST(BeamDecoderTest, SixtyFourDevicesFindWhatOneDoes) {
  const NamedWeights weights = RandomWeights(SmallModel(1, 64), 5);
  const std::vector<int32_t> source = RandomSource(SmallModel(1, 64), 5);
  ASSERT_OK_AND_ASSIGN(const auto one, DecodeOnMesh(SmallModel(1, 64), Beam(3), weights, source));
  ASSERT_OK_AND_ASSIGN(const auto many, DecodeOnMesh(SmallModel(64, 64), Beam(3), weights, source));
  ExpectSame(many, one);
}

TEST(BeamDecoderTest, SentenceIsDecodedAlikeBesideAnyOthers) {
  const NamedWeights weights = RandomWeights(SmallModel(2, 8), 7);
  std::vector<int32_t> source = RandomSource(SmallModel(2, 8), 7);
  ASSERT_OK_AND_ASSIGN(auto among_others, DecodeOnMesh(SmallModel(2, 8), Beam(4), weights, source));
  std::fill(source.begin() + kLength, source.end(), 0);
  ASSERT_OK_AND_ASSIGN(const auto alone, DecodeOnMesh(SmallModel(2, 8), Beam(4), weights, source));
  EXPECT_TRUE(alone[1].empty());
  ExpectSame({alone[0]}, {among_others[0]});
}

TEST(BeamDecoderTest, StopsWhereNothingIsOpen) {
  const NamedWeights weights = RandomWeights(SmallModel(1, 2), 1);
  const std::vector<int32_t> source = RandomSource(SmallModel(1, 2), 1);
  DecodeOptions options = Beam(1);
  options.steps = 200;
  ASSERT_OK_AND_ASSIGN(const auto decoder, BeamDecoder::Create(SmallModel(1, 2), options));
  ASSERT_OK(decoder->SetWeights(weights.names, weights.arrays));
  const Literal tokens = Literal::Array<int32_t>({1, 2, kLength}, absl::MakeConstSpan(source));
  const Literal none(tokens.shape());
  ASSERT_OK_AND_ASSIGN(const auto nothing, decoder->Decode(none));
  EXPECT_EQ(decoder->steps_done(), 1);
  EXPECT_TRUE(nothing[0].empty());
  ASSERT_OK_AND_ASSIGN(const auto both, decoder->Decode(tokens));
  size_t longest = 0;
  for (const auto& hypotheses : both)
    longest = std::max(longest, hypotheses[0].words.size() + hypotheses[0].is_finished);
  EXPECT_EQ(decoder->steps_done(), longest);
}

TEST(BeamDecoderTest, WrongUseIsRefused) {
  const MoeTransformerConfig config = SmallModel(2, 2);
  const auto refused = [&](const DecodeOptions& options, const std::string& why) {
    EXPECT_THAT(BeamDecoder::Create(config, options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
  };
  refused(Beam(0), "use 1 to 7");
  refused(Beam(8), "use 1 to 7");
  DecodeOptions options = Beam(1);
  options.steps = 0;
  refused(options, "at least one step");
  options = Beam(1);
  options.step_capacity = -1;
  refused(options, "capacity");
  options = Beam(1);
  options.search.end = 9;
  refused(options, "word 9 is not in a vocabulary of 9");

  ASSERT_OK_AND_ASSIGN(const auto decoder, BeamDecoder::Create(config, Beam(2)));
  const Literal source(Shape(xla::S32, {2, 1, kLength}));
  EXPECT_THAT(decoder->Decode(source),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no weights")));
  NamedWeights weights = RandomWeights(config, 1);
  std::swap(weights.names[0], weights.names[1]);
  EXPECT_THAT(decoder->SetWeights(weights.names, weights.arrays),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("that of the model f32[")));
  weights = RandomWeights(config, 1);
  weights.names[0] = "other";
  EXPECT_THAT(decoder->SetWeights(weights.names, weights.arrays),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has no weight")));
  weights = RandomWeights(config, 1);
  ASSERT_OK(decoder->SetWeights(weights.names, weights.arrays));
  EXPECT_THAT(decoder->Decode(Literal(Shape(xla::S32, {2, 1, kLength + 1}))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("should be s32[2,1,6]")));
}

}  // namespace
}  // namespace toroid
