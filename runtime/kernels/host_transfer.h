// infeed, outfeed, send, recv: data exchange with a host or between programs, which a run has no partner for.
// Errors: always kUnimplemented.
#ifndef TOROID_RUNTIME_KERNELS_HOST_TRANSFER_H_
#define TOROID_RUNTIME_KERNELS_HOST_TRANSFER_H_

#include "absl/status/status.h"
#include "runtime/op_call.h"

namespace toroid {

absl::Status ExecuteInfeed(OpCall& call);
absl::Status ExecuteOutfeed(OpCall& call);
absl::Status ExecuteSend(OpCall& call);
absl::Status ExecuteSendDone(OpCall& call);
absl::Status ExecuteRecv(OpCall& call);
absl::Status ExecuteRecvDone(OpCall& call);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_HOST_TRANSFER_H_
