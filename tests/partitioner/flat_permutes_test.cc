// Permutes over many devices take no more memory than over few, and do the same as lists of pairs.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "hlo/devices/permute_pattern.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Over side x side devices: halos of a convolution, a slice and a pad whose tiles and windows advance
// differently, a reversal of uneven tiles, a roll, and a transposed order of tiles.
std::unique_ptr<Module> MovingProgram(int64_t side) {
  return ProgramFor(absl::StrReplaceAll(R"(ENTRY main {
  x = f32[2,300000,2] parameter(0), sharding={devices=[1,$n,1]<=[$n]}
  w = f32[3,2,2] parameter(1), sharding={replicated}
  image = f32[2,300000,2] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, sharding={devices=[1,$n,1]<=[$n]}
  half = f32[2,150000,2] slice(image), slice={[0:2],[0:150000],[0:2]}, sharding={devices=[1,$n,1]<=[$n]}
  zero = f32[] constant(0)
  wide = f32[2,290000,2] pad(half, zero), padding=0_0x70000_70000x0_0, sharding={devices=[1,$n,1]<=[$n]}
  mirror = f32[2,290000,2] reverse(wide), dimensions={1}, sharding={devices=[1,$n,1]<=[$n]}
  end = f32[2,1,2] slice(mirror), slice={[0:2],[289999:290000],[0:2]}
  begin = f32[2,289999,2] slice(mirror), slice={[0:2],[0:289999],[0:2]}
  roll = f32[2,290000,2] concatenate(end, begin), dimensions={1}, sharding={devices=[1,$n,1]<=[$n]}
  m = f32[512,512] parameter(2), sharding={devices=[$s,$s]<=[$n]}
  turned = f32[512,512] copy(m), sharding={devices=[$s,$s]<=[$s,$s]T(1,0)}
  ROOT t = (f32[2,290000,2], f32[512,512]) tuple(roll, turned), sharding={{devices=[1,$n,1]<=[$n]}, {devices=[$s,$s]<=[$s,$s]T(1,0)}}
})",
                                        {{"$s", absl::StrCat(side)}}),
                    side * side);
}

TEST(FlatPermutesTest, PermutesAreAsShortFor65536DevicesAsFor16) {
  for (const int64_t side : {4, 256}) {
    SCOPED_TRACE(side);
    const std::unique_ptr<Module> program = MovingProgram(side);
    PartitionOptions options;
    options.strategies = NoSearch();  // A search may find programs with fewer permutes.
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*program, options));
    int permutes = 0;
    for (const auto& op : partitioned.module->entry()->instructions()) {
      if (op->opcode() != Opcode::kCollectivePermute) continue;
      ++permutes;
      EXPECT_EQ(op->attrs().source_target_pairs_size(), 0);
      EXPECT_GT(NumPairs(op->attrs()), 0);
      EXPECT_LE(op->attrs().permute_pattern().lines_size(), 64);
    }
    EXPECT_GE(permutes, 5);
  }
}

// Rows cut over axes that are not adjacent in the mesh, such as axes 0 and 2 of 2 x 2 x 2: consecutive places
// are not consecutive devices.
TEST(FlatPermutesTest, PlacesMayLieApart) {
  for (const auto& [cut, devices] :
       {std::pair{"[4,1,2]<=[2,2,2]T(0,2,1)", 8}, std::pair{"[4,1,3]<=[2,3,2]T(0,2,1)", 12},
        std::pair{"[6,1,2]<=[2,3,2]T(2,1,0)", 12}, std::pair{"[4,1,2]<=[2,2,2]T(2,0,1)", 8}}) {
    SCOPED_TRACE(cut);
    ExpectEquivalent(absl::StrReplaceAll(R"(ENTRY main {
  x = f32[13,5] parameter(0), sharding={devices=$c last_tile_dim_replicate}
  mirror = f32[13,5] reverse(x), dimensions={0}, sharding={devices=$c last_tile_dim_replicate}
  most = f32[9,5] slice(mirror), slice={[2:11],[0:5]}, sharding={devices=$c last_tile_dim_replicate}
  zero = f32[] constant(0)
  wide = f32[17,5] pad(most, zero), padding=5_3x0_0, sharding={devices=$c last_tile_dim_replicate}
  odd = f32[8,5] slice(wide), slice={[1:17:2],[0:5]}, sharding={devices=$c last_tile_dim_replicate}
  end = f32[1,5] slice(odd), slice={[7:8],[0:5]}
  begin = f32[7,5] slice(odd), slice={[0:7],[0:5]}
  ROOT roll = f32[8,5] concatenate(end, begin), dimensions={0}, sharding={devices=$c last_tile_dim_replicate}
})",
                                         {{"$c", cut}}),
                     {}, {devices});
  }
}

// Reshards between any two cuts of equal tile counts: over whole axes, over parts of axes, and over axes that
// only one of the two cuts uses.
TEST(FlatPermutesTest, TilesMoveBetweenAnyTwoCutsOfAsMany) {
  const char* const cuts[] = {"[4,2]<=[8]",
                              "[4,2]<=[2,4]T(1,0)",
                              "[4,2]<=[4,2]T(1,0)",
                              "[4,2]<=[2,2,2]T(2,0,1)",
                              "[4,2]<=[2,2,2]T(1,2,0)",
                              "[4,2]<=[2,2,2]T(0,2,1)"};
  const char* const shared[] = {"[2,2,2]<=[8]", "[2,2,2]<=[2,2,2]T(1,2,0)", "[2,2,2]<=[2,2,2]T(2,0,1)",
                                "[2,2,2]<=[2,2,2]T(0,2,1)"};
  const auto check = [](const std::string& from, const std::string& to) {
    SCOPED_TRACE(absl::StrCat(from, " to ", to));
    ExpectEquivalent(absl::StrCat("ENTRY main {\n  x = f32[9,5] parameter(0), sharding={devices=", from,
                                  "}\n  ROOT y = f32[9,5] copy(x), sharding={devices=", to, "}\n}\n"),
                     {}, {8});
  };
  for (const char* from : cuts) {
    for (const char* to : cuts) check(from, to);
  }
  const std::string rest = " last_tile_dim_replicate";
  for (const char* from : shared) {
    for (const char* to : shared) check(from + rest, to + rest);
  }
}

}  // namespace
}  // namespace toroid
