// decode: beam search with the MoE Transformer on a simulated mesh, where keys and values stay between steps.
#include "CLI/CLI.hpp"
#include "examples/training/decode_command.h"
#include "hlo/base/command_line.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Translates names with a checkpoint of `moe_transformer --train` by beam search on a simulated mesh, or predicts how fast a "
      "model of GShard's Table 1 decodes on a TPU v3 slice with a core for each expert.",
      "decode");
  toroid::DecodeCommand command;
  toroid::AddDecodeFlags(app, &command);
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::RunDecodeCommand(command); });
}
