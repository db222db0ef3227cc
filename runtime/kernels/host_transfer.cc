#include "runtime/kernels/host_transfer.h"

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

absl::Status NoPartner(const OpCall& call) {
  return absl::UnimplementedError(
      absl::StrCat(call.instruction().opcode_name(), " has no partner in this run"));
}

}  // namespace

absl::Status ExecuteInfeed(OpCall& call) { return NoPartner(call); }
absl::Status ExecuteOutfeed(OpCall& call) { return NoPartner(call); }
absl::Status ExecuteSend(OpCall& call) { return NoPartner(call); }
absl::Status ExecuteSendDone(OpCall& call) { return NoPartner(call); }
absl::Status ExecuteRecv(OpCall& call) { return NoPartner(call); }
absl::Status ExecuteRecvDone(OpCall& call) { return NoPartner(call); }

}  // namespace toroid
