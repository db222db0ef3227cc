// Catalogues of translations as GNU gettext keeps them: the file FOLDER/X/LC_MESSAGES/D.mo of domain D and language X.
//
// A file is read here, not looked up by gettext(3), which would take the language from the environment, give what a more
// general language says where this one is silent (pt for pt_BR), and take 5 s for the 600 files of iso-codes.
// Source: GNU gettext manual, "The Format of GNU MO Files".
#ifndef TOROID_EXAMPLES_DATA_GETTEXT_CATALOG_H_
#define TOROID_EXAMPLES_DATA_GETTEXT_CATALOG_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

// By message, both UTF-8. Of a message with plural forms the singular; messages with a context are left out.
using Catalog = absl::flat_hash_map<std::string, std::string>;

// Errors: kInvalidArgument for bytes that are no .mo file, are damaged, or of another encoding than UTF-8.
absl::StatusOr<Catalog> ParseCatalog(absl::string_view bytes);

// Errors: those of ReadFile; those of ParseCatalog, "PATH: ...".
absl::StatusOr<Catalog> ReadCatalog(const std::string& folder, const std::string& language,
                                    const std::string& domain);

// The languages that have a catalogue of the domain, in alphabetical order; none if there is no such folder.
std::vector<std::string> CatalogLanguages(const std::string& folder, const std::string& domain);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_DATA_GETTEXT_CATALOG_H_
