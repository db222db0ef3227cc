#include "hlo/io/foreign_input.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace toroid {
namespace {

constexpr absl::string_view kBytecode = "ML\xefR";
constexpr size_t kHead = 1 << 16;  // Bytes at the start that are searched.

// The path, or "IN" for standard input and for a path with characters that need escapes in '' inside "" of a
// shell command.
std::string PathText(absl::string_view path) {
  for (const char c : path) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && !absl::StrContains("_-+=.,:/@ ", c))
      return "IN";
  }
  return path.empty() || path == "-" ? "IN" : std::string(path);
}

// The path of the result: in the same folder, with another suffix.
std::string ResultPath(absl::string_view path) {
  const size_t slash = path.rfind('/'), dot = path.rfind('.');
  const size_t begin = slash == absl::string_view::npos ? 0 : slash + 1;
  if (dot != absl::string_view::npos && dot > begin) path = path.substr(0, dot);
  return absl::StrCat(path, ".hlo.pb");
}

std::string Python(absl::string_view statements) { return absl::StrCat("python3 -c \"", statements, "\""); }

// `module`: an expression for MLIR text or bytes.
std::string FromMlir(absl::string_view imports, absl::string_view module, absl::string_view path) {
  // write_bytes, unlike write, leaves no empty file if the command fails.
  const bool packed = absl::EndsWith(path, ".gz");
  return Python(
      absl::StrCat(packed ? "import gzip; " : "", imports,
                   "from pathlib import Path; from jaxlib import xla_client; Path('", ResultPath(path),
                   "').write_bytes(xla_client._xla.mlir.mlir_module_to_xla_computation(", module,
                   ", use_tuple_args=False, return_tuple=False).as_serialized_hlo_module_proto())"));
}

std::string Opened(absl::string_view path) {
  return absl::StrCat(absl::EndsWith(path, ".gz") ? "gzip." : "", "open('", path, "', 'rb').read()");
}

std::string MlirAdvice(absl::string_view what, absl::string_view path) {
  return absl::StrCat(what, ", which is not read; make HLO of it: ", FromMlir("", Opened(path), path));
}

std::string SavedModelAdvice(absl::string_view folder) {
  return absl::StrCat(
      "a TensorFlow saved model, which is not read; make HLO of a function of it, its inputs in the place of ...: ",
      Python(absl::StrCat(
          "import tensorflow as tf; m = tf.saved_model.load('", folder,
          "'); f = m.signatures['serving_default']; open('model.hlo.pb', 'wb').write(tf.function("
          "lambda **x: f(**x), jit_compile=True).experimental_get_compiler_ir(...)"
          "(stage='hlo_serialized'))")));
}

// True for MLIR text, which may begin with comments, aliases (#loc = .., !type = ..) and blank lines.
bool IsMlirText(absl::string_view text) {
  const absl::string_view head = text.substr(0, kHead);
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    if (text.empty()) return false;
    if (text[0] != '#' && text[0] != '!' && !absl::StartsWith(text, "//")) break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  if (absl::StartsWith(text, "\"builtin.module\"") || absl::StartsWith(text, "builtin.module") ||
      absl::StartsWith(text, "func.func ")) {
    return true;
  }
  if (!absl::ConsumePrefix(&text, "module")) return false;
  text = absl::StripLeadingAsciiWhitespace(text);
  if (!absl::StartsWith(text, "@") && !absl::StartsWith(text, "{") && !absl::StartsWith(text, "attributes")) {
    return false;
  }
  for (const absl::string_view word :
       {"func.func", "func @", "stablehlo.", "mhlo.", "vhlo.", "chlo.", "sdy."}) {
    if (absl::StrContains(head, word)) return true;
  }
  return false;
}

absl::string_view MlirDialect(absl::string_view text) {
  const absl::string_view head = text.substr(0, kHead);
  if (absl::StrContains(head, " mhlo.") && !absl::StrContains(head, "stablehlo.")) return "MHLO text";
  return absl::StrContains(head, "vhlo.") ? "VHLO text" : "StableHLO text";
}

// True for a flatbuffer with StableHLO inside.
bool IsExportedFunction(absl::string_view bytes) {
  if (bytes.size() < 16 || bytes[3] != 0) return false;
  const size_t at = bytes.find(kBytecode);
  return at != absl::string_view::npos && absl::StrContains(bytes.substr(at, 64), "StableHLO_v");
}

// True for a SavedModel message: its schema version, then graphs.
bool IsSavedModel(absl::string_view bytes) {
  return absl::StartsWith(bytes, absl::string_view("\x08\x01\x12", 3));
}

// How suitable a file of a dump folder is as input. Best is the module before optimizations, as a proto
// rather than as text; worst is a module that was already partitioned, or one meant to be run as it is. 0:
// not suitable.
int Rank(const std::string& name) {
  const bool proto = absl::EndsWith(name, ".hlo.pb") || absl::EndsWith(name, "snapshot.pb");
  const bool text =
      absl::EndsWith(name, ".hlo") || (absl::EndsWith(name, ".txt") && absl::StartsWith(name, "module_"));
  if (!proto && !text) return 0;
  if (absl::StrContains(name, "buffer-assignment") || absl::StrContains(name, "memory-usage-report") ||
      absl::StrContains(name, "thunk") || absl::StrContains(name, ".ir-")) {
    return 0;
  }
  const bool is_late = absl::StrContains(name, "after_") || absl::StrContains(name, "spmd");
  const int stage = absl::StrContains(name, "before_optimizations") ? 4 : is_late ? 0 : 2;
  return stage + (proto ? 2 : 1);
}

}  // namespace

std::optional<std::string> DescribeForeign(absl::string_view bytes, const std::string& given) {
  const std::string path = PathText(given);
  if (absl::StartsWith(bytes, kBytecode)) {
    const bool portable = absl::StrContains(bytes.substr(0, 64), "StableHLO_v");
    return MlirAdvice(portable ? "a StableHLO portable artifact" : "MLIR bytecode", path);
  }
  if (IsMlirText(bytes)) return MlirAdvice(MlirDialect(bytes), path);
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  if (absl::StartsWith(text, "{ lambda")) {
    return absl::StrCat(
        "a jaxpr, which is not read; make HLO of the function f of it: ",
        Python("import jax; open('f.hlo.pb', 'wb').write(jax.jit(f).lower(x).compiler_ir('hlo')"
               ".as_serialized_hlo_module_proto())"));
  }
  if (IsExportedFunction(bytes)) {
    const std::string module =
        absl::StrCat("export.deserialize(bytearray(", Opened(path), ")).mlir_module_serialized");
    return absl::StrCat("a function that jax.export wrote, which is not read; make HLO of it: ",
                        FromMlir("from jax import export; ", module, path));
  }
  if (IsSavedModel(bytes)) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return SavedModelAdvice(folder.empty() ? "." : folder);
  }
  if (absl::StartsWith(bytes, "PK\x03\x04")) {
    return absl::StrCat(
        "an archive, as NumPy writes arrays and PyTorch programs, not a program in HLO; for PyTorch/XLA make HLO of "
        "the tensor y: ",
        Python(
            "import torch_xla; open('step.hlo.pb', 'wb').write(torch_xla._XLAC._get_xla_tensors_hlo_proto([y]))"));
  }
  return std::nullopt;
}

std::optional<std::string> DescribeFolder(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::nullopt;
  if (std::filesystem::exists(std::filesystem::path(path) / "saved_model.pb", error)) {
    return SavedModelAdvice(PathText(path));
  }
  constexpr int kMostEntries = 100000;
  std::string best;
  int rank = 0, entries = 0;
  uintmax_t size = 0;
  std::filesystem::directory_iterator files(path, error), end;
  for (; !error && files != end && entries < kMostEntries; files.increment(error), ++entries) {
    const std::string name = files->path().filename().string();
    const int found = Rank(name);
    std::error_code ignored;
    const uintmax_t bytes = found > 0 ? files->file_size(ignored) : 0;
    // Take the largest file of the best rank; among equal sizes the first by name.
    if (found == 0 || ignored || std::tie(rank, size) > std::tie(found, bytes)) continue;
    if (found == rank && bytes == size && best <= name) continue;
    best = name, rank = found, size = bytes;
  }
  if (best.empty()) return "is a folder without HLO files; give a file";
  return absl::StrCat("is a folder; give one of its files, such as ",
                      (std::filesystem::path(path) / best).string());
}

}  // namespace toroid
