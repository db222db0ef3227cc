// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:hlo_text", "//tests/corpus:jax", "//tests/corpus:full_size"]
#include <memory>
#include <string>

#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/infer_shape.h"
#include "hlo/ops/verify_module.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(VerifyCorpusTest, TextModulesVerify) {
  for (const std::string& path : CorpusFiles("hlo_text", ".hlo")) {
    SCOPED_TRACE(path);
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(ReadCorpusFile(path)));
    EXPECT_OK(VerifyModule(*module));
  }
}

TEST(VerifyCorpusTest, ProtoModulesVerify) {
  for (const char* folder : {"jax", "full_size"}) {
    for (const std::string& path : CorpusFiles(folder, ".pb")) {
      SCOPED_TRACE(path);
      ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
      EXPECT_OK(VerifyModule(*file.module));
    }
  }
}

}  // namespace
}  // namespace toroid
