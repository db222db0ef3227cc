#include "hlo/io/module_meshes.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

std::unique_ptr<Module> WithMeshes(const std::string& attributes) {
  return ParseModule(absl::StrCat("HloModule m", attributes, "\nENTRY main { ROOT x = f32[8] parameter(0) }"))
      .value();
}

TEST(ModuleMeshes, AreThoseTheModuleNames) {
  const auto module = WithMeshes(
      R"(, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"data\"=4, \"model\"=2]>, one = #sdy.mesh<[]>}"})");
  ASSERT_NE(SdyMeshesText(*module), nullptr);
  ASSERT_OK_AND_ASSIGN(const SdyMeshes meshes, SdyMeshesOf(*module));
  ASSERT_EQ(meshes.size(), 2);
  EXPECT_EQ(meshes.at("mesh").axes[1].name, "model");
  EXPECT_EQ(meshes.at("mesh").NumDevices(), 8);
}

TEST(ModuleMeshes, AModuleWithoutTheAttributeHasNone) {
  const auto module = WithMeshes("");
  EXPECT_EQ(SdyMeshesText(*module), nullptr);
  ASSERT_OK_AND_ASSIGN(const SdyMeshes meshes, SdyMeshesOf(*module));
  EXPECT_TRUE(meshes.empty());
}

TEST(ModuleMeshes, ATextThatIsNoMeshIsAnError) {
  const auto module = WithMeshes(R"(, frontend_attributes={xla.sdy.meshes="{mesh = 3}"})");
  EXPECT_EQ(SdyMeshesOf(*module).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace toroid
