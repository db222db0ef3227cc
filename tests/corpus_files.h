// The modules of tests/corpus, as test data.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace toroid {

// Paths of the files in tests/corpus/`folder` that end in `suffix`, sorted. The test lists
// //tests/corpus:`folder` among its data. Ends the process if there are none.
std::vector<std::string> CorpusFiles(absl::string_view folder, absl::string_view suffix);

// The bytes of a file. Ends the process if it cannot be read.
std::string ReadCorpusFile(const std::string& path);

}  // namespace toroid
