// Which source line of a call stack is shown.
#include "hlo/analysis/source_frames.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/builder/instruction_builder.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// A call: its line is known by its file and function, and by `line`.
struct Call {
  std::string file, function;
  int line = 0;
};

// A program whose instructions record call stacks.
class Stacks {
 public:
  Stacks() : module_("m") {}

  // The metadata of an instruction with these calls, innermost first. `parent_of_last`: the frame that the outermost one names
  // as its caller, counted from 1.
  xla::OpMetadata Add(const std::vector<Call>& calls, int parent_of_last = 0) {
    xla::StackFrameIndexProto& index = *module_.mutable_proto()->mutable_stack_frame_index();
    const int first = index.stack_frames_size() + 1;
    for (size_t i = 0; i < calls.size(); ++i) {
      index.add_file_names(calls[i].file);
      index.add_function_names(calls[i].function);
      auto* location = index.add_file_locations();
      location->set_file_name_id(index.file_names_size());
      location->set_function_name_id(index.function_names_size());
      location->set_line(calls[i].line);
      auto* frame = index.add_stack_frames();
      frame->set_file_location_id(index.file_locations_size());
      frame->set_parent_frame_id(i + 1 < calls.size() ? first + static_cast<int>(i) + 1 : parent_of_last);
    }
    xla::OpMetadata metadata;
    metadata.set_stack_frame_id(calls.empty() ? 0 : first);
    return metadata;
  }

  std::string LineOf(const xla::OpMetadata& metadata) const {
    return SourceFrames(module_).LineOf(&metadata);
  }
  Module& module() { return module_; }
  std::vector<FrameKind> KindsOf(const xla::OpMetadata& metadata) const {
    std::vector<FrameKind> kinds;
    SourceFrames frames(module_);
    for (const SourceFrame& frame : frames.StackOf(&metadata)) kinds.push_back(frame.kind);
    return kinds;
  }

 private:
  Module module_;
};

// The line shown for line 10 i of file i, called from the next file.
std::string LineOf(const std::vector<std::string>& files, int parent_of_last = 0) {
  Stacks stacks;
  std::vector<Call> calls;
  for (const std::string& file : files)
    calls.push_back({file, "", 10 * (static_cast<int>(calls.size()) + 1)});
  return stacks.LineOf(stacks.Add(calls, parent_of_last));
}

TEST(SourceFramesTest, TheInnermostFrameOfTheAuthorIsShown) {
  EXPECT_EQ(LineOf({"model.py", "train.py"}), "model.py:10");
  EXPECT_EQ(
      LineOf({"/usr/lib/python3.11/functools.py", "/venv/lib/python3.11/site-packages/flax/linen/linear.py",
              "/home/me/model.py", "/home/me/train.py"}),
      "/home/me/model.py:30");
  EXPECT_EQ(LineOf({"jax/_src/numpy/lax_numpy.py", "optax/_src/transform.py", "train.py"}), "train.py:30");
}

TEST(SourceFramesTest, WhereAllFramesAreOfPackagesTheInnermostIsShown) {
  EXPECT_EQ(LineOf({"/x/site-packages/a.py", "/x/site-packages/b.py"}), "a.py:10");
}

TEST(SourceFramesTest, ANotebooksCellIsShownAndNotWhatRunsIt) {
  Stacks stacks;
  const xla::OpMetadata op =
      stacks.Add({{"In[3]", "<module>", 2},
                  {"/x/site-packages/IPython/core/interactiveshell.py", "run_code", 3577},
                  {"/x/site-packages/ipykernel/kernelapp.py", "start", 758},
                  {"/x/site-packages/traitlets/config/application.py", "launch_instance", 1075},
                  {"/x/site-packages/tornado/platform/asyncio.py", "start", 211}});
  EXPECT_EQ(stacks.LineOf(op), "In[3]:2");
}

TEST(SourceFramesTest, FramesInACircleAndOutOfRangeEndTheSearch) {
  EXPECT_EQ(LineOf({"/x/site-packages/a.py", "/x/site-packages/b.py"}, /*parent_of_last=*/1), "a.py:10");
  EXPECT_EQ(LineOf({"/x/site-packages/a.py"}, /*parent_of_last=*/77), "a.py:10");
  EXPECT_EQ(LineOf({}), "");
}

TEST(SourceFramesTest, WithoutAStackTheSourceFileIsShown) {
  Stacks stacks;
  xla::OpMetadata metadata = stacks.Add({});
  metadata.set_source_file("/x/site-packages/maxtext/layers/linears.py");
  metadata.set_source_line(7);
  EXPECT_EQ(stacks.LineOf(metadata), "maxtext/layers/linears.py:7");
}

// A library of models is the author's code where the author's own file only starts it.
TEST(SourceFramesTest, AModelFromAPackageIsShownAndNotTheScriptThatStartsIt) {
  const std::string maxtext = "/venv/lib/python3.12/site-packages/maxtext/";
  Stacks stacks;
  const xla::OpMetadata norm =
      stacks.Add({{"/venv/lib/python3.12/site-packages/jax/_src/lax/lax.py", "mul", 1},
                  {maxtext + "layers/normalizations.py", "RMSNorm.__call__", 129},
                  {maxtext + "trainers/train_compile.py", "main", 385},
                  {"/home/me/lower.py", "<module>", 26}});
  EXPECT_EQ(stacks.LineOf(norm), "maxtext/layers/normalizations.py:129");
  EXPECT_THAT(stacks.KindsOf(norm),
              ElementsAre(FrameKind::kLibrary, FrameKind::kPackage, FrameKind::kPackage, FrameKind::kScript));
}

// dense() is called by three functions, and _product() by dense() alone: the lines that call dense() are shown.
TEST(SourceFramesTest, HelpersAreSteppedOver) {
  Stacks stacks;
  std::vector<xla::OpMetadata> ops;
  for (const auto& [function, line] : {std::pair("query", 10), std::pair("key", 20), std::pair("mlp", 30)}) {
    ops.push_back(
        stacks.Add({{"layers.py", "_product", 1}, {"layers.py", "dense", 5}, {"model.py", function, line}}));
  }
  EXPECT_EQ(stacks.LineOf(ops[0]), "model.py:10");
  EXPECT_EQ(stacks.LineOf(ops[2]), "model.py:30");
  EXPECT_THAT(stacks.KindsOf(ops[1]),
              ElementsAre(FrameKind::kHelper, FrameKind::kHelper, FrameKind::kAuthor));
}

// Twelve lines of one function that call a block do not make a helper of the block.
TEST(SourceFramesTest, ALayerCalledOftenByOneFunctionIsNoHelper) {
  Stacks stacks;
  xla::OpMetadata last;
  for (int line = 1; line <= 12; ++line)
    last = stacks.Add({{"model.py", "block", 40}, {"model.py", "decoder", line}});
  EXPECT_EQ(stacks.LineOf(last), "model.py:40");
}

TEST(SourceFramesTest, BeyondFourHelpersTheInnermostIsShown) {
  Stacks stacks;
  std::vector<xla::OpMetadata> ops;
  for (const char* function : {"a", "b", "c"}) {
    ops.push_back(stacks.Add({{"h.py", "h1", 1},
                              {"h.py", "h2", 2},
                              {"h.py", "h3", 3},
                              {"h.py", "h4", 4},
                              {"h.py", "h5", 5},
                              {"model.py", function, 9}}));
  }
  EXPECT_EQ(stacks.LineOf(ops[0]), "h.py:1");
}

// A layer that is computed again seems to be called by what calls its callers.
TEST(SourceFramesTest, StacksThatLackCallsMakeNoHelpers) {
  Stacks stacks;
  const xla::OpMetadata op = stacks.Add(
      {{"model.py", "layer", 3}, {"model.py", "loss", 5}, {"model.py", "step", 7}, {"model.py", "run", 9}});
  stacks.Add({{"model.py", "layer", 3}, {"model.py", "step", 7}, {"model.py", "run", 9}});
  stacks.Add({{"model.py", "layer", 3}, {"model.py", "run", 9}});
  EXPECT_EQ(stacks.LineOf(op), "model.py:3");
}

TEST(SourceFramesTest, TheCallerMaySayWhichFilesAreTheAuthors) {
  Stacks stacks;
  const xla::OpMetadata op = stacks.Add({{"/x/site-packages/mylib/ops.py", "f", 3}, {"train.py", "step", 8}});
  EXPECT_EQ(stacks.LineOf(op), "train.py:8");
  SetAuthorFiles({.author = {"mylib/"}}, &stacks.module());
  EXPECT_EQ(stacks.LineOf(op), "mylib/ops.py:3");
}

TEST(SourceFramesTest, TheCallerMaySayWhichFilesAreNotTheAuthors) {
  Stacks stacks;
  const xla::OpMetadata op = stacks.Add({{"utils/sharding.py", "f", 3}, {"model.py", "layer", 8}});
  EXPECT_EQ(stacks.LineOf(op), "utils/sharding.py:3");
  SetAuthorFiles({.not_author = {"utils/"}}, &stacks.module());
  EXPECT_EQ(stacks.LineOf(op), "model.py:8");
}

TEST(SourceFramesTest, PartsOfNoFileAreTold) {
  Stacks stacks;
  stacks.Add({{"/x/site-packages/jax/_src/lax.py", "g", 1}, {"/x/site-packages/mylib/ops.py", "f", 3}});
  EXPECT_THAT(PartsOfNoFile({"mylib/", "mylub/", "ops"}, stacks.module()), testing::ElementsAre("mylub/"));
  EXPECT_THAT(SomeFiles(stacks.module(), 9), testing::ElementsAre("mylib/ops.py", "jax/_src/lax.py"));
  EXPECT_EQ(SomeFiles(stacks.module(), 1).size(), 1);
}

// constrain() makes constraints alone; layer() other ops, too.
TEST(SourceFramesTest, AFunctionThatOnlyConstrainsIsAWrapper) {
  Stacks stacks;
  const xla::OpMetadata constraint = stacks.Add({{"model.py", "constrain", 3}, {"model.py", "layer", 8}});
  const xla::OpMetadata other = stacks.Add({{"model.py", "layer", 9}});
  Computation* computation = stacks.module().AddComputation("main");
  InstructionBuilder b(computation);
  Instruction* x = b.Parameter(Shape(xla::F32, {8}), "x");
  b.set_metadata(&other);
  b.Op(Opcode::kMultiply, x->shape(), {x, x});
  b.set_metadata(&constraint);
  Instruction* s = b.CustomCall("Sharding", x->shape(), {x});
  EXPECT_EQ(stacks.LineOf(constraint), "model.py:8");
  EXPECT_THAT(stacks.KindsOf(constraint), ElementsAre(FrameKind::kWrapper, FrameKind::kAuthor));
  // A sum of gradients says nothing.
  xla::OpMetadata sum = constraint;
  sum.set_op_name("jit(step)/add_any");
  b.set_metadata(&sum);
  b.Op(Opcode::kAdd, x->shape(), {s, s});
  EXPECT_EQ(stacks.LineOf(constraint), "model.py:8");
  // A product in the function makes it a layer of its own.
  xla::OpMetadata product = constraint;
  product.set_op_name("jit(step)/mul");
  b.set_metadata(&product);
  b.Op(Opcode::kMultiply, x->shape(), {s, s});
  EXPECT_OK(b.status());
  EXPECT_EQ(stacks.LineOf(constraint), "model.py:3");
}

// A compiler that inlined calls recorded more callers of line 9 in one of two programs.
TEST(SourceFramesTest, ModulesAgreeOnHelpers) {
  Stacks few, many;
  const xla::OpMetadata of_few = few.Add({{"m.py", "dense", 9}, {"m.py", "layer", 20}});
  const xla::OpMetadata of_many = many.Add({{"m.py", "dense", 9}, {"m.py", "layer", 20}});
  many.Add({{"m.py", "dense", 9}, {"m.py", "loss", 30}});
  many.Add({{"m.py", "dense", 9}, {"m.py", "step", 40}});
  // Only the second program has this helper.
  const std::vector<std::pair<std::string, int>> callers = {{"f", 50}, {"g", 60}, {"h", 70}};
  xla::OpMetadata of_helper;
  for (const auto& [function, line] : callers)
    of_helper = many.Add({{"m.py", "norm", 12}, {"m.py", function, line}});

  SourceFrames a(few.module()), b(many.module());
  EXPECT_EQ(a.LineOf(&of_few), "m.py:9");
  EXPECT_EQ(b.LineOf(&of_many), "m.py:20");
  a.ShareHelpers(&b);
  EXPECT_EQ(a.LineOf(&of_few), "m.py:9");
  EXPECT_EQ(b.LineOf(&of_many), "m.py:9");
  EXPECT_EQ(b.LineOf(&of_helper), "m.py:70");
}

// Two functions call the step's line, and the step's own stack, on top of the model's, is no third.
TEST(SourceFramesTest, ALineThatIsFoundAgainFurtherOutIsNoHelpers) {
  Stacks stacks;
  const Call model{"model.py", "model", 5}, loss{"train.py", "step.<lambda>", 48},
      step{"train.py", "step", 48};
  const xla::OpMetadata forward =
      stacks.Add({model, loss, step, {"run.py", "lower", 65}, {"run.py", "<module>", 77}});
  const xla::OpMetadata backward = stacks.Add(
      {step, {"model.py", "layer", 7}, loss, step, {"run.py", "lower", 65}, {"run.py", "<module>", 77}});
  EXPECT_EQ(stacks.LineOf(forward), "model.py:5");
  EXPECT_EQ(stacks.LineOf(backward), "train.py:48");
}

}  // namespace
}  // namespace toroid
