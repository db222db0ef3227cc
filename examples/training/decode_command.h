// The command `decode`: its flags, translation with a checkpoint, the prediction for a pod.
#pragma once

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "examples/decoding/decode_prediction.h"

namespace toroid {

struct DecodeCommand {
  std::string checkpoint, sentence, language;
  int64_t devices = 0;  // 0: as many as in training.
  int64_t names = 10;
  double length_power = 0.6;
  int threads = 0;
  bool predict = false;
  DecodePredictionOptions prediction;  // Its beam is also used for translation.
  int width = 100;
};

// Adds the flags and checks of their combinations.
void AddDecodeFlags(CLI::App& app, DecodeCommand* command);

// Prints to standard output.
// Errors: those of OpenSavedModel, MakeTaskDecoder, Translate and PredictDecoding; kInvalidArgument for a
// language that the model was not trained on, with the languages that it was.
absl::Status RunDecodeCommand(const DecodeCommand& command);

}  // namespace toroid
