// BUILD: size = "small"
#include "hlo/io/foreign_input.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/base/gzip.h"
#include "hlo/io/file.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char kMhlo[] = R"(#loc = loc(unknown)
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xf32>) -> (tensor<4x4xf32> {jax.result_info = "result"}) {
    %0 = mhlo.tanh %arg0 : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
)";

std::string WrittenAs(const std::string& name, absl::string_view content) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

void ExpectError(const std::string& path, const std::string& what, const std::string& command) {
  const absl::Status status = ReadHloFile(path).status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(what), HasSubstr(command))));
  EXPECT_EQ(std::string(status.message()).find(path), 0u);
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
}

TEST(ForeignInputTest, MlirIsAnsweredWithTheLineThatConvertsIt) {
  const std::string text = WrittenAs("step.mlir", kMhlo);
  ExpectError(text, "MHLO text, which is not read",
              absl::StrCat("mlir_module_to_xla_computation(open('", text, "', 'rb').read()"));
  ExpectError(text, "MHLO text", absl::StrCat("Path('", ::testing::TempDir(), "/step.hlo.pb').write_bytes("));
  const std::string packed = WrittenAs("step.mlir.gz", *Gzip(kMhlo));
  ExpectError(packed, "MHLO text", absl::StrCat("computation(gzip.open('", packed, "', 'rb').read()"));
  ExpectError(WrittenAs("mhlo.mlir",
                        "module @m {\n func.func @f() {\n  %0 = mhlo.constant dense<1> : tensor<i32>\n}}"),
              "MHLO text", "python3 -c");
  ExpectError(WrittenAs("vhlo.mlir", "module @m {\n vhlo.func_v1 @f() {\n  %0 = \"vhlo.tanh_v1\"(%1)\n}}"),
              "VHLO text", "python3");
  ExpectError(WrittenAs("step.mlirbc", absl::string_view("ML\xefR\rMLIR23.0.0git\0\1!", 18)), "MLIR bytecode",
              "python3");
  ExpectError(WrittenAs("step.vhlo", absl::string_view("ML\xefR\rStableHLO_v1.9.0\0\1", 23)),
              "StableHLO portable artifact", "python3");
}

TEST(ForeignInputTest, ExportedFunctionsAndSavedModels) {
  const std::string exported = std::string(
                                   "<\0\0\0"
                                   "8\0`\0^\0X\0T\0P\0L\0H\0\0\0",
                                   22) +
                               std::string("@\0\0\0ML\xefR\rStableHLO_v1.9.0\0\1", 27);
  ExpectError(WrittenAs("f.exported", exported), "jax.export", "export.deserialize(bytearray(open(");
  ExpectError(WrittenAs("saved_model_bytes.pb", absl::string_view("\x08\x01\x12\x05\x0a\x03\x08\x01\x10", 9)),
              "TensorFlow saved model", "experimental_get_compiler_ir");
  ExpectError(WrittenAs("program.pt2", absl::string_view("PK\x03\x04\0\0\0", 7)), "archive", "torch_xla");
  ExpectError(WrittenAs("f.jaxpr", "{ lambda ; a:f32[4]. let b:f32[4] = tanh a in (b,) }\n"), "jaxpr",
              "compiler_ir('hlo')");
}

TEST(ForeignInputTest, AFolderSaysWhichOfItsFilesToGive) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "dump";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ExpectError(folder.string(), "is a folder without HLO files", "give a file");
  for (const auto& [name, content] :
       {std::pair("module_0001.jit_small.before_optimizations.txt", "HloModule small"),
        std::pair("module_0003.jit_step.before_optimizations.txt", "HloModule step, which is larger"),
        std::pair("module_0003.jit_step.cpu_after_optimizations.txt", "HloModule step, which is even larger"),
        std::pair("module_0003.jit_step.cpu_after_optimizations-buffer-assignment.txt",
                  "BufferAssignment: ....."),
        std::pair("notes.txt", "a file that is much longer than any of the others there are")}) {
    std::ofstream(folder / name) << content;
  }
  ExpectError(folder.string(), "is a folder", "such as " + (folder / "module_0003.jit_step.before").string());
  std::ofstream(folder / "saved_model.pb") << "x";
  ExpectError(folder.string(), "TensorFlow saved model",
              absl::StrCat("tf.saved_model.load('", folder.string(), "')"));
}

TEST(ForeignInputTest, HloIsNotTakenForAnythingElse) {
  EXPECT_OK(ReadHlo(
      "module {\n  ROOT c = f32[] constant(1), metadata={op_name=\"stablehlo.constant func.func\"}\n}"));
  EXPECT_THAT(
      ReadHlo("ENTRY e { x = f32[] parameter(0) y = f32[] nagate(z), custom_call_target=\"mhlo.topk\" }"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1:")));
  EXPECT_EQ(DescribeForeign("HloModule m", "x"), std::nullopt);
  EXPECT_EQ(DescribeForeign("", "x"), std::nullopt);
  EXPECT_EQ(DescribeForeign("#", "x"), std::nullopt);
}

TEST(ForeignInputTest, PathsThatAShellWouldReadAreNotRepeated) {
  const std::string advice = DescribeForeign(kMhlo, "a'; rm -rf $HOME; '.mlir").value();
  EXPECT_THAT(advice, AllOf(HasSubstr("open('IN', 'rb')"), Not(HasSubstr("$HOME"))));
  EXPECT_THAT(DescribeForeign(kMhlo, "-").value(), HasSubstr("open('IN', 'rb')"));
}

}  // namespace
}  // namespace toroid
