#include "examples/training/saved_model.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/training/checkpoint.h"
#include "examples/training/sentences.h"
#include "hlo/base/status.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

constexpr absl::string_view kTrainOne = "give a checkpoint of `moe_transformer --train`";

// Reads numbers of a configuration; keeps the first error.
class ConfigurationReader {
 public:
  explicit ConfigurationReader(const nlohmann::json& json) : json_(json) {}

  const absl::Status& status() const { return status_; }

  int64_t Integer(const char* name, int64_t least, int64_t most) {
    const nlohmann::json* value = Find(name);
    if (value == nullptr) return least;
    if (!value->is_number_integer() || (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX) ||
        value->get<int64_t>() < least || value->get<int64_t>() > most) {
      Fail(absl::StrCat(name, " is no whole number from ", least, " to ", most));
      return least;
    }
    return value->get<int64_t>();
  }
  uint64_t Seed(const char* name) {
    const nlohmann::json* value = Find(name);
    if (value != nullptr && value->is_number_unsigned()) return value->get<uint64_t>();
    Fail(absl::StrCat(name, " is no whole number from 0 on"));
    return 0;
  }
  double Real(const char* name, double least, double most) {
    const nlohmann::json* value = Find(name);
    if (value != nullptr && value->is_number() && value->get<double>() >= least &&
        value->get<double>() <= most) {
      return value->get<double>();
    }
    Fail(absl::StrCat(name, " is no number from ", least, " to ", most));
    return least;
  }
  std::string Text(const char* name) {
    const nlohmann::json* value = Find(name);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    Fail(absl::StrCat(name, " is no text"));
    return "";
  }

 private:
  const nlohmann::json* Find(const char* name) {
    const auto it = json_.find(name);
    if (it != json_.end()) return &*it;
    Fail(absl::StrCat("has no ", name));
    return nullptr;
  }
  void Fail(const std::string& why) {
    if (status_.ok())
      status_ = absl::InvalidArgumentError(absl::StrCat("configuration.json: ", why, "; ", kTrainOne));
  }

  const nlohmann::json& json_;
  absl::Status status_;
};

// Rejects a model with more weights than a file can hold, so that nothing large is built in vain.
absl::Status CheckSize(const MoeTransformerConfig& model) {
  const double m = static_cast<double>(model.model), h = static_cast<double>(model.hidden);
  const double layers = static_cast<double>(model.layers);
  const double attention = 4 * m * static_cast<double>(model.heads) * static_cast<double>(model.head_dim);
  const double tables =
      m * (static_cast<double>(model.source_vocabulary) + 2 * static_cast<double>(model.target_vocabulary));
  const double experts =
      static_cast<double>(model.moe_layers()) * 2 * m * h * static_cast<double>(model.experts);
  const double weights = tables + layers * attention + experts;
  constexpr double kMost = 0x1p29;  // The capacity of an archive of 2 GiB.
  if (weights <= kMost) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("configuration.json: a model of ", weights,
                                                 " weights, more than a checkpoint holds; ", kTrainOne));
}

struct Described {
  MoeTransformerConfig model;
  TaskOptions task;
  std::string sentences, sum;
};

// The ranges are those of the flags of `moe_transformer --train`.
absl::StatusOr<Described> Describe(const nlohmann::json& json) {
  constexpr int64_t kMost = int64_t{1} << 20;
  ConfigurationReader reader(json);
  Described described;
  MoeTransformerConfig& model = described.model;
  model.devices = reader.Integer("devices", 1, kMost);
  model.layers = reader.Integer("layers", 2, 1000);
  model.experts = reader.Integer("experts", 2, 2048);
  model.model = reader.Integer("model", 4, kMost);
  model.hidden = reader.Integer("hidden", 1, kMost);
  model.heads = reader.Integer("heads", 1, 1024);
  model.head_dim = reader.Integer("head_dim", 1, kMost);
  model.source_vocabulary = reader.Integer("source_vocabulary", 1, kMost);
  model.target_vocabulary = reader.Integer("target_vocabulary", 1, kMost);
  model.padding = true;
  TaskOptions& task = described.task;
  task.length = model.sequence_length = reader.Integer("length", 4, 4096);
  task.source_vocabulary = model.source_vocabulary;
  task.target_vocabulary = model.target_vocabulary;
  task.held_out = reader.Real("held_out", 0, 1);
  task.min_sentences = reader.Integer("min_sentences", 0, kMost);
  task.temperature = reader.Real("temperature", 0, 1e6);
  task.seed = reader.Seed("seed");
  described.sentences = reader.Text("sentences");
  described.sum = reader.Text("sentences_sum");
  RETURN_IF_ERROR(reader.status());
  RETURN_IF_ERROR(CheckSize(model));
  RETURN_IF_ERROR(model.Check());
  return described;
}

absl::StatusOr<std::string> FindCheckpoint(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return path;
  std::vector<std::string> found;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".npz") found.push_back(it->path().string());
  }
  if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  if (found.size() == 1) return found[0];
  return absl::NotFoundError(absl::StrCat(path, ": a folder with ", found.empty() ? "no" : "more than one",
                                          " .npz file; name the checkpoint itself"));
}

absl::StatusOr<SavedModel> Open(const Described& described) {
  ASSIGN_OR_RETURN(Corpus corpus, SentencesFrom(described.sentences, described.task.seed));
  ASSIGN_OR_RETURN(TranslationTask task, TranslationTask::Create(std::move(corpus), described.task));
  if (task.Fingerprint() != described.sum) {
    return absl::InvalidArgumentError(
        "was trained on other sentences of that kind than are here, so its words mean others; train it anew");
  }
  SavedModel saved;
  saved.model = described.model;
  saved.task = std::make_unique<TranslationTask>(std::move(task));
  return saved;
}

}  // namespace

absl::StatusOr<SavedModel> OpenSavedModel(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string file, FindCheckpoint(path));
  ASSIGN_OR_RETURN(const nlohmann::json configuration, LoadConfiguration(file));
  absl::StatusOr<Described> described = Describe(configuration);
  if (!described.ok()) return Annotate(described.status(), file);
  absl::StatusOr<SavedModel> saved = Open(*described);
  if (!saved.ok()) return Annotate(saved.status(), file);
  saved->path = file;
  return saved;
}

absl::Status SetSavedWeights(const SavedModel& saved, BeamDecoder& decoder) {
  std::vector<NamedShape> arrays;
  std::vector<std::string> names;
  for (BeamDecoder::WeightShape& weight : decoder.weights()) {
    names.push_back(weight.name);
    arrays.push_back({std::move(weight.name), std::move(weight.shape)});
  }
  ASSIGN_OR_RETURN(const std::vector<Literal> values, LoadArrays(saved.path, arrays));
  return Annotate(decoder.SetWeights(names, values), saved.path);
}

}  // namespace toroid
