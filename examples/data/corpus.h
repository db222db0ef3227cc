// Sentences in many languages with their English translations.
#pragma once

#include <string>
#include <vector>

namespace toroid {

struct Sentence {
  int language;                 // Index into Corpus::languages.
  std::string source, english;  // UTF-8
};

struct Corpus {
  std::string origin;  // One line: the source of the sentences.
  std::vector<std::string> languages;
  std::vector<Sentence> sentences;  // No two are equal.
};

}  // namespace toroid
