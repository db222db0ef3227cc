// Properties of the wire format that the reader and writer of .hlo.pb files rely on, byte by byte.
//
// A field starts with the varint (number << 3 | wire type); wire types: 0 varint, 2 length-delimited.

#include <cstdint>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/unknown_field_set.h"
#include "gtest/gtest.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/xla_data.pb.h"

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Varint(uint64_t value) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream(&stream).WriteVarint64(value);
  return bytes;
}

std::string VarintField(int number, uint64_t value) {
  return Varint(static_cast<uint64_t>(number) << 3) + Varint(value);
}

std::string BytesField(int number, std::string_view value) {
  return Varint(static_cast<uint64_t>(number) << 3 | 2) + Varint(value.size()) + std::string(value);
}

TEST(WireCompatibility, UnknownFieldsSurvive) {
  const std::string unknown = VarintField(78, 7) + BytesField(1000, "newer");
  const std::string bytes = BytesField(1, "add.1") + BytesField(2, "add") + unknown;
  xla::HloInstructionProto instruction;
  ASSERT_TRUE(instruction.ParseFromString(bytes));
  EXPECT_EQ(instruction.opcode(), "add");
  EXPECT_EQ(instruction.GetReflection()->GetUnknownFields(instruction).field_count(), 2);
  EXPECT_EQ(instruction.SerializeAsString(), bytes);
}

TEST(WireCompatibility, UnknownFieldsSurviveInsideAModule) {
  const std::string bytes =
      BytesField(3, BytesField(2, BytesField(2, "dot") + BytesField(86, VarintField(1, 1))));
  xla::HloModuleProto module;
  ASSERT_TRUE(module.ParseFromString(bytes));
  EXPECT_EQ(module.computations(0).instructions(0).opcode(), "dot");
  EXPECT_EQ(module.SerializeAsString(), bytes);
}

TEST(WireCompatibility, RepeatedNumbersAreReadPackedAndNot) {
  const std::string packed = BytesField(36, Varint(3) + Varint(300));
  const std::string unpacked = VarintField(36, 3) + VarintField(36, 300);
  xla::HloInstructionProto instruction;
  ASSERT_TRUE(instruction.ParseFromString(unpacked));
  EXPECT_THAT(instruction.operand_ids(), ElementsAre(3, 300));
  EXPECT_EQ(instruction.SerializeAsString(), packed);

  ASSERT_TRUE(instruction.ParseFromString(packed + VarintField(36, 5) + packed));
  EXPECT_THAT(instruction.operand_ids(), ElementsAre(3, 300, 5, 3, 300));
}

TEST(WireCompatibility, RepeatedEnumsAreReadPackedAndNot) {
  const std::string packed = BytesField(8, Varint(0) + Varint(4));
  const std::string unpacked = VarintField(8, 0) + VarintField(8, 4);
  for (const std::string& bytes : {packed, unpacked}) {
    xla::OpSharding sharding;
    ASSERT_TRUE(sharding.ParseFromString(bytes));
    EXPECT_THAT(sharding.last_tile_dims(), ElementsAre(xla::OpSharding::REPLICATED, xla::OpSharding::MANUAL));
    EXPECT_EQ(sharding.SerializeAsString(), packed);
  }
}

TEST(WireCompatibility, NegativeNumbersTakeTenBytes) {
  xla::TileProto tile;
  tile.add_dimensions(INT64_MIN);
  EXPECT_EQ(tile.SerializeAsString(), BytesField(1, Varint(uint64_t{1} << 63)));
  EXPECT_EQ(tile.ByteSizeLong(), 12u);
}

TEST(WireCompatibility, EnumsAreOpen) {
  const std::string bytes = VarintField(2, 99);
  xla::ShapeProto shape;
  ASSERT_TRUE(shape.ParseFromString(bytes));
  EXPECT_FALSE(xla::PrimitiveType_IsValid(shape.element_type()));
  EXPECT_EQ(shape.SerializeAsString(), bytes);
}

TEST(WireCompatibility, PresenceOfMessagesAndOptionalFieldsIsKept) {
  xla::HloInstructionProto instruction;
  ASSERT_TRUE(instruction.ParseFromString(BytesField(40, "")));
  // An empty sharding means replicated; an absent one means undecided.
  EXPECT_TRUE(instruction.has_sharding());
  EXPECT_EQ(instruction.SerializeAsString(), BytesField(40, ""));

  xla::HloModuleProto module;
  EXPECT_FALSE(module.has_pjrt_id());
  module.set_pjrt_id(0);
  EXPECT_EQ(module.SerializeAsString(), VarintField(23, 0));
}

TEST(WireCompatibility, TheLastMemberOfAOneofWins) {
  xla::HloInstructionProto instruction;
  ASSERT_TRUE(instruction.ParseFromString(BytesField(87, "") + BytesField(92, VarintField(1, 2))));
  EXPECT_FALSE(instruction.has_collective_device_list());
  EXPECT_EQ(instruction.iota_collective_device_list().num_replica_groups(), 2);
}

// Around 2025 these two fields of OriginalValueProto were a ShapeProto and a repeated message.
TEST(WireCompatibility, OlderOriginalValueIsReadWithoutError) {
  const std::string shape = BytesField(1, VarintField(2, 11) + BytesField(3, Varint(4)));
  const std::string leaf = BytesField(2, BytesField(2, "add.1"));
  xla::HloInstructionProto instruction;
  ASSERT_TRUE(instruction.ParseFromString(BytesField(88, shape + leaf)));
  EXPECT_FALSE(instruction.original_value().is_synthetic_call());
  ASSERT_EQ(instruction.original_value().elements_size(), 1);
  EXPECT_THAT(instruction.original_value().elements(0).shape_index(), IsEmpty());
}

TEST(WireCompatibility, ABareModuleIsNotAnHloProto) {
  xla::HloModuleProto module;
  module.set_name("jit_step");
  module.add_computations();
  xla::HloProto wrapped;
  *wrapped.mutable_hlo_module() = module;
  xla::HloModuleProto read;
  EXPECT_TRUE(!read.ParseFromString(wrapped.SerializeAsString()) || read.computations().empty());
}

}  // namespace
