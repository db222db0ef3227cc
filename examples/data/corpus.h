// Sentences in many languages with their English translations.
#ifndef TOROID_EXAMPLES_DATA_CORPUS_H_
#define TOROID_EXAMPLES_DATA_CORPUS_H_

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

#endif  // TOROID_EXAMPLES_DATA_CORPUS_H_
