// Names of countries, languages, scripts and currencies in some 150 languages, from Debian's package iso-codes.
//
// The English names are those of its JSON files, the others of its gettext catalogues. A name spelled as in English is
// nothing to translate and left out.
#ifndef TOROID_EXAMPLES_DATA_ISO_NAMES_H_
#define TOROID_EXAMPLES_DATA_ISO_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "examples/data/corpus.h"

namespace toroid {

struct IsoFolders {
  std::string json;     // Has iso_3166-1.json and others.
  std::string locales;  // Has de/LC_MESSAGES/iso_3166-1.mo and others.
};

// Where the catalogues are: in the system, or where setup.sh unpacked them because the system leaves them out
// ($XDG_CACHE_HOME/toroid-iso-codes, by default in ~/.cache).
// Errors: kNotFound, with what to do.
absl::StatusOr<IsoFolders> FindIsoNames();

// Errors: kNotFound without any name in another language; those of reading the files, "FILE: ...".
absl::StatusOr<Corpus> ReadIsoNames(const IsoFolders& folders);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_DATA_ISO_NAMES_H_
