// Catalogues of translations as GNU gettext stores them: the file FOLDER/X/LC_MESSAGES/D.mo of domain D and
// language X.
//
// gettext(3) is not used: it would take the language from the environment, fall back to a more general
// language (pt for pt_BR), and take 5 s for the 600 files of iso-codes.
// Source: GNU gettext manual, "The Format of GNU MO Files".
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

// Translations by message, both UTF-8. A message with plural forms is given in the singular; messages with a
// context are left out.
using Catalog = absl::flat_hash_map<std::string, std::string>;

// Errors: kInvalidArgument for bytes that are no .mo file, are damaged, or are not encoded in UTF-8.
absl::StatusOr<Catalog> ParseCatalog(absl::string_view bytes);

// Errors: those of ReadFile; those of ParseCatalog, "PATH: ...".
absl::StatusOr<Catalog> ReadCatalog(const std::string& folder, const std::string& language,
                                    const std::string& domain);

// The languages that have a catalogue of the domain, in alphabetical order; empty if the folder does not
// exist.
std::vector<std::string> CatalogLanguages(const std::string& folder, const std::string& domain);

}  // namespace toroid
