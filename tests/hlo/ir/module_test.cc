// Source lines of instructions.
#include "hlo/ir/module.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace toroid {
namespace {

// Frames: line 10 i of file i, called from the next file; the metadata names the first frame.
std::string LineOf(const std::vector<std::string>& files, int parent_of_last = 0) {
  Module module("m");
  xla::StackFrameIndexProto& frames = *module.mutable_proto()->mutable_stack_frame_index();
  for (size_t i = 0; i < files.size(); ++i) {
    frames.add_file_names(files[i]);
    auto* location = frames.add_file_locations();
    location->set_file_name_id(static_cast<int>(i) + 1);
    location->set_line(10 * (static_cast<int>(i) + 1));
    auto* frame = frames.add_stack_frames();
    frame->set_file_location_id(static_cast<int>(i) + 1);
    frame->set_parent_frame_id(i + 1 < files.size() ? static_cast<int>(i) + 2 : parent_of_last);
  }
  xla::OpMetadata metadata;
  metadata.set_stack_frame_id(1);
  return SourceLine(module, &metadata);
}

TEST(SourceLineTest, TheInnermostFrameOfTheAuthorIsNamed) {
  EXPECT_EQ(LineOf({"model.py", "train.py"}), "model.py:10");
  EXPECT_EQ(
      LineOf({"/usr/lib/python3.11/functools.py", "/venv/lib/python3.11/site-packages/flax/linen/linear.py",
              "/home/me/model.py", "/home/me/train.py"}),
      "/home/me/model.py:30");
  EXPECT_EQ(LineOf({"jax/_src/numpy/lax_numpy.py", "optax/_src/transform.py", "train.py"}), "train.py:30");
}

TEST(SourceLineTest, WhereAllFramesAreOfLibrariesTheInnermostIsNamed) {
  EXPECT_EQ(LineOf({"/x/site-packages/a.py", "/x/site-packages/b.py"}), "/x/site-packages/a.py:10");
}

TEST(SourceLineTest, FramesInACircleAndOutOfRangeEndTheSearch) {
  EXPECT_EQ(LineOf({"/x/site-packages/a.py", "/x/site-packages/b.py"}, /*parent_of_last=*/1),
            "/x/site-packages/a.py:10");
  EXPECT_EQ(LineOf({"/x/site-packages/a.py"}, /*parent_of_last=*/77), "/x/site-packages/a.py:10");
  EXPECT_EQ(LineOf({}), "");
}

}  // namespace
}  // namespace toroid
