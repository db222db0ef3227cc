// Which sentences there are to train on.
#ifndef TOROID_EXAMPLES_TRAINING_SENTENCES_H_
#define TOROID_EXAMPLES_TRAINING_SENTENCES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "examples/data/corpus.h"

namespace toroid {

// names: "iso-codes", "made-up" (from the seed), or "auto", the first where it is there. `says`: a line, if another kind is
// taken than one might expect.
// Errors: those of FindIsoNames and ReadIsoNames.
absl::StatusOr<Corpus> ReadSentences(absl::string_view names, uint64_t seed, std::string* says);

// The sentences whose Corpus::origin this was. Errors: kNotFound if they are not here.
absl::StatusOr<Corpus> SentencesFrom(absl::string_view origin, uint64_t seed);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_TRAINING_SENTENCES_H_
