// BUILD: size = "small"
#include "hlo/ir/shape.h"

#include <string>

#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/shape_text.h"
#include "hlo/ir/literal.h"
#include "hlo/ops/verify_module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

Shape Parsed(const std::string& text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  TOROID_CHECK(shape.ok(), shape.status().ToString());
  return *std::move(shape);
}

TEST(ShapeTest, ABufferAnswersAsItsArrayDoes) {
  const Shape buffer = Parsed("b(bf16[2,3]{0,1})");
  EXPECT_TRUE(buffer.IsBuffer());
  EXPECT_TRUE(buffer.IsArray());
  EXPECT_EQ(buffer.element_type(), xla::BF16);
  EXPECT_EQ(buffer.rank(), 2);
  EXPECT_EQ(buffer.NumElements(), 6);
  EXPECT_EQ(buffer.ByteSize(), 12);
  EXPECT_EQ(buffer.NumLeaves(), 1);
  EXPECT_FALSE(buffer.HasRowMajorLayout());
  EXPECT_TRUE(buffer.WithRowMajorLayout().IsBuffer());
  EXPECT_TRUE(buffer.Compatible(Parsed("bf16[2,3]")));
  EXPECT_FALSE(buffer == Parsed("bf16[2,3]{0,1}"));
  EXPECT_EQ(buffer.WithoutBuffers(), Parsed("bf16[2,3]{0,1}"));
}

TEST(ShapeTest, BuffersComeBackFromTextAndProtos) {
  for (const std::string text : {"b(f32[2,3]{1,0})", "b(f32[])", "b(s32[4]{0:T(8)S(5)})",
                                 "(b(f32[2]{0}), (s32[], b(f32[<=3]{0})))", "b(u8[0]{0})"}) {
    const Shape shape = Parsed(text);
    EXPECT_EQ(shape.ToString(/*with_layout=*/true), text);
    ASSERT_OK_AND_ASSIGN(const Shape again, Shape::FromProto(shape.ToProto()));
    EXPECT_EQ(again, shape);
    EXPECT_EQ(again.ToString(/*with_layout=*/true), text);
  }
  const xla::ShapeProto proto = Parsed("b(f32[2])").ToProto();
  EXPECT_EQ(proto.element_type(), xla::BUFFER);
  ASSERT_EQ(proto.tuple_shapes_size(), 1);
  EXPECT_EQ(proto.tuple_shapes(0).element_type(), xla::F32);
}

TEST(ShapeTest, ABufferKeepsUnknownFieldsOfBothMessages) {
  xla::ShapeProto proto = Parsed("b(f32[2])").ToProto();
  proto.GetReflection()->MutableUnknownFields(&proto)->AddVarint(1000, 7);
  xla::ShapeProto* array = proto.mutable_tuple_shapes(0);
  array->GetReflection()->MutableUnknownFields(array)->AddVarint(1001, 8);
  ASSERT_OK_AND_ASSIGN(const Shape shape, Shape::FromProto(proto));
  EXPECT_EQ(shape.ToProto().SerializeAsString(), proto.SerializeAsString());
}

TEST(ShapeTest, ABufferHoldsOneArrayAndNothingElse) {
  for (const char* text : {"b(b(f32[2]))", "b((f32[2], f32[2]))", "b(token[])", "b(())"}) {
    EXPECT_THAT(ParseShape(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one array")))
        << text;
  }
  xla::ShapeProto proto;
  proto.set_element_type(xla::BUFFER);
  EXPECT_THAT(Shape::FromProto(proto), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one array")));
  proto = Parsed("b(f32[2])").ToProto();
  proto.add_dimensions(2);
  EXPECT_FALSE(Shape::FromProto(proto).ok());
  proto = Parsed("b(f32[2])").ToProto();
  proto.add_tuple_shapes()->set_element_type(xla::F32);
  EXPECT_FALSE(Shape::FromProto(proto).ok());
}

TEST(ShapeTest, LiteralsOfBuffersAreThoseOfTheirArrays) {
  EXPECT_EQ(Literal(Parsed("b(f32[2])")).shape(), Parsed("f32[2]"));
  EXPECT_EQ(Literal(Parsed("(b(f32[2]), s32[])")).shape(), Parsed("(f32[2], s32[])"));
}

TEST(ShapeTest, ModulesKeepBuffersInEveryFormat) {
  const std::string text =
      R"(HloModule m, entry_computation_layout={(b(f32[2]{0}))->(b(f32[2]{0}), f32[2]{0})}

ENTRY e {
  p = b(f32[2]{0}) parameter(0)
  u = f32[2]{0} custom-call(p), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
  ROOT t = (b(f32[2]{0}), f32[2]{0}) tuple(p, u)
}
)";
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHlo(text));
  EXPECT_OK(VerifyModule(*file.module));
  EXPECT_EQ(PrintModule(*file.module), text);
  for (const Format format : {Format::kContainer, Format::kProtoText, Format::kJson}) {
    ASSERT_OK_AND_ASSIGN(const std::string bytes, SerializeHlo(file, format));
    ASSERT_OK_AND_ASSIGN(const HloFile again, ReadHlo(bytes));
    EXPECT_EQ(PrintModule(*again.module), text);
  }
}

TEST(ShapeTest, AnArrayIsNoBufferToTheVerifier) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(ENTRY e {
  p = b(f32[2]) parameter(0)
  ROOT t = (f32[2]) tuple(p)
})"));
  EXPECT_THAT(VerifyModule(*module), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("b(f32[2])")));
}

}  // namespace
}  // namespace toroid
