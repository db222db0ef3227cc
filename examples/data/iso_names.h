// Names of countries, languages, scripts and currencies in some 150 languages, from Debian's package
// iso-codes.
//
// The English names come from the package's JSON files, the others from its gettext catalogues. A name whose
// spelling is the English one is left out.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "examples/data/corpus.h"

namespace toroid {

struct IsoFolders {
  std::string json;     // Contains iso_3166-1.json and others.
  std::string locales;  // Contains de/LC_MESSAGES/iso_3166-1.mo and others.
};

// Finds the catalogues: in the system, or, if the system leaves them out, where setup.sh unpacked them
// ($XDG_CACHE_HOME/toroid-iso-codes, by default in ~/.cache).
// Errors: kNotFound, which says what to do.
absl::StatusOr<IsoFolders> FindIsoNames();

// Errors: kNotFound if no name is in another language; those of reading the files, "FILE: ...".
absl::StatusOr<Corpus> ReadIsoNames(const IsoFolders& folders);

}  // namespace toroid
