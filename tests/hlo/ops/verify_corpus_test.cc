// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:hlo_text", "//tests/corpus:jax", "//tests/corpus:full_size"]
#include <memory>
#include <string>

#include "hlo/io/hlo_text.h"
#include "hlo/io/module_proto.h"
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

}  // namespace
}  // namespace toroid
