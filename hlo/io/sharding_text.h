// Shardings in HLO text.
//
//   {replicated} {manual} {unreduced} {unknown} {maximal device=3}
//   {devices=[2,1,2]0,1,2,3}                       explicit device list
//   {devices=[2,4]<=[8] last_tile_dim_replicate}   iota; also [2,4]<=[4,2]T(1,0), last_tile_dims={manual}
//   {mesh['x'=2,'y'=4], [{'x'}, {}, {'y':(1)2, ?}], replicated={...}, unreduced={...}, manual={...}}
//   {{replicated}, {devices=[2]<=[2]}}             a tuple: one entry per leaf
//   shard_as N, shard_like N, metadata={...} inside any of them
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/io/text_scanner.h"
#include "hlo/proto/xla_data.pb.h"

namespace toroid {

// The message that a compiler writes for this spelling; shardings are not normalized.
// Errors: kInvalidArgument "LINE:COL: ..." for unknown words, and for device lists, iotas and meshes whose
// sizes contradict each other.
absl::StatusOr<xla::OpSharding> ParseSharding(TextScanner* scanner);
absl::StatusOr<xla::OpSharding> ParseSharding(absl::string_view text);

// The spelling ParseSharding reads back.
std::string ShardingToString(const xla::OpSharding& sharding);

}  // namespace toroid
