#include "runtime/partitioned/mesh_program.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/engine/executor.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

struct Program {
  std::unique_ptr<Module> module, partitioned;
  std::unique_ptr<MeshProgram> program;
};

absl::StatusOr<Program> Make(const std::string& text, int64_t devices) {
  Program made;
  ASSIGN_OR_RETURN(made.module, ParseModule(text));
  PartitionOptions options;
  options.num_partitions = devices;
  ASSIGN_OR_RETURN(Partitioned partitioned, PartitionModule(*made.module, options));
  made.partitioned = std::move(partitioned.module);
  ASSIGN_OR_RETURN(made.program, MeshProgram::Create(*made.partitioned, *made.module));
  return made;
}

// x' = x + y, y' = 2 y, and a scalar sum; cut by the given shardings, 10 elements.
std::string Step(const std::string& x_out, const std::string& y_out) {
  return absl::StrCat(R"(HloModule step
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[10] parameter(0), sharding={devices=[4]<=[4]}
  y = f32[10] parameter(1), sharding={devices=[4]<=[4]}
  sum = f32[10] add(x, y), sharding=)",
                      x_out, R"(
  twice = f32[10] add(y, y), sharding=)",
                      y_out, R"(
  zero = f32[] constant(0)
  total = f32[] reduce(sum, zero), dimensions={0}, to_apply=add
  ROOT out = (f32[10], f32[10], f32[]) tuple(sum, twice, total), sharding={)",
                      x_out, ", ", y_out, R"(, {replicated}}
})");
}

Literal Numbers(float first) {
  std::vector<float> values;
  for (int i = 0; i < 10; ++i) values.push_back(first + static_cast<float>(i));
  return Literal::Array<float>({10}, values);
}

// Runs the step five times, on the mesh and on one device; the results are the same for any shardings.
void ExpectSameAsOneDevice(const std::string& text) {
  ASSERT_OK_AND_ASSIGN(const Program made, Make(text, 4));
  MeshProgram& program = *made.program;
  EXPECT_EQ(program.num_devices(), 4);
  EXPECT_EQ(program.num_results(), 3);
  Literal x = Numbers(0), y = Numbers(3);
  ASSERT_OK_AND_ASSIGN(MeshValue mesh_x, program.Cut(0, x));
  ASSERT_OK_AND_ASSIGN(MeshValue mesh_y, program.Cut(1, y));
  for (int step = 0; step < 5; ++step) {
    ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*made.module, {x, y}));
    std::vector<MeshValue> arguments = {std::move(mesh_x), std::move(mesh_y)};
    ASSERT_OK_AND_ASSIGN(std::vector<MeshValue> results, program.Run(std::move(arguments), RunOptions()));
    EXPECT_THAT(program.AssembleResult(2, results[2]), IsOkAndHolds(expected.element(2)));
    ASSERT_OK_AND_ASSIGN(mesh_x, program.Feed(0, std::move(results[0]), 0));
    ASSERT_OK_AND_ASSIGN(mesh_y, program.Feed(1, std::move(results[1]), 1));
    x = expected.element(0);
    y = expected.element(1);
    EXPECT_THAT(program.AssembleParameter(0, mesh_x), IsOkAndHolds(x));
    EXPECT_THAT(program.AssembleParameter(1, mesh_y), IsOkAndHolds(y));
  }
}

TEST(MeshProgramTest, StateStaysOnTheMeshFromStepToStep) {
  ExpectSameAsOneDevice(Step("{devices=[4]<=[4]}", "{devices=[4]<=[4]}"));
}

TEST(MeshProgramTest, ResultsCutOtherwiseThanParametersAreCutAnew) {
  ExpectSameAsOneDevice(Step("{devices=[4]3,2,1,0}", "{replicated}"));
  ExpectSameAsOneDevice(Step("{devices=[2,2]<=[4] last_tile_dim_replicate}", "{devices=[4]<=[2,2]T(1,0)}"));
}

TEST(MeshProgramTest, StorageOfAResultCutLikeItsParameterIsPassedOn) {
  ASSERT_OK_AND_ASSIGN(const Program made, Make(Step("{devices=[4]<=[4]}", "{devices=[4]0,1,2,3}"), 4));
  MeshProgram& program = *made.program;
  ASSERT_OK_AND_ASSIGN(MeshValue x, program.Cut(0, Numbers(0)));
  ASSERT_OK_AND_ASSIGN(MeshValue y, program.Cut(1, Numbers(0)));
  std::vector<MeshValue> arguments = {std::move(x), std::move(y)};
  ASSERT_OK_AND_ASSIGN(std::vector<MeshValue> results, program.Run(std::move(arguments), RunOptions()));
  for (int i = 0; i < 2; ++i) {
    const char* storage = results[i].buffer().data();
    ASSERT_OK_AND_ASSIGN(const MeshValue fed, program.Feed(i, std::move(results[i]), i));
    EXPECT_EQ(fed.buffer().data(), storage) << i;
  }
}

TEST(MeshProgramTest, ValuesGoFromOneProgramToAnother) {
  ASSERT_OK_AND_ASSIGN(const Program one, Make(Step("{replicated}", "{replicated}"), 4));
  ASSERT_OK_AND_ASSIGN(
      const Program other,
      Make("ENTRY e { p = f32[10] parameter(0), sharding={devices=[2,2]<=[4] last_tile_dim_replicate} "
           "ROOT n = f32[10] negate(p) }",
           4));
  ASSERT_OK_AND_ASSIGN(const MeshValue x, one.program->Cut(0, Numbers(5)));
  ASSERT_OK_AND_ASSIGN(const MeshValue taken, other.program->Take(*one.program, 0, x, 0));
  EXPECT_THAT(other.program->AssembleParameter(0, taken), IsOkAndHolds(Numbers(5)));
}

TEST(MeshProgramTest, ValuesOfAnotherShapeAreRefused) {
  ASSERT_OK_AND_ASSIGN(const Program made, Make(Step("{replicated}", "{replicated}"), 4));
  EXPECT_THAT(made.program->Cut(0, Literal::Scalar<float>(1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("f32[10]")));
  ASSERT_OK_AND_ASSIGN(const MeshValue total, MeshValue::Uniform(Literal::Scalar<float>(1), 4));
  EXPECT_THAT(made.program->Feed(2, total, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the value is f32[] on 4")));
}

TEST(MeshProgramTest, ModulesOfDifferentProgramsAreRefused) {
  ASSERT_OK_AND_ASSIGN(const Program made, Make(Step("{replicated}", "{replicated}"), 4));
  ASSERT_OK_AND_ASSIGN(const auto other, ParseModule("ENTRY e { ROOT p = f32[] parameter(0) }"));
  EXPECT_THAT(MeshProgram::Create(*made.partitioned, *other),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("was not made from this module")));
}

TEST(MeshProgramTest, TupleParametersAreRefused) {
  ASSERT_OK_AND_ASSIGN(
      const auto module,
      ParseModule("ENTRY e { p = (f32[]) parameter(0) ROOT x = f32[] get-tuple-element(p), index=0 }"));
  EXPECT_THAT(MeshProgram::Create(*module, *module),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("e/p: is no array")));
}

}  // namespace
}  // namespace toroid
