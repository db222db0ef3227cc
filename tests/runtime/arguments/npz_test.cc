// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:numpy"]
// NumPy archives: read and written, with false sizes, damaged.
#include "runtime/arguments/npz.h"

#include <zlib.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/ir/types.h"
#include "tests/corpus_files.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string Little(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  return bytes;
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

// An archive whose members state `lie` bytes more than they have.
std::string Zip(const std::vector<std::pair<std::string, std::string>>& members, bool deflated,
                uint64_t lie = 0) {
  std::string file, directory;
  for (const auto& [name, data] : members) {
    const std::string packed = deflated ? Deflate(data) : data;
    const uint64_t sum =
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    const std::string common = absl::StrCat(
        Little(20, 2), Little(0, 2), Little(deflated ? 8 : 0, 2), Little(0, 4), Little(sum, 4),
        Little(packed.size(), 4), Little(data.size() + lie, 4), Little(name.size(), 2), Little(0, 2));
    absl::StrAppend(&directory, "PK\1\2", Little(20, 2), common, Little(0, 10), Little(file.size(), 4), name);
    absl::StrAppend(&file, "PK\3\4", common, name, packed);
  }
  const size_t at = file.size();
  return absl::StrCat(file, directory, "PK\5\6", Little(0, 4), Little(members.size(), 2),
                      Little(members.size(), 2), Little(directory.size(), 4), Little(at, 4), Little(0, 2));
}

TEST(NpzTest, ReadsStoredAndDeflatedMembersInOrder) {
  const std::string a = WriteNpy(ParseLiteral("f32[2] {1, 2}")), b = WriteNpy(ParseLiteral("s64[] 7"));
  for (const bool deflated : {false, true}) {
    ASSERT_OK_AND_ASSIGN(const auto members, ReadNpz(Zip({{"x.npy", a}, {"arr_1.npy", b}}, deflated)));
    ASSERT_EQ(members.size(), 2u);
    EXPECT_EQ(members[0].name, "x");
    EXPECT_EQ(ToText(members[0].array.values), "{1, 2}");
    EXPECT_EQ(members[1].name, "arr_1");
    EXPECT_EQ(ToText(members[1].array.values), "7");
  }
}

// The output of numpy.savez for arrays of ml_dtypes; each member is named after its type.
TEST(NpzTest, EveryTypeOfNumpyAndMlDtypesIsRead) {
  ASSERT_OK_AND_ASSIGN(const auto members, ReadNpz(ReadCorpusFile("tests/corpus/numpy/types.npz")));
  EXPECT_EQ(members.size(), 32u);
  for (const NpzMember& member : members) {
    SCOPED_TRACE(member.name);
    const std::optional<PrimitiveType> type = TypeFromName(member.name);
    ASSERT_TRUE(type.has_value());
    ASSERT_OK_AND_ASSIGN(const Literal literal, AsType(member.array, *type));
    const std::string text = ToText(literal);
    if (IsComplex(*type)) {
      EXPECT_EQ(text, "{(0, 0), (1, 0), (2, 0), (0.5, 0), (-1, 0), (1.5, 0)}");
    } else if (*type == xla::F8E8M0FNU) {
      EXPECT_EQ(text, "{1, 2, 0.5}");
    } else if (IsFloat(*type)) {
      EXPECT_EQ(text, "{0, 1, 2, 0.5, -1, 1.5}");
    } else if (*type == xla::PRED || *type == xla::U1) {
      EXPECT_EQ(text, "{0, 1}");
    } else if (*type == xla::S1) {
      EXPECT_EQ(text, "{0, -1}");  // The one bit is the sign.
    } else if (*type == xla::S2) {
      EXPECT_EQ(text, "{0, 1, -1}");
    } else {
      EXPECT_EQ(text, IsSignedInt(*type) ? "{0, 1, 2, -1}" : "{0, 1, 2}");
    }
  }
}

TEST(NpzTest, ReadsWhatSavezCompressedWrites) {
  ASSERT_OK_AND_ASSIGN(const auto members, ReadNpz(ReadCorpusFile("tests/corpus/numpy/compressed.npz")));
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].array.values.shape().ToString(), "f32[64,64]");
  EXPECT_EQ(members[0].array.values.data<float>()[4095], 0.0f);  // 4095 % 7
  EXPECT_EQ(members[0].array.values.data<float>()[4094], 6.0f);
  EXPECT_EQ(ToText(members[1].array.values), "-5");
}

TEST(NpzTest, WrittenArchivesReadBackAndDependOnTheArraysAlone) {
  const std::vector<Literal> arrays = {ParseLiteral("f32[2] {1, 2}"), ParseLiteral("bf16[] 3"),
                                       ParseLiteral("s32[0] {}")};
  ASSERT_OK_AND_ASSIGN(const std::string bytes, WriteNpz(arrays));
  EXPECT_TRUE(LooksLikeNpz(bytes));
  EXPECT_THAT(WriteNpz(arrays), IsOkAndHolds(bytes));
  ASSERT_OK_AND_ASSIGN(const auto members, ReadNpz(bytes));
  ASSERT_EQ(members.size(), 3u);
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members[i].name, absl::StrCat("arr_", i));
    EXPECT_THAT(AsType(members[i].array, arrays[i].shape().element_type()), IsOkAndHolds(arrays[i]));
  }
  ASSERT_OK_AND_ASSIGN(const std::string none, WriteNpz({}));
  ASSERT_OK_AND_ASSIGN(const auto no_members, ReadNpz(none));
  EXPECT_TRUE(no_members.empty());
}

TEST(NpzTest, CutArchivesAreRefused) {
  const std::string whole = Zip({{"x.npy", WriteNpy(ParseLiteral("f32[2] {1, 2}"))}}, true);
  EXPECT_TRUE(LooksLikeNpz(whole));
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(ReadNpz(whole.substr(0, n)).ok()) << n;
    EXPECT_FALSE(ReadNpz(whole.substr(n + 1)).ok()) << n;
  }
}

TEST(NpzTest, DamageNeverPassesForData) {
  const std::string data = WriteNpy(ParseLiteral("f32[4] {1, 2, 3, 4}")),
                    whole = Zip({{"x.npy", data}}, true);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char flip : {'\1', '\x40', '\xff'}) {
      std::string damaged = whole;
      damaged[at] ^= flip;
      const auto members = ReadNpz(damaged);
      // Names, times and versions may change; values may not.
      if (members.ok() && members->size() == 1) {
        EXPECT_EQ(ToText((*members)[0].array.values), "{1, 2, 3, 4}") << at;
      }
    }
  }
}

// A header's claim allocates no memory.
TEST(NpzTest, LiesAboutSizesAreErrors) {
  const std::string data = WriteNpy(ParseLiteral("f32[2] {1, 2}"));
  for (const bool deflated : {false, true}) {
    EXPECT_THAT(
        ReadNpz(Zip({{"x.npy", data}}, deflated, 0x70000000)),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.npy: the member's size cannot be right")));
    EXPECT_THAT(ReadNpz(Zip({{"x.npy", data}}, deflated, 100)), StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(ReadNpz(Zip({{"x.npy", data}}, deflated, static_cast<uint64_t>(-8))),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(ReadNpz(Zip({{"x.txt", "no array"}}, false)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.txt: is no .npy array")));
}

TEST(NpzTest, HeadersAreReadWithoutTheValues) {
  const std::string data = WriteNpy(ParseLiteral("f32[2] {1, 2}")), file = Zip({{"x.npy", data}}, true);
  ASSERT_OK_AND_ASSIGN(NpzReader reader, NpzReader::Open(file, 8));
  EXPECT_EQ(reader.names(), std::vector<std::string>{"x"});
  ASSERT_OK_AND_ASSIGN(const NpyHeader header, reader.Header(0));
  EXPECT_EQ(header.shape.ToString(), "f32[2]");
  EXPECT_EQ(header.data_at, static_cast<int64_t>(data.size()) - 8);
  ASSERT_OK_AND_ASSIGN(const NpyArray array, reader.Read(0));
  EXPECT_EQ(ToText(array.values), "{1, 2}");
}

// A member's header states its size: data beyond that is not unpacked.
TEST(NpzTest, MembersHoldWhatTheirHeadersSayAndTheLimitAllows) {
  const std::string data = WriteNpy(ParseLiteral("f32[2] {1, 2}"));
  EXPECT_THAT(ReadNpz(Zip({{"x.npy", data + std::string(200000, '\0')}}, true)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("x.npy: holds 200008 bytes of f32[2], 8 expected")));
  const std::string large = WriteNpy(Literal(Shape(xla::F32, {100000})));
  EXPECT_OK(ReadNpz(Zip({{"x.npy", large}}, true), 400000));
  EXPECT_THAT(ReadNpz(Zip({{"x.npy", large}}, true), 399999),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("x.npy: the members hold more than")));
  EXPECT_THAT(ReadNpz(Zip({{"x.npy", data}, {"y.npy", large}}, true), 400000),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("y.npy: the members hold more than")));
}

}  // namespace
}  // namespace toroid
