// Device groups of collectives in HLO text.
//
//   {{0,1},{2,3}}                    explicit; {} is one group of all
//   [2,2]<=[4]  [2,2]<=[2,2]T(1,0)   iota: [groups, members] cut from 0..N-1 reshaped and transposed
//   mesh['a'=2,'b'=4] {'b'}          groups along mesh axes
#pragma once

#include <string>

#include "absl/status/status.h"
#include "hlo/io/text_scanner.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

// Reads groups into the field of `instruction` for their spelling.
absl::Status ParseDeviceGroups(TextScanner* scanner, xla::HloInstructionProto* instruction);

// The text of the groups; "{}" if there are none. If several fields are set, the one that takes precedence.
std::string DeviceGroupsToString(const xla::HloInstructionProto& instruction);

}  // namespace toroid
