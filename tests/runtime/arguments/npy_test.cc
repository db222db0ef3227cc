// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:numpy"]
// Single arrays in NumPy's format: orders, types without a name, damage.
#include "runtime/arguments/npy.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/corpus_files.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string Npy(const std::string& descr, bool fortran, const std::string& shape, const std::string& data) {
  std::string header = absl::StrCat("{'descr': ", descr, ", 'fortran_order': ", fortran ? "True" : "False",
                                    ", 'shape': ", shape, ", }");
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  const std::string size = {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return absl::StrCat(std::string("\x93NUMPY\x01\x00", 8), size, header, data);
}

std::string Floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::string Read(const std::string& npy, PrimitiveType type) {
  const absl::StatusOr<NpyArray> array = ReadNpy(npy);
  if (!array.ok()) return array.status().ToString();
  const absl::StatusOr<Literal> literal = AsType(*array, type);
  if (!literal.ok()) return literal.status().ToString();
  return absl::StrCat(literal->shape().ToString(), " ", ToText(*literal));
}

TEST(NpyTest, OrdersAndTypes) {
  EXPECT_EQ(Read(Npy("'<f4'", false, "(2, 2)", Floats({1, 2, 3, 4})), xla::F32),
            "f32[2,2] { { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(Read(Npy("'<f4'", true, "(2, 2)", Floats({1, 2, 3, 4})), xla::F32),
            "f32[2,2] { { 1, 3 }, { 2, 4 } }");
  EXPECT_EQ(Read(Npy("'>i4'", false, "(1,)", std::string("\0\0\1\2", 4)), xla::S32), "s32[1] {258}");
  EXPECT_EQ(Read(Npy("'>c8'", false, "()", std::string("\x3f\x80\0\0\xbf\x80\0\0", 8)), xla::C64),
            "c64[] (1, -1)");
  EXPECT_EQ(Read(Npy("'|b1'", false, "()", "\7"), xla::PRED), "pred[] true");
  EXPECT_EQ(Read(Npy("'<f4'", false, "(0, 3)", ""), xla::F32), "f32[0,3] {}");
}

TEST(NpyTest, FilesOfNumpyAndMlDtypes) {
  EXPECT_EQ(Read(ReadCorpusFile("tests/corpus/numpy/fortran.npy"), xla::F32),
            "f32[2,3] { { 0, 1, 2 }, { 3, 4, 5 } }");
  EXPECT_EQ(Read(ReadCorpusFile("tests/corpus/numpy/bf16.npy"), xla::BF16),
            "bf16[2,2] { { 1, 1.5 }, { -2, 0.0078 } }");  // The shortest digits that stand for 2^-7.
  EXPECT_EQ(Read(ReadCorpusFile("tests/corpus/numpy/e5m2.npy"), xla::F8E5M2), "f8e5m2[3] {1, -0.5, 57344}");
}

TEST(NpyTest, TypesWithoutANameAreWhatTheProgramSays) {
  EXPECT_EQ(Read(Npy("'<V2'", false, "(1,)", "\x80\x3f"), xla::BF16), "bf16[1] {1}");
  EXPECT_EQ(Read(Npy("'|V2'", false, "(1,)", "\x80\x3f"), xla::BF16), "bf16[1] {1}");
  EXPECT_EQ(Read(Npy("'>V2'", false, "(1,)", "\x3f\x80"), xla::BF16), "bf16[1] {1}");
  EXPECT_EQ(Read(Npy("'<f1'", false, "(1,)", "\x38"), xla::F8E4M3FN), "f8e4m3fn[1] {1}");
  // Only the low bits count.
  EXPECT_EQ(Read(Npy("'<V1'", false, "(3,)", "\x0f\xff\x17"), xla::S4), "s4[3] {-1, -1, 7}");
  EXPECT_EQ(Read(Npy("'<V1'", false, "(3,)", "\x0f\xff\x17"), xla::U4), "u4[3] {15, 15, 7}");
  EXPECT_EQ(Read(Npy("'<V1'", false, "(2,)", "\x02\xf2"), xla::F4E2M1FN), "f4e2m1fn[2] {1, 1}");
}

TEST(NpyTest, TypesMustAgree) {
  EXPECT_THAT(Read(Npy("'<V2'", false, "(1,)", "ab"), xla::F8E5M2),
              HasSubstr("holds elements of type '<V2', of 2 bytes, which cannot be f8e5m2"));
  EXPECT_THAT(Read(Npy("'<V1'", false, "(1,)", "a"), xla::BF16),
              HasSubstr("of 1 bytes, which cannot be bf16"));
  // A type that NumPy names is not reinterpreted.
  EXPECT_THAT(Read(Npy("'<V2'", false, "(1,)", "ab"), xla::F16), HasSubstr("which cannot be f16"));
  EXPECT_THAT(Read(Npy("'<V1'", false, "(1,)", "a"), xla::S8), HasSubstr("which cannot be s8"));
  EXPECT_THAT(Read(Npy("'<u2'", false, "(1,)", "ab"), xla::BF16),
              HasSubstr("holds u16 elements, bf16 are needed"));
}

TEST(NpyTest, EveryTypeComesBackFromItsFile) {
  const std::string values[] = {"pred[3] {1, 0, 1}",
                                "s1[2] {0, -1}",
                                "s2[3] {-2, 1, -1}",
                                "s4[2] {-8, 7}",
                                "s8[2] {-128, 127}",
                                "s16[1] {-32768}",
                                "s32[] -5",
                                "s64[2,0] { {}, {} }",
                                "u1[2] {0, 1}",
                                "u2[2] {3, 1}",
                                "u4[2] {15, 1}",
                                "u8[] 255",
                                "u16[1,1] { {65535} }",
                                "u32[1] {4294967295}",
                                "u64[1] {18446744073709551615}",
                                "f16[2] {-0, inf}",
                                "bf16[2] {1.5, -inf}",
                                "f32[2] {1e-45, 3}",
                                "f64[1] {0.1}",
                                "c64[1] {(1, -2)}",
                                "c128[] (0.5, 3)",
                                "f8e5m2[2] {57344, -1}",
                                "f8e4m3[1] {240}",
                                "f8e3m4[1] {15.5}",
                                "f8e4m3fn[1] {-448}",
                                "f8e5m2fnuz[1] {1}",
                                "f8e4m3fnuz[1] {240}",
                                "f8e4m3b11fnuz[1] {30}",
                                "f8e8m0fnu[2] {1, 2}",
                                "f6e3m2fn[2] {28, -28}",
                                "f6e2m3fn[2] {7.5, -1}",
                                "f4e2m1fn[3] {6, -6, 0.5}"};
  for (const std::string& text : values) {
    SCOPED_TRACE(text);
    const Literal literal = ParseLiteral(text);
    const std::string npy = WriteNpy(literal);
    ASSERT_OK_AND_ASSIGN(const NpyArray array, ReadNpy(npy));
    EXPECT_THAT(AsType(array, literal.shape().element_type()), IsOkAndHolds(literal));
    EXPECT_EQ((npy.size() - static_cast<size_t>(literal.shape().ByteSize())) % 64, 0u);
  }
  EXPECT_EQ(WriteNpy(ParseLiteral("s4[1] {-1}")).back(), '\x0f');  // As ml_dtypes stores it.
}

TEST(NpyTest, ScalarsAndEmptyArraysComeBack) {
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{0, 3}, Dims{2, 0, 5}}) {
    const Literal literal(Shape(xla::F32, dims));
    ASSERT_OK_AND_ASSIGN(const NpyArray array, ReadNpy(WriteNpy(literal)));
    EXPECT_EQ(array.values.shape().dims(), literal.shape().dims());
  }
}

TEST(NpyTest, TheSameBytesAsNumpy) {
  EXPECT_EQ(WriteNpy(ParseLiteral("bf16[2,2] { { 1, 1.5 }, { -2, 0.0078125 } }")),
            ReadCorpusFile("tests/corpus/numpy/bf16.npy"));
}

TEST(NpyTest, DamagedArraysAreRefused) {
  EXPECT_THAT(ReadNpy("nothing"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadNpy(Npy("'<f4'", false, "(2, 2)", Floats({1}))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("16 expected")));
  EXPECT_THAT(ReadNpy(Npy("'<f4'", false, "(4611686018427387904, 9)", "")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadNpy(Npy("'<f4'", false, "(4611686018427387903,)", "")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadNpy(Npy("'|V3'", false, "(1,)", "abc")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are not read")));
  EXPECT_THAT(ReadNpy(Npy("'|O'", false, "(1,)", "abc")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are not read")));
  EXPECT_THAT(ReadNpy(Npy("[('a', '<f4')]", false, "(1,)", "abcd")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("records")));
  const std::string whole = Npy("'<f4'", false, "(1,)", Floats({1}));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(ReadNpy(whole.substr(0, n)).ok()) << n;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char c : {'\0', '\'', '\xff', '(', '9'}) {
      std::string damaged = whole;
      damaged[at] = c;
      ReadNpy(damaged).status().IgnoreError();  // No crash.
    }
  }
}

}  // namespace
}  // namespace toroid
