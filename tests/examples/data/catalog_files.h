// Catalogues of gettext for tests.
#pragma once

#include <map>
#include <string>

namespace toroid {

// Writes FOLDER/LANGUAGE/LC_MESSAGES/DOMAIN.mo with these translations, UTF-8.
// Source: GNU gettext manual, "The Format of GNU MO Files".
void WriteCatalog(const std::string& folder, const std::string& language, const std::string& domain,
                  const std::map<std::string, std::string>& translations);

// Writes a file and the folders it is in.
void WriteTestFile(const std::string& path, const std::string& bytes);

// An empty folder of this test's own.
std::string TestFolder(const std::string& name);

}  // namespace toroid
