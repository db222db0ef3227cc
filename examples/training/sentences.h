// Finds the sentences to train on.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "examples/data/corpus.h"

namespace toroid {

// names: "iso-codes", "made-up" (from the seed), or "auto": the first if it is installed. `says`: a line for
// the user if the kind taken may be unexpected.
// Errors: those of FindIsoNames and ReadIsoNames.
absl::StatusOr<Corpus> ReadSentences(absl::string_view names, uint64_t seed, std::string* says);

// The sentences with this Corpus::origin. Errors: kNotFound if they are not installed.
absl::StatusOr<Corpus> SentencesFrom(absl::string_view origin, uint64_t seed);

}  // namespace toroid
