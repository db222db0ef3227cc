// BUILD: size = "small"
// Reading NumPy archives.
#include "runtime/npz.h"

#include <zlib.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string Little(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string Npy(const std::string& descr, bool fortran, const std::string& shape, const std::string& data) {
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False",
                                    ", 'shape': ", shape, ", }");
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return absl::StrCat(std::string("\x93NUMPY\x01\x00", 8), Little(header.size(), 2), header, data);
}

std::string Deflate(const std::string& data) {
  std::string out(compressBound(data.size()) + 100, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zip(const std::vector<std::pair<std::string, std::string>>& members, bool deflated) {
  std::string file, directory;
  for (const auto& [name, data] : members) {
    const std::string packed = deflated ? Deflate(data) : data;
    const std::string common =
        absl::StrCat(Little(20, 2), Little(0, 2), Little(deflated ? 8 : 0, 2), Little(0, 8),
                     Little(packed.size(), 4), Little(data.size(), 4), Little(name.size(), 2), Little(0, 2));
    absl::StrAppend(&directory, "PK\1\2", Little(20, 2), common, Little(0, 10), Little(file.size(), 4), name);
    absl::StrAppend(&file, "PK\3\4", common, name, packed);
  }
  const size_t at = file.size();
  return absl::StrCat(file, directory, "PK\5\6", Little(0, 4), Little(members.size(), 2),
                      Little(members.size(), 2), Little(directory.size(), 4), Little(at, 4), Little(0, 2));
}

std::string Floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

TEST(NpyTest, OrdersAndTypes) {
  ASSERT_OK_AND_ASSIGN(const Literal c, ReadNpy(Npy("<f4", false, "(2, 2)", Floats({1, 2, 3, 4}))));
  EXPECT_EQ(ToText(c), "{ { 1, 2 }, { 3, 4 } }");
  ASSERT_OK_AND_ASSIGN(const Literal f, ReadNpy(Npy("<f4", true, "(2, 2)", Floats({1, 2, 3, 4}))));
  EXPECT_EQ(ToText(f), "{ { 1, 3 }, { 2, 4 } }");
  ASSERT_OK_AND_ASSIGN(const Literal big, ReadNpy(Npy(">i4", false, "(1,)", std::string("\0\0\1\2", 4))));
  EXPECT_EQ(ToText(big), "{258}");
  ASSERT_OK_AND_ASSIGN(const Literal scalar, ReadNpy(Npy("|b1", false, "()", "\1")));
  EXPECT_EQ(scalar.shape().ToString(), "pred[]");
}

TEST(NpyTest, DamagedArraysAreRefused) {
  EXPECT_THAT(ReadNpy("nothing"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadNpy(Npy("<f4", false, "(2, 2)", Floats({1}))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("16 expected")));
  EXPECT_THAT(ReadNpy(Npy("<f4", false, "(4611686018427387904, 9)", "")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadNpy(Npy("|V2", false, "(1,)", "ab")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are not read")));
  const std::string whole = Npy("<f4", false, "(1,)", Floats({1}));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(ReadNpy(whole.substr(0, n)).ok()) << n;
}

TEST(NpzTest, StoredAndDeflatedMembers) {
  const std::string a = Npy("<f4", false, "(2,)", Floats({1, 2})), b = Npy("<i8", false, "()", Little(7, 8));
  for (const bool deflated : {false, true}) {
    ASSERT_OK_AND_ASSIGN(const auto arrays, ReadNpz(Zip({{"x.npy", a}, {"arr_1.npy", b}}, deflated)));
    ASSERT_EQ(arrays.size(), 2);
    EXPECT_EQ(arrays[0].first, "x");
    EXPECT_EQ(ToText(arrays[0].second), "{1, 2}");
    EXPECT_EQ(arrays[1].first, "arr_1");
    EXPECT_EQ(ToText(arrays[1].second), "7");
  }
}

TEST(NpzTest, WrittenArchivesAreReadBack) {
  const Literal values[] = {Value("f32[2,2] {{1, 2}, {3, nan}}"), Value("bf16[2] {1.5, -2}"), Value("s4[3] {-8, 0, 7}"),
                            Value("pred[] true"), Value("c64[1] {(1, 2)}"), Value("u64[0] {}")};
  ASSERT_OK_AND_ASSIGN(const std::string archive, WriteNpz(values));
  ASSERT_OK_AND_ASSIGN(const auto arrays, ReadNpz(archive));
  ASSERT_EQ(arrays.size(), 6);
  EXPECT_EQ(arrays[0].first, "arr_0");
  EXPECT_EQ(arrays[5].first, "arr_5");
  EXPECT_TRUE(arrays[0].second == values[0]);
  EXPECT_EQ(arrays[1].second.shape().ToString() + ToText(arrays[1].second), "f32[2]{1.5, -2}");
  EXPECT_EQ(arrays[2].second.shape().ToString() + ToText(arrays[2].second), "s8[3]{-8, 0, 7}");
  EXPECT_TRUE(arrays[3].second == values[3]);
  EXPECT_TRUE(arrays[4].second == values[4]);
  EXPECT_TRUE(arrays[5].second == values[5]);
  EXPECT_FALSE(WriteNpz({Literal::Tuple({})}).ok());
}

TEST(NpzTest, CutArchivesAreRefused) {
  const std::string whole = Zip({{"x.npy", Npy("<f4", false, "(2,)", Floats({1, 2}))}}, true);
  EXPECT_TRUE(LooksLikeNpz(whole));
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(ReadNpz(whole.substr(0, n)).ok()) << n;
    EXPECT_FALSE(ReadNpz(whole.substr(n + 1)).ok()) << n;
  }
}

}  // namespace
}  // namespace toroid
