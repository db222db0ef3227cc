// BUILD: size = "small"
#include "hlo/io/sharding_text.h"

#include <string>

#include "google/protobuf/text_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

xla::OpSharding FromProtoText(const std::string& text) {
  xla::OpSharding sharding;
  TOROID_CHECK(google::protobuf::TextFormat::ParseFromString(text, &sharding), text);
  return sharding;
}

struct Spelling {
  const char* text;
  const char* proto;
};

const Spelling kSpellings[] = {
    {"{replicated}", ""},
    {"{manual}", "type: MANUAL"},
    {"{unreduced}", "type: UNREDUCED"},
    {"{unknown}", "type: UNKNOWN"},
    {"{unknown shard_as 5}", "type: UNKNOWN is_shard_group: true shard_group_id: 5"},
    {"{maximal device=3}", "type: MAXIMAL tile_assignment_dimensions: 1 tile_assignment_devices: 3"},
    {"{devices=[2,1,2]0,1,3,2}",
     "type: OTHER tile_assignment_dimensions: [2, 1, 2] tile_assignment_devices: [0, 1, 3, 2]"},
    {"{devices=[4,2]<=[8]}",
     "type: OTHER tile_assignment_dimensions: [4, 2] iota_reshape_dims: 8 iota_transpose_perm: 0"},
    {"{devices=[2,4]<=[4,2]T(1,0)}",
     "type: OTHER tile_assignment_dimensions: [2, 4] iota_reshape_dims: [4, 2] iota_transpose_perm: [1, 0]"},
    {"{devices=[2,4]<=[8] last_tile_dim_replicate}",
     "type: OTHER tile_assignment_dimensions: [2, 4] iota_reshape_dims: 8 iota_transpose_perm: 0 "
     "replicate_on_last_tile_dim: true"},
    {"{devices=[1,2,4]<=[8] last_tile_dims={manual, replicated}}",
     "type: OTHER tile_assignment_dimensions: [1, 2, 4] iota_reshape_dims: 8 iota_transpose_perm: 0 "
     "last_tile_dims: [MANUAL, REPLICATED]"},
    {"{devices=[2]<=[2] shard_like 7}",
     "type: OTHER tile_assignment_dimensions: 2 iota_reshape_dims: 2 iota_transpose_perm: 0 is_shard_group: "
     "true "
     "shard_group_id: 7 shard_group_type: LIKE"},
    {"{replicated metadata={op_name=\"x\"}}", "metadata { op_name: 'x' }"},
    {"{replicated metadata={{op_name=\"x\"}, {op_name=\"y\"}}}",
     "metadata { op_name: 'x' } metadata { op_name: 'y' }"},
    {"{{replicated}, {devices=[2]<=[2]}}",
     "type: TUPLE tuple_shardings {} tuple_shardings { type: OTHER tile_assignment_dimensions: 2 "
     "iota_reshape_dims: 2 "
     "iota_transpose_perm: 0 }"},
    {"{}", "type: TUPLE"},
    {"{mesh['x'=2,'y'=4], [{'x'}, {}, {'y'}]}",
     "named_sharding { mesh { axes { name: 'x' size: 2 } axes { name: 'y' size: 4 } } "
     "dim_shardings { axes {} is_closed: true } dim_shardings { is_closed: true } "
     "dim_shardings { axes { mesh_axis_index: 1 } is_closed: true } }"},
    {"{mesh['x'=2,'y'=4], [{'x', ?}, {?}], replicated={'y':(1)2}, unreduced={'y':(2)2}}",
     "named_sharding { mesh { axes { name: 'x' size: 2 } axes { name: 'y' size: 4 } } "
     "dim_shardings { axes {} } dim_shardings {} "
     "replicated_axes { mesh_axis_index: 1 sub_axis_info { pre_size: 1 size: 2 } } "
     "unreduced_axes { mesh_axis_index: 1 sub_axis_info { pre_size: 2 size: 2 } } }"},
    {"{mesh['x'=2], device_ids=(1,0), [{'x'}]}",
     "named_sharding { mesh { axes { name: 'x' size: 2 } device_ids: [1, 0] } "
     "dim_shardings { axes {} is_closed: true } }"},
    {"{mesh['x'=4,'y'=2], device_ids=([2,4]T(1,0)), [{'x', 'y'}], manual={'y'}}",
     "named_sharding { mesh { axes { name: 'x' size: 4 } axes { name: 'y' size: 2 } "
     "iota_transform { reshape_dims: [2, 4] transpose_perm: [1, 0] } } "
     "dim_shardings { axes {} axes { mesh_axis_index: 1 } is_closed: true } manual_axes { mesh_axis_index: 1 "
     "} }"},
    {"{mesh['x'=2], []}", "named_sharding { mesh { axes { name: 'x' size: 2 } } }"},
    {"{mesh['x'=2], manual}", "named_sharding { mesh { axes { name: 'x' size: 2 } } manual_axes {} }"},
    {"{mesh['x'=2], unreduced}", "named_sharding { mesh { axes { name: 'x' size: 2 } } unreduced_axes {} }"},
    {"{maximal_mesh[device_id=3]}", "named_sharding { mesh { device_ids: 3 } }"},
};

TEST(ShardingTextTest, EverySpellingReadsAsItsMessageAndPrintsBack) {
  for (const Spelling& spelling : kSpellings) {
    SCOPED_TRACE(spelling.text);
    ASSERT_OK_AND_ASSIGN(const xla::OpSharding sharding, ParseSharding(spelling.text));
    EXPECT_EQ(sharding.DebugString(), FromProtoText(spelling.proto).DebugString());
    EXPECT_EQ(ShardingToString(sharding), spelling.text);
  }
}

TEST(ShardingTextTest, OtherSpellingsOfTheSameRead) {
  const std::pair<const char*, const char*> kSame[] = {
      {" { devices = [ 4 , 2 ] <= [ 8 ] } ", "{devices=[4,2]<=[8]}"},
      {"{devices=[4,2]<=[4,2]T(0,1)}", "{devices=[4,2]<=[4,2]T(0,1)}"},
      {"{mesh[\"x\"=2], [{\"x\"}]}", "{mesh['x'=2], [{'x'}]}"},
      {"{mesh['x'=2], replicated}", "{mesh['x'=2], []}"},
      {"{mesh['x'=2], [{'x'}], metadata={{op_name=\"a\"}}}",
       "{mesh['x'=2], [{'x'}], metadata={op_name=\"a\"}}"},
      {"{{manual}, {manual}, {manual}, {manual}, {manual}, /*index=5*/{manual}}",
       "{{manual}, {manual}, {manual}, {manual}, {manual}, /*index=5*/{manual}}"},
  };
  for (const auto& [text, printed] : kSame) {
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const xla::OpSharding sharding, ParseSharding(text));
    EXPECT_EQ(ShardingToString(sharding), printed);
  }
}

TEST(ShardingTextTest, ErrorsNameThePlace) {
  const std::pair<const char*, const char*> kErrors[] = {
      {"", "1:1: expected '{', found the end"},
      {"{devices=[2,2]<=[8]}", "1:10: the tiles take 4 devices, 8 are listed"},
      {"{devices=[2]0,0}", "a device occurs twice"},
      {"{devices=[2]-1,0}", "negative device id"},
      {"{devices=[0]<=[0]}", "is not positive"},
      {"{devices=[2,2]<=[2,2]T(0,0)}", "no permutation"},
      {"{devices=[4294967296,4294967296]<=[1]}", "more than 1048576 devices"},
      {"{devices=[2]<=[2] last_tile_dims={manual,replicated}}", "more subgroup dimensions"},
      {"{maximal}", "names one device"},
      {"{sideways}", "1:2: unknown word sideways"},
      {"{{{replicated}}}", "1:2: tuple shardings list leaves"},
      {"{replicated} x", "1:14: expected nothing more, found 'x'"},
      {"{mesh['x'=2,'x'=2], []}", "axis 'x' occurs twice"},
      {"{mesh['x'=2], [{'y'}]}", "the mesh has no axis 'y'"},
      {"{mesh['x'=4], [{'x':(3)2}]}", "does not divide axis 'x'"},
      {"{mesh['x'=2], device_ids=(0,1,2), []}", "device_ids lists 3 devices of a mesh of 2"},
  };
  for (const auto& [text, message] : kErrors) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseSharding(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(ShardingTextTest, NestedTextEndsInAnErrorNotTheStack) {
  EXPECT_FALSE(ParseSharding(std::string(1 << 20, '{')).ok());
}

}  // namespace
}  // namespace toroid
