// Restores the model and the sentences of a training run from its checkpoint alone.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/data/translation_task.h"
#include "examples/decoding/beam_decoder.h"
#include "examples/moe/config.h"

namespace toroid {

struct SavedModel {
  std::string path;
  MoeTransformerConfig model;
  std::unique_ptr<TranslationTask> task;
};

// path: a checkpoint NAME.npz, or a folder with one.
// Errors, each "PATH: ..." with what to do: kNotFound if there is no checkpoint or the sentences are not
// installed; kInvalidArgument for a file that is damaged, is no checkpoint of `moe_transformer --train`, or
// was trained on other sentences than are installed.
absl::StatusOr<SavedModel> OpenSavedModel(const std::string& path);

// The weights of the checkpoint. Errors: those of LoadArrays and BeamDecoder::SetWeights, "PATH: ...".
absl::Status SetSavedWeights(const SavedModel& saved, BeamDecoder& decoder);

}  // namespace toroid
